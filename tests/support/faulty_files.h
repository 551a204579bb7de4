// faulty_files.h: the machine's files, except that the k-th opening or reading fails as a bad disk would make it fail.
#pragma once

#include "base/error.h"
#include "machine/file.h"

#include <atomic>
#include <memory>
#include <utility>

namespace lagoon::testing_support {

class FaultyFiles final : public Files {
 public:
  /// @param fault  the operation that fails, counted from 1; 0 for none
  explicit FaultyFiles(int fault) : counter_(std::make_shared<Counter>(fault)) {}

  std::unique_ptr<ReadableFile> open(const std::filesystem::path& path) const override {
    counter_->count("opening");
    return std::make_unique<FaultyFile>(SystemFiles().open(path), counter_);
  }

  /// Openings and readings so far.
  int operations() const { return counter_->done; }

 private:
  struct Counter {
    explicit Counter(int k) : fault(k) {}
    const int fault;
    std::atomic<int> done = 0;  // files are read by several threads
    void count(const char* operation) {
      if (++done == fault) fail(ErrorKind::io, "{} failed: Input/output error", operation);
    }
  };
  class FaultyFile final : public ReadableFile {
   public:
    FaultyFile(std::unique_ptr<ReadableFile> file, std::shared_ptr<Counter> counter) : file_(std::move(file)), counter_(std::move(counter)) {}
    const std::filesystem::path& path() const override { return file_->path(); }
    uint64_t size() const override { return file_->size(); }
    void read_at(uint64_t offset, std::span<std::byte> destination) const override {
      counter_->count("reading");
      file_->read_at(offset, destination);
    }

   private:
    std::unique_ptr<ReadableFile> file_;
    std::shared_ptr<Counter> counter_;
  };

  std::shared_ptr<Counter> counter_;
};

}  // namespace lagoon::testing_support
