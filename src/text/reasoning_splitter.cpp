#include "text/reasoning_splitter.h"

#include <algorithm>
#include <utility>

namespace lagoon {
namespace {

constexpr std::string_view open_tag = "<think>";
constexpr std::string_view close_tag = "</think>";

}  // namespace

ReasoningSplitter::Parts ReasoningSplitter::push(std::string_view piece) {
  Parts parts;
  if (state_ == State::content) {
    parts.content = piece;
    return parts;
  }
  held_ += piece;
  if (state_ == State::front) {
    if (held_.size() < open_tag.size() && open_tag.starts_with(held_)) return parts;
    if (held_.starts_with(open_tag)) held_.erase(0, open_tag.size());
    state_ = State::reasoning;
  }
  const size_t close = held_.find(close_tag);
  if (close != std::string::npos) {
    parts.reasoning = held_.substr(0, close);
    parts.content = held_.substr(close + close_tag.size());
    held_.clear();
    state_ = State::content;
    return parts;
  }
  size_t open = std::min(held_.size(), close_tag.size() - 1);
  while (open > 0 && !close_tag.starts_with(std::string_view(held_).substr(held_.size() - open))) --open;
  parts.reasoning = held_.substr(0, held_.size() - open);
  held_.erase(0, parts.reasoning.size());
  return parts;
}

ReasoningSplitter::Parts ReasoningSplitter::finish() { return {.reasoning = std::exchange(held_, {}), .content = {}}; }

}  // namespace lagoon
