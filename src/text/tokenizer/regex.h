// regex.h: one compiled pattern, and what a match needs beside it. PCRE2 with Unicode, JIT where the machine allows it.
//
// A match ends, and so does a text. The JIT's code runs with few steps for each place where a match may begin. Where those or
// its stack of 8 MiB do not suffice (long runs under a repeated group), PCRE2's interpreter takes over, whose steps are counted
// one by one. A text may take 4 million of these and 64 for each byte, and half a second of processor time and 3 microseconds
// for each byte: many times what the published patterns take, so that only a pattern that goes over the same characters again
// and again meets the limits, on any machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct pcre2_real_code_8;
struct pcre2_real_match_data_8;
struct pcre2_real_match_context_8;
struct pcre2_real_jit_stack_8;

namespace lagoon {

/// What one thread needs for matching one text; serves any number of patterns, one match at a time.
class RegexScratch {
 public:
  /// @param bytes  of the text that is about to be matched, which sets the limits on steps and time; they count from here
  explicit RegexScratch(size_t bytes = 0);
  ~RegexScratch();
  RegexScratch(const RegexScratch&) = delete;
  RegexScratch& operator=(const RegexScratch&) = delete;

 private:
  friend class Regex;
  friend struct RegexWatch;
  bool is_out_of_time(uint64_t work = 1);

  pcre2_real_match_data_8* match_data_ = nullptr;
  pcre2_real_match_context_8* context_ = nullptr;
  pcre2_real_jit_stack_8* stack_ = nullptr;  // made when a match asks for it
  uint64_t steps_left_;
  uint64_t deadline_;  // nanoseconds of this thread's processor time
  uint64_t work_ = 0;  // since the clock was read
  bool late_ = false;
  size_t last_position_ = 0;  // of the watched match
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
  /// @throws Error(unsupported) naming the pattern if matching takes too many steps, too much time or too much memory
  bool find(std::string_view subject, size_t from, RegexScratch& scratch, Match& match) const;

 private:
  int match_unwatched(std::string_view subject, size_t from, size_t last, RegexScratch& scratch) const;
  int match_watched(std::string_view subject, size_t from, RegexScratch& scratch) const;

  std::shared_ptr<pcre2_real_code_8> code_;     // null: no JIT
  std::shared_ptr<pcre2_real_code_8> watched_;  // calls RegexWatch
  std::string sentence_begin_;
};

}  // namespace lagoon
