// file.h: reading files at positions, and writing files so that a reader sees the old one or the whole new one.
// `Files` is passed in wherever files are read, so that a test can fail the k-th read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace lagoon {

/// A regular file open for reading. Safe to use from several threads at once.
class ReadableFile {
 public:
  virtual ~ReadableFile() = default;
  virtual const std::filesystem::path& path() const = 0;
  /// Bytes, when the file was opened.
  virtual uint64_t size() const = 0;
  /// Fills `destination` from byte `offset` on. Short reads go on, interrupted calls are repeated.
  /// @throws Error(corrupt) if the file ends first (it has shrunk), Error(io) if the system refuses
  virtual void read_at(uint64_t offset, std::span<std::byte> destination) const = 0;
  /// A hint that these bytes will be read soon, so that the disk can begin. Never fails.
  virtual void will_need(uint64_t /*offset*/, uint64_t /*bytes*/) const {}
};

class Files {
 public:
  virtual ~Files() = default;
  /// @throws Error(invalid) if nothing is there, it is no regular file or it may not be read, Error(io) if the system cannot
  virtual std::unique_ptr<ReadableFile> open(const std::filesystem::path& path) const = 0;
};

/// The files of this machine.
class SystemFiles final : public Files {
 public:
  std::unique_ptr<ReadableFile> open(const std::filesystem::path& path) const override;
};

/// One positional read in the manner of pread(2): bytes read, 0 at the end of the file, -1 with errno set.
using PositionalRead = std::function<int64_t(std::byte* destination, size_t bytes, uint64_t offset)>;

/// Repeats `read` until `destination` is full: the loop behind ReadableFile::read_at, apart so that a test can give it
/// short reads, EINTR and failures. One call asks for at most 64 MiB.
void read_fully(const PositionalRead& read, const std::filesystem::path& path, uint64_t offset, std::span<std::byte> destination);

/// As printable(), for the paths in sentences: at most 4096 bytes.
std::string printable_path(const std::filesystem::path& path);

/// The whole of a small file, such as config.json.
/// @throws Error(corrupt) if it has more than `limit` bytes, otherwise as Files::open and read_at
std::string read_text(const Files& files, const std::filesystem::path& path, uint64_t limit);

/// A file under construction: bytes go to a file without a name where the file system has such files (so that nothing is left of it even if the
/// process is killed), else to a temporary name beside it; commit() syncs, names and renames. Without commit() the temporary is removed and
/// whatever stood at `path` before is unchanged. A link at `path` stays and what it names is written, also where that is not there yet; a file
/// that is written over keeps its mode and, as far as the system lets us, its owner.
class DurableWriter {
 public:
  /// @throws Error(io); Error(invalid) if a folder, a device, a pipe or a file that may not be written stands at `path`, or its folder is missing
  explicit DurableWriter(std::filesystem::path path);
  ~DurableWriter();
  DurableWriter(const DurableWriter&) = delete;
  DurableWriter& operator=(const DurableWriter&) = delete;

  /// @throws Error(io) naming the file and the reason, such as a full disk
  void write(std::span<const std::byte> bytes);

  /// As write() of this many zeros, but the file system stores none of them where it knows sparse files. @throws Error(io)
  void write_hole(uint64_t bytes);

  /// @throws Error(io)
  void commit();

 private:
  std::string temporary_pattern() const;
  /// Gives a file without a name one beside `path`. False with errno set if the system refuses.
  bool give_name();

  std::filesystem::path path_;       // behind all links
  std::filesystem::path temporary_;  // empty while the file has no name
  int descriptor_ = -1;
};

}  // namespace lagoon
