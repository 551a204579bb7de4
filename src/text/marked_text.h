// marked_text.h: text that knows, byte by byte, who wrote it: the template, or the data that the template was given.
// The interpreter (text/jinja) carries the marks through every operation; the tokenizer matches added tokens in template
// text only. So nothing that a user, a tool or a document says can become a control token.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lagoon {

enum class Origin : unsigned char { from_template, from_data };

class MarkedText {
 public:
  /// A stretch of one origin: it ends before byte `end` and begins where the run before it ends.
  struct Run {
    size_t end;
    Origin origin;
    bool operator==(const Run&) const = default;
  };

  MarkedText() = default;
  MarkedText(std::string_view text, Origin origin) { append(text, origin); }

  const std::string& text() const { return text_; }
  size_t size() const { return text_.size(); }
  bool empty() const { return text_.empty(); }

  /// Ascending, neighbours of different origin, none empty, the last ends at size(). Empty for the empty text.
  std::span<const Run> runs() const { return runs_; }

  void append(std::string_view text, Origin origin);
  void append(const MarkedText& other);

  /// Bytes [begin, begin + length), cut at the end like std::string_view::substr. @pre begin <= size()
  MarkedText slice(size_t begin, size_t length) const;

  Origin origin_at(size_t byte) const;

  /// True if every byte of [begin, end) is the template's. True for an empty range.
  bool all_from_template(size_t begin, size_t end) const;

  bool operator==(const MarkedText&) const = default;

 private:
  std::string text_;
  std::vector<Run> runs_;
};

}  // namespace lagoon
