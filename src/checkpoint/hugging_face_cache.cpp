#include "checkpoint/hugging_face_cache.h"

#include "base/error.h"
#include "checkpoint/folder_access.h"
#include "machine/file.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <system_error>
#include <vector>

namespace lagoon {
namespace {

constexpr uint64_t ref_limit = 4096;        // bytes of a file in refs/
constexpr size_t least_commit_letters = 4;  // of a hash; fewer would fit too much

bool is_plain(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') || letter == '.' || letter == '_' ||
         letter == '-';
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 96 && std::all_of(text.begin(), text.end(), is_plain) && text.find("..") == std::string_view::npos &&
         text.find("--") == std::string_view::npos && text.front() != '.' && text.front() != '-' && text.back() != '.' && text.back() != '-';
}

bool is_folder(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

/// Also what cannot be read, such as a pipe or a link that leads nowhere; reading it says why. Folders hold the second half of names.
bool is_ref(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::exists(std::filesystem::symlink_status(path, error)) && !is_folder(path);
}

/// @throws Error(io) for a folder that is there and cannot be looked into
void require_open(const std::filesystem::path& folder) {
  if (const std::string why = why_closed(folder); !why.empty()) fail(ErrorKind::io, "{}", why);
}

/// The path itself. @throws as require_open
std::filesystem::path opened(const std::filesystem::path& folder) {
  require_open(folder);
  return folder;
}

std::vector<std::string> snapshots_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error); !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    if (is_folder(at->path())) names.push_back(at->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string listed(const std::vector<std::string>& names) {
  if (names.empty()) return "none";
  const size_t count = std::min<size_t>(names.size(), 4);
  return fmt::format("{}{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(count), ", "), names.size() > count ? ", ..." : "");
}

bool is_hexadecimal(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char letter) { return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'f'); });
}

std::filesystem::path folder_of(const RepositoryName& repository, const std::filesystem::path& hub_cache) {
  const std::string organisation = repository.organisation.empty() ? "" : repository.organisation + "--";
  return hub_cache / fmt::format("models--{}{}", organisation, repository.name);
}

/// "models--ORG--NAME" or "models--NAME".
std::optional<RepositoryName> parse_folder_name(std::string_view text) {
  constexpr std::string_view front = "models--";
  if (!text.starts_with(front)) return std::nullopt;
  text.remove_prefix(front.size());
  RepositoryName repository;
  const size_t cut = text.find("--");
  if (cut != std::string_view::npos) {
    repository.organisation = std::string(text.substr(0, cut));
    text.remove_prefix(cut + 2);
    if (!is_name(repository.organisation)) return std::nullopt;
  }
  if (!is_name(text)) return std::nullopt;
  repository.name = std::string(text);
  return repository;
}

/// The snapshot that refs/REVISION names.
std::filesystem::path follow_ref(const std::filesystem::path& repository, const std::string& revision) {
  const std::filesystem::path ref = repository / "refs" / revision;
  std::string hash = read_text(SystemFiles(), ref, ref_limit);
  hash.erase(hash.find_last_not_of(" \r\n\t") + 1);
  if (hash.empty() || hash.size() > 128 || !std::all_of(hash.begin(), hash.end(), is_plain) || hash.front() == '.') {
    fail(ErrorKind::corrupt, "{}: a commit hash was expected, the file holds `{}`; download the model again", printable_path(ref),
         printable(hash, 60));
  }
  std::filesystem::path snapshot = repository / "snapshots" / hash;
  if (is_folder(opened(snapshot))) return snapshot;
  fail(ErrorKind::corrupt, "{}: the snapshot {} is named here and is not in the cache (there: {}); download the model again", printable_path(ref),
       hash, listed(snapshots_in(repository / "snapshots")));
}

}  // namespace

bool is_revision(std::string_view text) {
  if (text.empty() || text.size() > 255 || text.front() == '/' || text.back() == '/') return false;
  if (text.find("..") != std::string_view::npos || text.find("//") != std::string_view::npos || text.find("/.") != std::string_view::npos)
    return false;
  return text.front() != '.' && text.front() != '-' &&
         std::all_of(text.begin(), text.end(), [](char letter) { return is_plain(letter) || letter == '/' || letter == '+'; });
}

std::optional<RepositoryName> parse_repository(const std::string& text) {
  RepositoryName repository;
  std::string_view rest = text;
  const size_t at = rest.find('@');
  if (at != std::string_view::npos) {
    const std::string_view revision = rest.substr(at + 1);
    if (!is_revision(revision)) return std::nullopt;
    repository.revision = std::string(revision);
    rest = rest.substr(0, at);
  }
  const size_t slash = rest.find('/');
  if (slash == std::string_view::npos || !is_name(rest.substr(0, slash)) || !is_name(rest.substr(slash + 1))) return std::nullopt;
  repository.organisation = std::string(rest.substr(0, slash));
  repository.name = std::string(rest.substr(slash + 1));
  return repository;
}

std::filesystem::path find_in_hub_cache(const RepositoryName& repository, const std::filesystem::path& hub_cache) {
  const std::string id = repository.id();
  const std::filesystem::path folder = folder_of(repository, hub_cache);
  if (hub_cache.empty() || !is_folder(folder)) {
    if (!hub_cache.empty()) require_open(folder);
    fail(ErrorKind::invalid,
         "{}: there is no folder of this name, and the Hugging Face cache has no {}; download the model first, or give its folder", id,
         printable_path(folder));
  }
  const std::string revision = repository.revision.value_or("main");
  if (is_ref(folder / "refs" / revision)) return follow_ref(folder, revision);
  require_open(folder / "refs");
  const std::filesystem::path snapshots = folder / "snapshots";
  const std::vector<std::string> names = snapshots_in(snapshots);
  if (names.empty()) {
    require_open(snapshots);
    const size_t unfinished = unfinished_downloads(repository, hub_cache);
    fail(ErrorKind::invalid, "{}: {} holds no snapshot{}; download the model again", id, printable_path(folder),
         unfinished == 0 ? "" : fmt::format(", and {} files in it are .incomplete", unfinished));
  }
  if (!repository.revision) {
    if (names.size() == 1) return opened(snapshots / names.front());
    fail(ErrorKind::invalid, "{}: {} has no refs/main, and its snapshots are {}; name one as {}@REVISION, or download the model again", id,
         printable_path(folder), listed(names), id);
  }
  if (std::find(names.begin(), names.end(), revision) != names.end()) return opened(snapshots / revision);
  std::vector<std::string> candidates;
  if (is_hexadecimal(revision) && revision.size() < least_commit_letters) {
    fail(ErrorKind::invalid,
         "{}@{}: {} has no such branch or tag, and of a commit at least {} characters are needed (snapshots: {}); give more of it", id, revision,
         printable_path(folder), least_commit_letters, listed(names));
  }
  if (is_hexadecimal(revision)) {
    std::copy_if(names.begin(), names.end(), std::back_inserter(candidates), [&](const std::string& name) { return name.starts_with(revision); });
  }
  if (candidates.size() == 1) return opened(snapshots / candidates.front());
  if (candidates.size() > 1)
    fail(ErrorKind::invalid, "{}@{}: {} snapshots begin like this ({}); give more of the hash", id, revision, candidates.size(), listed(candidates));
  fail(ErrorKind::invalid, "{}@{}: {} has no such branch, tag or commit (snapshots: {}); download that revision first", id, revision,
       printable_path(folder), listed(names));
}

std::vector<RepositoryName> list_hub_cache(const std::filesystem::path& hub_cache) {
  std::vector<RepositoryName> repositories;
  std::error_code error;
  if (hub_cache.empty()) return repositories;
  require_open(hub_cache);
  if (!std::filesystem::exists(hub_cache, error)) return repositories;
  std::filesystem::directory_iterator at(hub_cache, error);
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    const auto repository = parse_folder_name(at->path().filename().string());
    if (repository && (is_folder(at->path()) || !why_closed(at->path()).empty())) repositories.push_back(*repository);
  }
  if (error) fail(ErrorKind::io, "{}: the folder cannot be listed: {}", printable_path(hub_cache), error.message());
  std::sort(repositories.begin(), repositories.end(), [](const RepositoryName& a, const RepositoryName& b) { return a.id() < b.id(); });
  return repositories;
}

std::vector<std::string> snapshots_of(const RepositoryName& repository, const std::filesystem::path& hub_cache) {
  return snapshots_in(folder_of(repository, hub_cache) / "snapshots");
}

bool has_main(const RepositoryName& repository, const std::filesystem::path& hub_cache) {
  return is_ref(folder_of(repository, hub_cache) / "refs" / "main");
}

size_t unfinished_downloads(const RepositoryName& repository, const std::filesystem::path& hub_cache) {
  size_t count = 0;
  std::error_code error;
  std::filesystem::directory_iterator at(folder_of(repository, hub_cache) / "blobs", error);
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) count += at->path().extension() == ".incomplete" ? 1 : 0;
  return count;
}

std::optional<RepositoryName> repository_of_snapshot(const std::filesystem::path& folder) {
  if (folder.parent_path().filename() != "snapshots") return std::nullopt;
  auto repository = parse_folder_name(folder.parent_path().parent_path().filename().string());
  if (repository) repository->revision = folder.filename().string();
  return repository;
}

}  // namespace lagoon
