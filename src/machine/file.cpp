#include "machine/file.h"

#include "base/byte_size.h"
#include "base/error.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace lagoon {
namespace {

constexpr size_t largest_read = 64u << 20;

/// Under which an open file without a name can be given one.
std::string path_in_proc(int descriptor) { return fmt::format("/proc/self/fd/{}", descriptor); }

std::string reason(int error) { return std::generic_category().message(error); }

/// What a person can put right, or what the machine refuses.
[[noreturn]] void refuse_writing(const std::filesystem::path& path, int error) {
  const std::string shown = printable_path(path);
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      fail(ErrorKind::invalid, "{}: there is no folder {}; make it first, or write elsewhere", shown, printable_path(path.parent_path()));
    case EACCES:
    case EPERM:
    case EROFS:
      fail(ErrorKind::invalid, "{}: cannot be written: {}; give yourself the right to write there, or write elsewhere", shown, reason(error));
    case ENAMETOOLONG:
      fail(ErrorKind::invalid, "{}: cannot be written: {}; give a shorter name", shown, reason(error));
    default:
      fail(ErrorKind::io, "{}: cannot be written: {}", shown, reason(error));
  }
}

/// What is written when this is: a link stays and is followed, also where what it names is not there yet.
std::filesystem::path behind_links(std::filesystem::path path) {
  std::error_code none;
  std::filesystem::path target = std::filesystem::canonical(path, none);
  if (!none) return target;
  constexpr int most_links = 40;  // as the kernel follows
  for (int link = 0; link < most_links; ++link) {
    const std::filesystem::path next = std::filesystem::read_symlink(path, none);
    if (none) return path;
    path = path.parent_path() / next;
  }
  fail(ErrorKind::invalid, "{}: this link leads back to itself; name a file", printable_path(path));
}

/// A new file was made private: it gets the mode that open(2) with 0666 would have given, or mode and owner of the file that it replaces.
bool open_to_readers(int descriptor, const std::filesystem::path& path) {
  struct stat before = {};
  if (::stat(path.c_str(), &before) == 0) {
    [[maybe_unused]] const int owned = ::fchown(descriptor, before.st_uid, before.st_gid);  // only root may give files away
    return ::fchmod(descriptor, before.st_mode & 0777) == 0;
  }
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return ::fchmod(descriptor, 0666 & ~mask) == 0;
}

class SystemFile final : public ReadableFile {
 public:
  SystemFile(std::filesystem::path path, int descriptor, uint64_t size) : path_(std::move(path)), descriptor_(descriptor), size_(size) {}
  ~SystemFile() override { ::close(descriptor_); }
  SystemFile(const SystemFile&) = delete;
  SystemFile& operator=(const SystemFile&) = delete;

  const std::filesystem::path& path() const override { return path_; }
  uint64_t size() const override { return size_; }
  void read_at(uint64_t offset, std::span<std::byte> destination) const override {
    const auto positional = [this](std::byte* to, size_t bytes, uint64_t at) -> int64_t {
      return ::pread(descriptor_, to, bytes, static_cast<off_t>(at));
    };
    read_fully(positional, path_, offset, destination);
  }
  void will_need(uint64_t offset, uint64_t bytes) const override {
    (void)::posix_fadvise(descriptor_, static_cast<off_t>(offset), static_cast<off_t>(bytes), POSIX_FADV_WILLNEED);
  }

 private:
  std::filesystem::path path_;
  int descriptor_;
  uint64_t size_;
};

/// What a person gave and can put right, or what the machine refuses.
[[noreturn]] void refuse_opening(const std::filesystem::path& path, int error) {
  const std::string shown = printable_path(path);
  std::error_code none;
  switch (error) {
    case ENOENT:
      if (std::filesystem::is_symlink(std::filesystem::symlink_status(path, none))) {
        fail(ErrorKind::invalid, "{}: this is a dangling link: {} is not there; put it back, or fetch the file again", shown,
             printable_path(std::filesystem::read_symlink(path, none)));
      }
      fail(ErrorKind::invalid, "{}: there is no such file; look at the path, or fetch the file", shown);
    case ENOTDIR:
      fail(ErrorKind::invalid, "{}: there is no such file: a part of the path is no folder; look at the path", shown);
    case EACCES:
    case EPERM:
      fail(ErrorKind::invalid, "{}: cannot be opened for reading: {}; give yourself the right to read it", shown, reason(error));
    case ELOOP:
      fail(ErrorKind::invalid, "{}: this link leads back to itself ({}); put the file itself there", shown, reason(error));
    case ENXIO:
    case ENODEV:
      fail(ErrorKind::invalid, "{}: a regular file was expected, this is a pipe, a device or a socket; put the file itself there", shown);
    case ENAMETOOLONG:
      fail(ErrorKind::invalid, "{}: cannot be opened for reading: {}; give a shorter path", shown, reason(error));
    default:
      fail(ErrorKind::io, "{}: cannot be opened for reading: {}", shown, reason(error));
  }
}

}  // namespace

std::string printable_path(const std::filesystem::path& path) { return printable(path.string(), 4096); }

std::unique_ptr<ReadableFile> SystemFiles::open(const std::filesystem::path& path) const {
  // O_NONBLOCK: opening a FIFO must not wait for a writer; it has no effect on regular files. O_NOCTTY: a terminal is not taken over.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) refuse_opening(path, errno);
  struct stat status = {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor);
    fail(ErrorKind::invalid, "{}: a regular file was expected, this is {}; put the file itself there", printable_path(path),
         S_ISDIR(status.st_mode) ? "a folder" : "a pipe, a device or a socket");
  }
  return std::make_unique<SystemFile>(path, descriptor, static_cast<uint64_t>(status.st_size));
}

void read_fully(const PositionalRead& read, const std::filesystem::path& path, uint64_t offset, std::span<std::byte> destination) {
  size_t done = 0;
  while (done < destination.size()) {
    const size_t wanted = std::min(destination.size() - done, largest_read);
    const int64_t got = read(destination.data() + done, wanted, offset + done);
    if (got < 0) {
      if (errno == EINTR || errno == EAGAIN) continue;
      fail(ErrorKind::io, "{}: reading {} at byte {} failed: {}", printable_path(path), format_bytes(wanted), offset + done, reason(errno));
    }
    if (got == 0) {
      fail(ErrorKind::corrupt, "{}: the file ends at byte {}, {} more were expected; the download is incomplete or the file has changed meanwhile",
           printable_path(path), offset + done, format_bytes(destination.size() - done));
    }
    done += static_cast<size_t>(got);
  }
}

std::string read_text(const Files& files, const std::filesystem::path& path, uint64_t limit) {
  const std::unique_ptr<ReadableFile> file = files.open(path);
  if (file->size() > limit) {
    fail(ErrorKind::corrupt, "{}: the file has {}, at most {} were expected of it", printable_path(path), format_bytes(file->size()),
         format_count(limit));
  }
  std::string text(file->size(), '\0');
  file->read_at(0, std::as_writable_bytes(std::span(text)));
  return text;
}

DurableWriter::DurableWriter(std::filesystem::path path) : path_(behind_links(std::move(path))) {
  std::error_code none;
  const std::filesystem::file_status status = std::filesystem::status(path_, none);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    fail(ErrorKind::invalid, "{}: a file to write was expected, this is {}; name a file", printable_path(path_),
         std::filesystem::is_directory(status) ? "a folder" : "a pipe, a device or a socket");
  }
  if (std::filesystem::exists(status) && ::faccessat(AT_FDCWD, path_.c_str(), W_OK, AT_EACCESS) != 0) {
    fail(ErrorKind::invalid, "{}: may not be written over: {}; give yourself the right to write it, or name another file", printable_path(path_),
         reason(errno));
  }
  // A file without a name is gone with the process, however that ends; not every file system has such files.
  const std::filesystem::path folder = path_.has_parent_path() ? path_.parent_path() : ".";
  descriptor_ = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (descriptor_ >= 0 && ::access(path_in_proc(descriptor_).c_str(), F_OK) == 0) return;
  if (descriptor_ >= 0) ::close(descriptor_);
  std::string name = temporary_pattern();
  descriptor_ = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor_ < 0) refuse_writing(path_, errno);
  temporary_ = name;
}

DurableWriter::~DurableWriter() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

std::string DurableWriter::temporary_pattern() const { return (path_.parent_path() / ".lagoon-partial-XXXXXX").string(); }

void DurableWriter::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(descriptor_, bytes.data(), std::min(bytes.size(), largest_read));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail(ErrorKind::io, "{}: writing failed: {}; nothing was kept", printable_path(path_), reason(errno));
    bytes = bytes.subspan(static_cast<size_t>(put));
  }
}

void DurableWriter::write_hole(uint64_t bytes) {
  const off_t end = ::lseek(descriptor_, static_cast<off_t>(bytes), SEEK_CUR);
  if (end >= 0 && ::ftruncate(descriptor_, end) == 0) return;
  fail(ErrorKind::io, "{}: writing failed: {}; nothing was kept", printable_path(path_), reason(errno));
}

bool DurableWriter::give_name() {
  const std::string link = path_in_proc(descriptor_);
  for (int attempt = 0; attempt < 100; ++attempt) {
    // A name that is free: made as a file, removed, and given again. Whoever takes it meanwhile is noticed.
    std::string name = temporary_pattern();
    const int placeholder = ::mkostemp(name.data(), O_CLOEXEC);
    if (placeholder < 0) return false;
    ::close(placeholder);
    ::unlink(name.c_str());
    if (::linkat(AT_FDCWD, link.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      temporary_ = name;
      return true;
    }
    if (errno != EEXIST) return false;
  }
  return false;
}

void DurableWriter::commit() {
  const bool whole = open_to_readers(descriptor_, path_) && ::fsync(descriptor_) == 0;
  const bool named = whole && (!temporary_.empty() || give_name());
  // Some file systems say only now that the bytes could not be kept.
  const bool done = named && ::close(std::exchange(descriptor_, -1)) == 0 && ::rename(temporary_.c_str(), path_.c_str()) == 0;
  if (!done) fail(ErrorKind::io, "{}: the file could not be put in its place: {}; nothing was kept", printable_path(path_), reason(errno));
  temporary_.clear();
}

}  // namespace lagoon
