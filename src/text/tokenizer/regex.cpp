#define PCRE2_CODE_UNIT_WIDTH 8
#include "text/tokenizer/regex.h"

#include "base/error.h"
#include "text/tokenizer/regex_syntax.h"

#include <pcre2.h>

#include <time.h>

#include <algorithm>
#include <array>

namespace lagoon {
namespace {

constexpr size_t first_window = 64;  // bytes in which one call of the JIT's code lets a match begin; doubled where none does
constexpr size_t last_window = 1024;
constexpr uint64_t unwatched = 1u << 30;  // steps of such a call for one beginning, times the bytes that each may look at
constexpr uint64_t fewest_unwatched_steps = 2000;
constexpr uint64_t most_unwatched_steps = 10'000;
constexpr uint64_t steps_at_least = 4'000'000;  // watched ones, for a text of no bytes
constexpr uint64_t steps_each_byte = 64;
constexpr uint64_t time_at_least = 500'000'000;  // nanoseconds
constexpr uint64_t time_each_byte = 3000;
constexpr uint64_t work_between_readings = 256;              // of the clock, each of which is a call of the system
constexpr uint64_t work_of_a_window = 64;                    // in which no match begins
constexpr uint32_t heap_limit_kib = 1024 * 1024;             // the interpreter's memory for backtracking
constexpr size_t jit_stack_start = size_t{64} * 1024;        // bytes
constexpr size_t jit_stack_limit = size_t{8} * 1024 * 1024;  // bytes

PCRE2_SPTR units_of(std::string_view text) { return reinterpret_cast<PCRE2_SPTR>(text.empty() ? "" : text.data()); }

std::string message_of(int code) {
  std::array<PCRE2_UCHAR, 256> buffer{};
  pcre2_get_error_message(code, buffer.data(), buffer.size());
  return reinterpret_cast<const char*>(buffer.data());
}

uint64_t processor_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

/// JIT code that was given no stack runs on 32 KiB of the machine's; this hands it the larger one once that exists.
pcre2_jit_stack* stack_of(void* data) { return *static_cast<pcre2_jit_stack**>(data); }

}  // namespace

/// What PCRE2 calls before each item of a watched pattern.
struct RegexWatch {
  static int step(pcre2_callout_block* block, void* data) {
    auto& scratch = *static_cast<RegexScratch*>(data);
    const size_t distance = block->current_position > scratch.last_position_ ? block->current_position - scratch.last_position_ : 0;
    scratch.last_position_ = block->current_position;
    const uint64_t steps = 1 + distance / 16;
    const bool enough = scratch.steps_left_ >= steps && !scratch.is_out_of_time();
    scratch.steps_left_ -= enough ? steps : 0;
    return enough ? 0 : PCRE2_ERROR_MATCHLIMIT;
  }
};

RegexScratch::RegexScratch(size_t bytes)
    : match_data_(pcre2_match_data_create(1, nullptr)),
      context_(pcre2_match_context_create(nullptr)),
      steps_left_(steps_at_least + bytes * steps_each_byte),
      deadline_(processor_time() + time_at_least + bytes * time_each_byte) {
  if (!match_data_ || !context_) {
    pcre2_match_data_free(match_data_);
    pcre2_match_context_free(context_);
    fail(ErrorKind::io, "the system gave no memory for matching patterns");
  }
  pcre2_set_heap_limit(context_, heap_limit_kib);
  pcre2_set_depth_limit(context_, UINT32_MAX);
  pcre2_set_callout(context_, RegexWatch::step, this);
  pcre2_jit_stack_assign(context_, stack_of, &stack_);
}

bool RegexScratch::is_out_of_time(uint64_t work) {
  work_ += work;
  if (work_ >= work_between_readings) {
    work_ = 0;
    late_ = processor_time() > deadline_;
  }
  return late_;
}

RegexScratch::~RegexScratch() {
  pcre2_match_data_free(match_data_);
  pcre2_match_context_free(context_);
  pcre2_jit_stack_free(stack_);
}

Regex::Regex(std::string_view pattern, std::string_view where) : sentence_begin_(std::string(where) + ": the pattern `" + printable(pattern) + "`") {
  const std::string translated = translate_oniguruma(pattern, where);
  const std::unique_ptr<pcre2_compile_context, void (*)(pcre2_compile_context*)> context(pcre2_compile_context_create(nullptr),
                                                                                         pcre2_compile_context_free);
  if (!context) fail(ErrorKind::io, "the system gave no memory for compiling a pattern");
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  const auto compile = [&](uint32_t more) {
    constexpr uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C | PCRE2_DUPNAMES;
    int error = 0;
    PCRE2_SIZE offset = 0;
    std::shared_ptr<pcre2_code> code(pcre2_compile(units_of(translated), translated.size(), options | more, &error, &offset, context.get()),
                                     pcre2_code_free);
    if (!code) fail(ErrorKind::unsupported, "{} is none that Lagoon can match: {}", sentence_begin_, message_of(error));
    return code;
  };
  watched_ = compile(PCRE2_AUTO_CALLOUT);
  // \G means where a call begins to search: there a second window would be another question.
  if (translated.find("\\G") != std::string::npos) return;
  code_ = compile(PCRE2_USE_OFFSET_LIMIT);
  if (pcre2_jit_compile(code_.get(), PCRE2_JIT_COMPLETE) != 0) code_.reset();
}

int Regex::match_unwatched(std::string_view subject, size_t from, size_t last, RegexScratch& scratch) const {
  const uint64_t steps = std::clamp(unwatched / (subject.size() + 1), fewest_unwatched_steps, most_unwatched_steps);
  pcre2_set_match_limit(scratch.context_, static_cast<uint32_t>(steps));
  pcre2_set_offset_limit(scratch.context_, last);
  const auto match = [&] {
    return pcre2_jit_match(code_.get(), units_of(subject), subject.size(), from, PCRE2_NO_UTF_CHECK, scratch.match_data_, scratch.context_);
  };
  const int result = match();
  if (result != PCRE2_ERROR_JIT_STACKLIMIT || scratch.stack_ != nullptr) return result;
  scratch.stack_ = pcre2_jit_stack_create(jit_stack_start, jit_stack_limit, nullptr);
  return match();
}

int Regex::match_watched(std::string_view subject, size_t from, RegexScratch& scratch) const {
  scratch.last_position_ = from;
  pcre2_set_match_limit(scratch.context_, UINT32_MAX);
  pcre2_set_offset_limit(scratch.context_, PCRE2_UNSET);
  return pcre2_match(watched_.get(), units_of(subject), subject.size(), from, PCRE2_NO_UTF_CHECK, scratch.match_data_, scratch.context_);
}

bool Regex::find(std::string_view subject, size_t from, RegexScratch& scratch, Match& match) const {
  for (size_t window = first_window;; window = std::min(2 * window, last_window)) {
    size_t last = subject.size();
    int result = PCRE2_ERROR_MATCHLIMIT;
    if (code_ && !scratch.is_out_of_time()) {
      last = std::min(from + window, subject.size());
      while (last < subject.size() && (static_cast<unsigned char>(subject[last]) & 0xc0) == 0x80) ++last;
      result = match_unwatched(subject, from, last, scratch);
    }
    if (result == PCRE2_ERROR_MATCHLIMIT || result == PCRE2_ERROR_JIT_STACKLIMIT) {
      last = subject.size();
      result = match_watched(subject, from, scratch);
    }
    if (result == PCRE2_ERROR_NOMATCH) {
      if (last == subject.size()) return false;
      from = last;
      scratch.is_out_of_time(work_of_a_window);
      continue;
    }
    if (result < 0) {
      fail(ErrorKind::unsupported, "{} cannot be matched against a text of {} bytes: {}; fetch the file again", sentence_begin_, subject.size(),
           result == PCRE2_ERROR_MATCHLIMIT ? "it goes over the same characters again and again" : message_of(result));
    }
    const PCRE2_SIZE* offsets = pcre2_get_ovector_pointer(scratch.match_data_);
    match = {offsets[0], offsets[1]};
    return true;
  }
}

}  // namespace lagoon
