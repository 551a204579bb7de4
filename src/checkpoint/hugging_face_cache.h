// hugging_face_cache.h: finding a snapshot that huggingface_hub has downloaded. Nothing is fetched.
//   HUB/models--ORG--NAME/refs/REVISION         a file that holds a commit hash; branch and tag names may contain slashes
//   HUB/models--ORG--NAME/snapshots/HASH/       the files of that commit
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace lagoon {

struct RepositoryName {
  std::string organisation;
  std::string name;
  std::optional<std::string> revision;  // a branch, a tag, a commit hash or the beginning of one
};

/// "org/name" or "org/name@revision"; nullopt if the text has another form. Parts are of letters, digits, '.', '_' and '-', never
/// "..", never "--"; a revision may also have single slashes inside.
std::optional<RepositoryName> parse_repository(const std::string& text);

/// The folder of the snapshot. Without a revision: what refs/main names, or the only snapshot there is.
/// @throws Error(invalid) if the repository or the revision is not in the cache, the sentence says where it was looked for and what is
/// there; Error(corrupt) if refs/ names a snapshot that is not there
std::filesystem::path find_in_hub_cache(const RepositoryName& repository, const std::filesystem::path& hub_cache);

}  // namespace lagoon
