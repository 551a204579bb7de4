// hugging_face_cache.h: finding a snapshot that huggingface_hub has downloaded. Nothing is fetched.
//   HUB/models--ORG--NAME/refs/REVISION         a file that holds a commit hash; branch and tag names may contain slashes
//   HUB/models--ORG--NAME/snapshots/HASH/       the files of that commit
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lagoon {

struct RepositoryName {
  std::string organisation;  // empty: a repository of the early days, which has none
  std::string name;
  std::optional<std::string> revision;  // a branch, a tag, a commit hash or the beginning of one

  /// "org/name".
  std::string id() const { return organisation.empty() ? name : organisation + "/" + name; }
};

/// Whether a revision may be called so.
bool is_revision(std::string_view text);

/// "org/name" or "org/name@revision"; nullopt if the text has another form. Parts are of letters, digits, '.', '_' and '-', never
/// "..", never "--"; a revision may also have single slashes inside.
std::optional<RepositoryName> parse_repository(const std::string& text);

/// The folder of the snapshot. Without a revision: what refs/main names, or the only snapshot there is.
/// @throws Error(invalid) if the repository or the revision is not in the cache, the sentence says where it was looked for and what is
/// there; Error(corrupt) if refs/ names a snapshot that is not there; Error(io) for a folder that cannot be looked into
std::filesystem::path find_in_hub_cache(const RepositoryName& repository, const std::filesystem::path& hub_cache);

/// The repositories of models in the cache, without revisions, sorted; also those that cannot be looked into (find_in_hub_cache says
/// why). Nothing where there is no such folder.
/// @throws Error(io) if the cache cannot be listed
std::vector<RepositoryName> list_hub_cache(const std::filesystem::path& hub_cache);

/// Commits that are there, sorted.
std::vector<std::string> snapshots_of(const RepositoryName& repository, const std::filesystem::path& hub_cache);

/// Whether refs/main says which snapshot is meant when none is named.
bool has_main(const RepositoryName& repository, const std::filesystem::path& hub_cache);

/// Files of which only a part has come.
size_t unfinished_downloads(const RepositoryName& repository, const std::filesystem::path& hub_cache);

/// The repository and commit of a path such as HUB/models--ORG--NAME/snapshots/HASH; nullopt for any other path.
std::optional<RepositoryName> repository_of_snapshot(const std::filesystem::path& folder);

}  // namespace lagoon
