#include "text/tokenizer/pattern.h"

namespace lagoon {
namespace {

/// Laguna's first splitter, which is searched by hand: with JIT it needs a stack that grows with the run, and a lookahead
/// that can never fail behind the longest run.
constexpr std::string_view newline_runs = R"((?:\r?\n)+(?!\r?\n))";

bool find_newline_run(std::string_view subject, size_t from, Match& match) {
  const size_t newline = subject.find('\n', from);
  if (newline == std::string_view::npos) return false;
  match.begin = newline > from && subject[newline - 1] == '\r' ? newline - 1 : newline;
  size_t end = newline + 1;
  while (end < subject.size()) {
    if (subject[end] == '\n') {
      ++end;
    } else if (subject[end] == '\r' && end + 1 < subject.size() && subject[end + 1] == '\n') {
      end += 2;
    } else {
      break;
    }
  }
  match.end = end;
  return true;
}

}  // namespace

Pattern Pattern::of_string(std::string text) {
  Pattern pattern;
  pattern.string_ = std::move(text);
  return pattern;
}

Pattern Pattern::of_regex(std::string_view source, std::string_view where) {
  Pattern pattern;
  pattern.kind_ = source == newline_runs ? Kind::newline_runs : Kind::regex;
  if (pattern.kind_ == Kind::regex) pattern.regex_.emplace(source, where);
  return pattern;
}

bool Pattern::find(std::string_view subject, size_t from, RegexScratch& scratch, Match& match) const {
  if (kind_ == Kind::regex) return regex_->find(subject, from, scratch, match);
  if (kind_ == Kind::newline_runs) return find_newline_run(subject, from, match);
  const size_t begin = subject.find(string_, from);
  if (begin == std::string_view::npos) return false;
  match = {begin, begin + string_.size()};
  return true;
}

size_t Pattern::character_length(std::string_view subject, size_t at) {
  size_t length = 1;
  while (at + length < subject.size() && (static_cast<unsigned char>(subject[at + length]) & 0xc0) == 0x80) ++length;
  return length;
}

}  // namespace lagoon
