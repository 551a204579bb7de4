#include "commands/output.h"

#include "base/byte_size.h"
#include "base/error.h"

#include <stdio_ext.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <system_error>

namespace lagoon {
namespace {

void check_output(bool fine) {
  if (!fine) fail(ErrorKind::io, "standard output cannot be written: {}", std::generic_category().message(errno));
}

int64_t milliseconds_now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// As exact as a guess deserves: "45 s", "12 min", "3.5 h".
std::string format_duration(double seconds) {
  if (seconds < 90.0) return fmt::format("{:.0f} s", seconds);
  if (seconds < 5400.0) return fmt::format("{:.0f} min", seconds / 60.0);
  return fmt::format("{:.1f} h", seconds / 3600.0);
}

}  // namespace

void write_output(std::string_view text) { check_output(std::fwrite(text.data(), 1, text.size(), stdout) == text.size()); }

void flush_output() { check_output(std::fflush(stdout) == 0); }

void finish_output() { check_output(std::fflush(stdout) == 0 && std::ferror(stdout) == 0); }

bool output_failed() { return std::ferror(stdout) != 0; }

void abandon_output() {
  ::__fpurge(stdout);
  std::clearerr(stdout);
}

void write_error(std::string_view text) {
  (void)std::fwrite(text.data(), 1, text.size(), stderr);
  (void)std::fflush(stderr);
}

std::string read_input(uint64_t limit) {
  std::string text;
  char buffer[1 << 16];
  while (const size_t got = std::fread(buffer, 1, sizeof buffer, stdin)) {
    text.append(buffer, got);
    if (text.size() > limit) fail(ErrorKind::invalid, "standard input: more than {} came; give less", format_bytes(limit));
  }
  if (std::ferror(stdin) != 0) fail(ErrorKind::io, "standard input cannot be read: {}", std::generic_category().message(errno));
  return text;
}

ProgressLine::ProgressLine(bool shown, std::string_view what) : shown_(shown), what_(what), start_(milliseconds_now()) {}

ProgressLine::~ProgressLine() {
  if (visible_) write_error("\r\x1b[K");
}

void ProgressLine::update(uint64_t done, uint64_t total) {
  if (!shown_ || total == 0) return;
  const int64_t now = milliseconds_now();
  if (now - start_ < 2000 || now - last_ < 100) return;
  last_ = now;
  visible_ = true;
  const double share = static_cast<double>(done) / static_cast<double>(total);
  const double left = static_cast<double>(now - start_) / 1000.0 * (1.0 / (share > 0 ? share : 1.0) - 1.0);
  write_error(fmt::format("\r\x1b[K{} {:.0f} %, {} left", what_, share * 100.0, format_duration(left)));
}

}  // namespace lagoon
