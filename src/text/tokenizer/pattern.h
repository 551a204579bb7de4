// pattern.h: what Split and Replace look for: a fixed string or a regular expression, and the walk over all its matches.
#pragma once

#include "text/tokenizer/regex.h"

#include <optional>
#include <string>
#include <string_view>

namespace lagoon {

class Pattern {
 public:
  static Pattern of_string(std::string text);
  /// @throws Error(unsupported) as Regex does
  static Pattern of_regex(std::string_view pattern, std::string_view where);

  /// The leftmost match at `from` or behind it.
  bool find(std::string_view subject, size_t from, RegexScratch& scratch, Match& match) const;

  /// Cuts `subject` into matches and what lies between them, in order and without gaps, and calls visit(match, is_match).
  /// A match may be empty, but not where the match before it ended; there the search goes on one character later.
  /// The empty text has no matches.
  /// @pre subject is valid UTF-8
  template <typename Visit>
  void cut(std::string_view subject, RegexScratch& scratch, const Visit& visit) const {
    if (subject.empty()) return;
    size_t done = 0;    // all before it was visited
    size_t search = 0;  // the next match begins here or later
    std::optional<size_t> last_end;
    Match match{};
    while (search <= subject.size() && find(subject, search, scratch, match)) {
      if (match.begin == match.end && last_end == match.end) {
        search = match.end + character_length(subject, match.end);
        continue;
      }
      if (done < match.begin) visit(Match{done, match.begin}, false);
      visit(match, true);
      done = match.end;
      search = match.end;
      last_end = match.end;
    }
    if (done < subject.size()) visit(Match{done, subject.size()}, false);
  }

 private:
  enum class Kind : unsigned char { string, newline_runs, regex };

  Pattern() = default;
  static size_t character_length(std::string_view subject, size_t at);

  Kind kind_ = Kind::string;
  std::string string_;
  std::optional<Regex> regex_;
};

}  // namespace lagoon
