#include "text/marked_text.h"

#include <algorithm>

namespace lagoon {
namespace {

/// The run that holds `byte`, or the end.
auto run_of(std::span<const MarkedText::Run> runs, size_t byte) {
  return std::upper_bound(runs.begin(), runs.end(), byte, [](size_t at, const MarkedText::Run& run) { return at < run.end; });
}

}  // namespace

void MarkedText::append(std::string_view text, Origin origin) {
  if (text.empty()) return;
  text_.append(text);
  if (!runs_.empty() && runs_.back().origin == origin) {
    runs_.back().end = text_.size();
  } else {
    runs_.push_back({text_.size(), origin});
  }
}

void MarkedText::append(const MarkedText& other) {
  if (&other == this) return append(MarkedText(other));
  size_t begin = 0;
  for (const Run& run : other.runs_) {
    append(std::string_view(other.text_).substr(begin, run.end - begin), run.origin);
    begin = run.end;
  }
}

MarkedText MarkedText::slice(size_t begin, size_t length) const {
  const size_t end = begin + std::min(length, size() - begin);
  MarkedText out;
  for (auto run = run_of(runs_, begin); begin < end; ++run) {
    const size_t stop = std::min(run->end, end);
    out.append(std::string_view(text_).substr(begin, stop - begin), run->origin);
    begin = stop;
  }
  return out;
}

Origin MarkedText::origin_at(size_t byte) const { return run_of(runs_, byte)->origin; }

bool MarkedText::all_from_template(size_t begin, size_t end) const {
  for (auto run = run_of(runs_, begin); begin < end; ++run) {
    if (run->origin == Origin::from_data) return false;
    begin = run->end;
  }
  return true;
}

}  // namespace lagoon
