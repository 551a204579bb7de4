// fuzz.h: what every fuzz target holds its reader to. A target is one source that defines LLVMFuzzerTestOneInput; clang's libFuzzer drives it
// (scripts/fuzz), and replay.cpp runs the inputs of corpus/ through it in every other build.
#pragma once

#include "base/error.h"
#include "base/utf8.h"
#include "machine/file.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace lagoon::fuzz {

/// Ends the process as a crash would, which libFuzzer and ctest both take for a finding.
[[noreturn]] inline void finding(std::string_view what, std::string_view detail) {
  std::fprintf(stderr, "finding: %.*s: %.*s\n", static_cast<int>(what.size()), what.data(), static_cast<int>(detail.size()), detail.data());
  std::abort();
}

inline void check(bool holds, std::string_view what, std::string_view detail = {}) {
  if (!holds) finding(what, detail);
}

/// A refusal is one sentence that a terminal can show, and never an admission of a mistake in Lagoon.
inline void check_refusal(const Error& error) {
  const std::string_view sentence = error.what();
  check(error.kind() != ErrorKind::bug, "a bug is admitted", sentence);
  check(!sentence.empty(), "the sentence is empty");
  check(sentence.size() <= 16384, "the sentence is longer than 16 KiB", sentence.substr(0, 400));
  check(is_valid_utf8(sentence), "the sentence is no UTF-8", sentence);
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  check(std::none_of(sentence.begin(), sentence.end(), control), "the sentence holds control characters", sentence);
}

/// Runs a reader: it may succeed or refuse; whatever else it throws ends the process. True if it succeeded.
template <typename Reader>
bool accepts(const Reader& reader) {
  try {
    reader();
    return true;
  } catch (const Error& error) {
    check_refusal(error);
    return false;
  }
}

inline std::string_view text_of(const uint8_t* data, size_t size) { return {reinterpret_cast<const char*>(data), size}; }

/// A file that is only in memory.
class MemoryFile final : public ReadableFile {
 public:
  MemoryFile(std::filesystem::path path, std::string bytes) : path_(std::move(path)), bytes_(std::move(bytes)) {}
  const std::filesystem::path& path() const override { return path_; }
  uint64_t size() const override { return bytes_.size(); }
  void read_at(uint64_t offset, std::span<std::byte> destination) const override {
    if (offset > bytes_.size() || destination.size() > bytes_.size() - offset) finding("a read beyond the file", path_.string());
    std::memcpy(destination.data(), bytes_.data() + offset, destination.size());
  }

 private:
  std::filesystem::path path_;
  std::string bytes_;
};

}  // namespace lagoon::fuzz
