#define PCRE2_CODE_UNIT_WIDTH 8
#include "text/tokenizer/regex.h"

#include "base/error.h"
#include "text/tokenizer/regex_syntax.h"

#include <pcre2.h>

#include <array>

namespace lagoon {
namespace {

constexpr uint32_t step_limit = 20'000'000;                  // PCRE2's match limit, for each place where a match may begin
constexpr uint32_t heap_limit_kib = 1024 * 1024;             // the interpreter's memory for backtracking
constexpr size_t jit_stack_start = size_t{64} * 1024;        // bytes
constexpr size_t jit_stack_limit = size_t{8} * 1024 * 1024;  // bytes

PCRE2_SPTR units_of(std::string_view text) { return reinterpret_cast<PCRE2_SPTR>(text.empty() ? "" : text.data()); }

std::string message_of(int code) {
  std::array<PCRE2_UCHAR, 256> buffer{};
  pcre2_get_error_message(code, buffer.data(), buffer.size());
  return reinterpret_cast<const char*>(buffer.data());
}

/// JIT code that was given no stack runs on 32 KiB of the machine's; this hands it the larger one once that exists.
pcre2_jit_stack* stack_of(void* data) { return *static_cast<pcre2_jit_stack**>(data); }

}  // namespace

RegexScratch::RegexScratch() : match_data_(pcre2_match_data_create(1, nullptr)), context_(pcre2_match_context_create(nullptr)) {
  if (!match_data_ || !context_) {
    pcre2_match_data_free(match_data_);
    pcre2_match_context_free(context_);
    fail(ErrorKind::io, "the system gave no memory for matching patterns");
  }
  pcre2_set_match_limit(context_, step_limit);
  pcre2_set_heap_limit(context_, heap_limit_kib);
  pcre2_set_depth_limit(context_, step_limit);
  pcre2_jit_stack_assign(context_, stack_of, &stack_);
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
  int error = 0;
  PCRE2_SIZE offset = 0;
  const uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C | PCRE2_DUPNAMES;
  code_.reset(pcre2_compile(units_of(translated), translated.size(), options, &error, &offset, context.get()), pcre2_code_free);
  if (!code_) fail(ErrorKind::unsupported, "{} is none that Lagoon can match: {}", sentence_begin_, message_of(error));
  jit_ = pcre2_jit_compile(code_.get(), PCRE2_JIT_COMPLETE) == 0;
}

int Regex::match_slowly(std::string_view subject, size_t from, RegexScratch& scratch) const {
  constexpr uint32_t options = PCRE2_NO_UTF_CHECK;
  if (jit_ && !scratch.stack_) {
    scratch.stack_ = pcre2_jit_stack_create(jit_stack_start, jit_stack_limit, nullptr);
    const int result = pcre2_jit_match(code_.get(), units_of(subject), subject.size(), from, options, scratch.match_data_, scratch.context_);
    if (result != PCRE2_ERROR_JIT_STACKLIMIT) return result;
  }
  return pcre2_match(code_.get(), units_of(subject), subject.size(), from, options | PCRE2_NO_JIT, scratch.match_data_, scratch.context_);
}

bool Regex::find(std::string_view subject, size_t from, RegexScratch& scratch, Match& match) const {
  int result = PCRE2_ERROR_JIT_STACKLIMIT;
  if (jit_) {
    result = pcre2_jit_match(code_.get(), units_of(subject), subject.size(), from, PCRE2_NO_UTF_CHECK, scratch.match_data_, scratch.context_);
  }
  if (result == PCRE2_ERROR_JIT_STACKLIMIT) result = match_slowly(subject, from, scratch);
  if (result == PCRE2_ERROR_NOMATCH) return false;
  if (result < 0) {
    fail(ErrorKind::unsupported, "{} cannot be matched against a text of {} bytes: {}", sentence_begin_, subject.size(), message_of(result));
  }
  const PCRE2_SIZE* offsets = pcre2_get_ovector_pointer(scratch.match_data_);
  match = {offsets[0], offsets[1]};
  return true;
}

}  // namespace lagoon
