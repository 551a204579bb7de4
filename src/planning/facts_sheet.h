// facts_sheet.h: where facts are put while they are found, by key and in any order, and the places in config.json that they cite.
#pragma once

#include "planning/facts.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace lagoon {

/// config.json as it was published, in the order of precedence in which Lagoon reads it: "text_config", then what stands around it.
class ConfigPlaces {
 public:
  /// @param document  must outlive this
  explicit ConfigPlaces(const Json& document);

  struct Found {
    std::string pointer;  // RFC 6901
    const Json* value;
  };

  /// nullopt if the key is absent or null.
  std::optional<Found> find(std::string_view key) const;

  /// The source of a value that this key decides: the pointer, or the default of the configuration's class.
  FactSource source(std::string_view key) const;

  /// The number that the key gives, as written; `otherwise` where it is absent.
  double number(std::string_view key, double otherwise) const;

 private:
  const Json* outer_;
  const Json* inner_ = nullptr;
};

/// What stands at a place, cut to a length fit for a table.
std::string excerpt_of(const Json& value);

/// A number as JSON: whole ones below 2^53 as integers.
Json plain_number(double value);

/// The same at six significant digits, for ratios.
Json ratio(double numerator, double denominator);

class FactSheet {
 public:
  explicit FactSheet(const PublishedModel* published) : published_(published) {}

  /// @param key  of the catalogue, and not set before
  void set(std::string_view key, Json value, FactSource source, std::string note = {});

  /// A fact that was set.
  const Fact& at(std::string_view key) const;
  bool has(std::string_view key) const { return facts_.find(key) != facts_.end(); }

  /// What the publisher says, or that nobody says it.
  void set_published(std::string_view key);

  /// What the checkpoint decides. The publisher is cited if it says the same, and noted if it says something else.
  void set_confirmed(std::string_view key, Json value, FactSource source);

  /// All facts in the order of the catalogue, with the publisher's notes. @pre all are set
  std::vector<Fact> finish();

 private:
  const PublishedModel* published_;
  std::map<std::string, Fact, std::less<>> facts_;
};

void add_config_facts(FactSheet& sheet, const Checkpoint& checkpoint, const ConfigPlaces& places);
void add_attention_facts(FactSheet& sheet, const Checkpoint& checkpoint, const ConfigPlaces& places);
void add_rope_facts(FactSheet& sheet, const ModelConfig& config, const ConfigPlaces& places);
/// @pre the stated figures are set
void add_count_facts(FactSheet& sheet, const Checkpoint& checkpoint, const std::string& headers);
/// @pre the stated figures are set
void add_kv_facts(FactSheet& sheet, const ModelConfig& config, const KvRequest& request);

}  // namespace lagoon
