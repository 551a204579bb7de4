#include "commands/output.h"

#include "base/byte_size.h"
#include "base/error.h"

#include <stdio_ext.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

namespace lagoon {
namespace {

void check_output(bool fine) {
  if (!fine) fail(ErrorKind::io, "standard output cannot be written: {}", std::generic_category().message(errno));
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

}  // namespace lagoon
