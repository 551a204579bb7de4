#include "checkpoint/model_catalog.h"

#include "base/error.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/edit_distance.h"
#include "checkpoint/known_models.h"

#include <algorithm>
#include <array>
#include <set>
#include <system_error>

namespace lagoon {
namespace {

namespace fs = std::filesystem;

constexpr size_t longest_compared = 256;  // bytes of a name; longer ones are nobody's slip
constexpr size_t least_substring = 2;     // letters; fewer would find nearly anything

/// Whether `typed` stands in `name` from the beginning of a word on: s-2.1-oq4e is no part of laguna-xs-2.1-oq4e, which is another model.
bool holds_words(std::string_view name, const std::string& typed) {
  for (size_t at = name.find(typed); at != std::string_view::npos; at = name.find(typed, at + 1)) {
    if (at == 0 || std::string_view("-_./").find(name[at - 1]) != std::string_view::npos) return true;
  }
  return false;
}

/// The names that pass, whole or without organisation; both in small letters.
template <typename Passes>
std::vector<std::string> names_that(const std::vector<std::string>& names, const Passes& passes) {
  std::vector<std::string> found;
  std::set<std::string_view> seen;
  for (const std::string& name : names) {
    const std::string lower = lower_case(name);
    if ((passes(std::string_view(lower)) || passes(without_organisation(lower))) && seen.insert(name).second) found.push_back(name);
  }
  return found;
}

struct Nearness {
  size_t whole;      // changes from the typed text to the name
  size_t beginning;  // to what the name begins with
};

Nearness nearness(const std::string& typed, const std::string& name) {
  const std::vector<size_t> row = edit_distances(lower_case(typed), lower_case(name));
  return {row.back(), *std::min_element(row.begin(), row.end())};
}

std::vector<std::string> names_of(const CheckpointPlaces& places) {
  std::vector<std::string> names = {"nano"};
  for (const ModelAlias& alias : places.aliases) names.push_back(alias.name);
  for (const KnownModel& model : known_models(places)) names.push_back(model.name);
  return names;
}

/// The main snapshot of a repository, or all where none is the main one. What cannot be found is a location with a problem.
void add_repository(const KnownModel& model, std::vector<ModelLocation>& locations) {
  std::vector<std::optional<std::string>> revisions = {std::nullopt};
  const std::vector<std::string> snapshots = snapshots_of(*model.repository, model.place);
  if (!has_main(*model.repository, model.place) && snapshots.size() > 1) revisions = {snapshots.begin(), snapshots.end()};
  for (const auto& revision : revisions) {
    ModelLocation location;
    try {
      location = location_of(model, revision);
    } catch (const Error& error) {
      location.found_in = "Hugging Face cache";
      location.problem = error.what();
    }
    location.name = revision ? model.name + "@" + *revision : model.name;
    locations.push_back(location);
  }
}

void add_alias(const ModelAlias& alias, const CheckpointPlaces& places, std::vector<ModelLocation>& locations) {
  ModelLocation location;
  try {
    location = find_model(alias.name, places);
  } catch (const Error& error) {
    location = {.name = alias.model, .problem = error.what()};
  }
  location.alias = alias.name;
  location.model_type = alias.model_type;
  if (alias.revision && location.revision.empty()) location.revision = *alias.revision;
  locations.push_back(location);
}

}  // namespace

std::vector<std::string> names_like(const std::vector<std::string>& names, const std::string& typed) {
  const std::string lower = lower_case(typed);
  if (lower.empty()) return {};
  std::vector<std::string> found = names_that(names, [&](std::string_view name) { return name == lower; });
  if (found.empty()) found = names_that(names, [&](std::string_view name) { return name.starts_with(lower); });
  if (found.empty() && lower.size() >= least_substring) found = names_that(names, [&](std::string_view name) { return holds_words(name, lower); });
  return found;
}

std::string describe(const ModelLocation& location) {
  const std::string name = printable(location.name, 4096);
  if (location.alias.empty()) return name;
  std::string text = printable(location.alias) + " = " + name;
  if (!location.revision.empty() && location.name.find('@') == std::string::npos) text += "@" + printable(location.revision.substr(0, 8));
  if (location.model_type) text += ", model_type " + printable(*location.model_type);
  return text;
}

size_t name_distance(const std::string& typed, const std::string& name) { return nearness(typed, name).whole; }

std::optional<std::string> nearest_model_name(const std::string& typed, const CheckpointPlaces& places) {
  if (typed.empty() || typed.size() > longest_compared) return std::nullopt;
  const std::string typed_short(without_organisation(typed));
  std::optional<std::string> best;
  size_t best_rank = SIZE_MAX;
  for (const std::string& name : names_of(places)) {
    if (name.size() > longest_compared) continue;
    const std::string short_name(without_organisation(name));
    // A slip in the whole name, in the name alone, or in what it begins with; of equally near ones the first kind counts.
    const std::array<std::pair<size_t, size_t>, 3> slips = {{{nearness(typed, name).whole, typed.size()},
                                                             {nearness(typed_short, short_name).whole, typed_short.size()},
                                                             {nearness(typed_short, short_name).beginning, typed_short.size()}}};
    for (size_t kind = 0; kind < slips.size(); ++kind) {
      const auto [changes, length] = slips[kind];
      const size_t rank = changes * slips.size() + kind;
      if (length == 0 || 3 * changes > length || rank >= best_rank) continue;
      best_rank = rank;
      best = name;
    }
  }
  return best;
}

std::vector<ModelLocation> list_models(const CheckpointPlaces& places) {
  std::vector<ModelLocation> locations;
  std::set<std::string> names = {"nano"};
  std::error_code error;
  const fs::path nano = places.shipped_models / "nano";
  if (!places.shipped_models.empty() && fs::is_directory(nano, error)) locations.push_back({.folder = nano, .name = "nano", .found_in = "shipped"});
  for (const ModelAlias& alias : places.aliases) {
    names.insert(alias.name);
    add_alias(alias, places, locations);
  }
  std::vector<ModelLocation> unreadable;
  const auto known = known_models(places, [&](const fs::path& place, const std::string& why) {
    const bool cache = place == places.hub_cache;
    unreadable.push_back({.folder = place, .name = place.string(), .found_in = cache ? "Hugging Face cache" : "models directory", .problem = why});
  });
  for (const KnownModel& model : known) {
    const bool first = names.insert(model.name).second;
    if (model.repository) {
      if (first) add_repository(model, locations);
      continue;
    }
    locations.push_back(
        {.folder = model.folder, .name = first ? model.name : model.folder.string(), .found_in = "models directory", .problem = model.problem});
  }
  locations.insert(locations.end(), unreadable.begin(), unreadable.end());
  return locations;
}

}  // namespace lagoon
