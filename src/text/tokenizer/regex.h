// regex.h: one compiled pattern, and what a match needs beside it. PCRE2 with Unicode, JIT where the machine allows it.
//
// A match ends: PCRE2's limits on steps and memory turn a pattern that backtracks without end into an Error. The JIT's stack
// grows to 8 MiB; where that does not suffice (runs of 100,000 newlines under a repeated group), the interpreter takes over.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

struct pcre2_real_code_8;
struct pcre2_real_match_data_8;
struct pcre2_real_match_context_8;
struct pcre2_real_jit_stack_8;

namespace lagoon {

/// What one thread needs for matching; serves any number of patterns, one match at a time.
class RegexScratch {
 public:
  RegexScratch();
  ~RegexScratch();
  RegexScratch(const RegexScratch&) = delete;
  RegexScratch& operator=(const RegexScratch&) = delete;

 private:
  friend class Regex;
  pcre2_real_match_data_8* match_data_ = nullptr;
  pcre2_real_match_context_8* context_ = nullptr;
  pcre2_real_jit_stack_8* stack_ = nullptr;  // made when a match asks for it
};

struct Match {
  size_t begin;  // bytes
  size_t end;
};

class Regex {
 public:
  /// Compiles an Oniguruma pattern (regex_syntax.h).
  /// @param where  names the key of the file, which begins the sentence of an error
  /// @throws Error(unsupported) if PCRE2 cannot express it
  Regex(std::string_view pattern, std::string_view where);

  /// The leftmost match that begins at `from` or behind it. What lies before `from` is seen by lookbehinds.
  /// @pre subject is valid UTF-8, from <= subject.size() stands between two characters
  /// @throws Error(unsupported) naming the pattern if matching takes too many steps or too much memory
  bool find(std::string_view subject, size_t from, RegexScratch& scratch, Match& match) const;

 private:
  int match_slowly(std::string_view subject, size_t from, RegexScratch& scratch) const;

  std::shared_ptr<pcre2_real_code_8> code_;
  std::string sentence_begin_;
  bool jit_ = false;
};

}  // namespace lagoon
