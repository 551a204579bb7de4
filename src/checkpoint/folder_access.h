// folder_access.h: folders that are there and cannot be looked into, told from those that are not there.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace lagoon {

/// Why nobody can look into the folder: a link to what is not there, no permission. A sentence that begins with the path; empty if it
/// can be listed and entered, if nothing stands there, or a file.
std::string why_closed(const std::filesystem::path& folder);

/// Whether the two paths are one folder, whatever links and dots they are written with.
bool same_folder(const std::filesystem::path& a, const std::filesystem::path& b);

/// The folders without repetitions, whatever they are written with.
std::vector<std::filesystem::path> each_once(const std::vector<std::filesystem::path>& folders);

}  // namespace lagoon
