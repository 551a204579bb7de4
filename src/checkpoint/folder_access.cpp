#include "checkpoint/folder_access.h"

#include "base/error.h"
#include "machine/file.h"

#include <algorithm>
#include <system_error>

namespace lagoon {
namespace {

namespace fs = std::filesystem;

std::string refused(const fs::path& folder, const std::error_code& error) {
  return fmt::format("{}: the folder cannot be looked into: {}", printable_path(folder), error.message());
}

fs::path whole(const fs::path& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  fs::path canonical = fs::weakly_canonical(absolute, error);
  if (error) canonical = absolute.lexically_normal();
  return canonical.has_filename() ? canonical : canonical.parent_path();
}

}  // namespace

std::string why_closed(const fs::path& folder) {
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (status.type() == fs::file_type::not_found) {
    std::error_code link_error;
    if (!fs::is_symlink(fs::symlink_status(folder, link_error))) return {};
    return fmt::format("{}: this is a dangling link: {} is not there; put it back, or remove the link", printable_path(folder),
                       printable_path(fs::read_symlink(folder, link_error)));
  }
  if (status.type() == fs::file_type::none) return refused(folder, error);
  if (!fs::is_directory(status)) return {};
  const fs::directory_iterator listing(folder, error);
  if (error) return refused(folder, error);
  // A folder may be listed by whom it lets in no further; its own dot is the one entry that must be there.
  (void)fs::status(folder / ".", error);
  return error ? refused(folder, error) : std::string();
}

bool same_folder(const fs::path& a, const fs::path& b) { return whole(a) == whole(b); }

std::vector<fs::path> each_once(const std::vector<fs::path>& folders) {
  std::vector<fs::path> all;
  for (const fs::path& folder : folders) {
    if (std::none_of(all.begin(), all.end(), [&](const fs::path& other) { return same_folder(other, folder); })) all.push_back(folder);
  }
  return all;
}

}  // namespace lagoon
