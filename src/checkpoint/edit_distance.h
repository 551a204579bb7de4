// edit_distance.h: how many slips of the keyboard lie between two words, for guesses at what was meant.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace lagoon {

/// Optimal string alignment: insertions, deletions, replacements and swaps of neighbours from `typed` to each beginning of `name`,
/// the empty one first. The last number is the distance; the least is that from the nearest beginning.
std::vector<size_t> edit_distances(std::string_view typed, std::string_view name);

}  // namespace lagoon
