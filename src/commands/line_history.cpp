#include "commands/line_history.h"

#include "base/error.h"
#include "base/utf8.h"
#include "machine/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <span>
#include <system_error>
#include <thread>

namespace lagoon {
namespace {

std::string escaped(std::string_view entry) {
  std::string line;
  for (const char byte : entry) {
    if (byte == '\n') {
      line += "\\n";
    } else if (byte == '\\') {
      line += "\\\\";
    } else {
      line += byte;
    }
  }
  return line;
}

std::string unescaped(std::string_view line) {
  std::string entry;
  for (size_t at = 0; at < line.size(); ++at) {
    if (line[at] == '\\' && at + 1 < line.size()) {
      ++at;
      entry += line[at] == 'n' ? '\n' : line[at];
    } else {
      entry += line[at];
    }
  }
  return entry;
}

/// While it lives, other sessions know that a history is being written. One that cannot have the lock for long goes on without: an entry may be
/// lost then, which is better than to wait for a session that is stopped.
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& folder) : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    for (int wait = 0; descriptor_ >= 0 && wait < 50 && ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0; ++wait)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ~FolderLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

/// Files made while it lives are the user's alone.
class PrivateFiles {
 public:
  PrivateFiles() : before_(::umask(0077)) {}
  ~PrivateFiles() { ::umask(before_); }
  PrivateFiles(const PrivateFiles&) = delete;
  PrivateFiles& operator=(const PrivateFiles&) = delete;

 private:
  mode_t before_;
};

}  // namespace

std::vector<std::string> LineHistory::read_file() const {
  std::error_code error;
  if (file_.empty() || !std::filesystem::exists(file_, error)) return {};
  // A bound far above what save() writes: a file that somebody else made large is no history.
  const std::string text = read_text(SystemFiles(), file_, 16 * most_file_bytes);
  std::vector<std::string> entries;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string entry = unescaped(std::string_view(text).substr(at, end - at));
    if (!entry.empty() && is_valid_utf8(entry)) entries.push_back(std::move(entry));
    at = end + 1;
  }
  return entries;
}

void LineHistory::load() { entries_ = read_file(); }

void LineHistory::add(const std::string& entry) {
  const bool blank = entry.find_first_not_of(" \t\n") == std::string::npos;
  if (blank || (!entries_.empty() && entries_.back() == entry)) return;
  entries_.push_back(entry);
  if (entry.size() <= most_entry_bytes) unsaved_.push_back(entry);
}

void LineHistory::save() {
  if (file_.empty() || unsaved_.empty()) return;
  const PrivateFiles mask;
  const std::filesystem::path folder = file_.parent_path();
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail(ErrorKind::io, "{}: the folder cannot be made: {}", printable_path(folder), error.message());
  const FolderLock lock(folder);
  std::vector<std::string> all = read_file();
  all.insert(all.end(), unsaved_.begin(), unsaved_.end());
  std::string text;
  size_t first = all.size();
  size_t bytes = 0;
  while (first > 0 && all.size() - first < most_entries) {
    const size_t more = escaped(all[first - 1]).size() + 1;
    if (bytes + more > most_file_bytes) break;
    bytes += more;
    --first;
  }
  for (size_t at = first; at < all.size(); ++at) text += escaped(all[at]) + "\n";
  DurableWriter writer(file_);
  writer.write(std::as_bytes(std::span(text.data(), text.size())));
  writer.commit();
  unsaved_.clear();
}

std::optional<size_t> LineHistory::find_before(size_t end, std::string_view part) const {
  for (size_t at = std::min(end, entries_.size()); at > 0; --at) {
    if (entries_[at - 1].find(part) != std::string::npos) return at - 1;
  }
  return std::nullopt;
}

std::optional<size_t> LineHistory::find_from(size_t begin, std::string_view part) const {
  for (size_t at = begin; at < entries_.size(); ++at) {
    if (entries_[at].find(part) != std::string::npos) return at;
  }
  return std::nullopt;
}

}  // namespace lagoon
