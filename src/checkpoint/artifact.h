// artifact.h: quantizations that are published, known without a download: what each weighs, which matrix has which format, and who
// says so. One file of data/artifacts each, carried inside the program; people add their own in a folder.
#pragma once

#include "base/json.h"
#include "checkpoint/format_map.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace lagoon {

struct Artifact {
  std::string name;                          // short: the file's name without .json, such as "s-2.1-oq4e"
  std::string repository;                    // "mlx-community/Laguna-S-2.1-oQ4e"
  std::string revision;                      // a commit; empty: not known
  std::string model;                         // the shape (synthetic_shapes.h): "s-2.1"
  std::string format;                        // in words: "MLX affine, mixed (oQ4e)"
  std::optional<FormatMap> formats;          // nullopt: not known, or none that Lagoon runs
  std::string reason;                        // why there are none
  bool exact = true;                         // false: some of the placement is inferred; `note` says which
  std::optional<uint64_t> weight_bytes;      // published, all weight files together
  std::optional<uint64_t> repository_bytes;  // published, all files together
  std::optional<int> shards;
  std::string note;
  std::string source;  // who publishes the figures
};

/// @param what  the file, which begins the sentence of an error
/// @throws Error(corrupt) for unknown keys, wrong types and missing keys
Artifact read_artifact(const Json& document, const std::string& name, const std::string& what);

/// What the program carries and what stands in `own` (no such folder: nothing); of two with one name that of `own` counts. In the order of
/// names.
/// @param problems  gets a sentence for each file that cannot be understood; the others count
std::vector<Artifact> known_artifacts(const std::filesystem::path& own, std::vector<std::string>& problems);

/// Only what the program carries.
const std::vector<Artifact>& shipped_artifacts();

/// By its short name or its repository, whatever the case; nullptr if there is none.
const Artifact* find_artifact(const std::vector<Artifact>& artifacts, std::string_view name);

}  // namespace lagoon
