// compare.h: models side by side: facts as rows, models as columns, and which rows differ.
#pragma once

#include "planning/facts.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lagoon {

struct ComparedModel {
  std::string name;
  std::string kind;                      // checkpoint, synthetic, artifact, published or described
  std::vector<Fact> facts;               // those of facts_of(), then those of the stored weights
  std::optional<uint64_t> weight_bytes;  // nullopt: nobody says
  Json memory;                           // what the model needs in memory; null: not known
  Json location;                         // where it is on this machine, and by which alias; null: it is not here
};

/// What is known of the weights as they are stored.
struct StoredWeights {
  std::optional<uint64_t> bytes;
  std::string formats;
  FactSource source;
};

/// As the headers say. @param headers  where they are
StoredWeights stored_weights(const Checkpoint& checkpoint, const std::string& headers);

struct ComparedRow {
  std::string key;
  std::string group;
  std::string label;
  std::string unit;
  bool differs = false;  // not all models have the same value
};

/// The facts, then the context and storage that the KV figures are for, then the stored weights.
/// @throws Error(invalid) as facts_of
ComparedModel compared_model(std::string name, std::string kind, const Checkpoint& checkpoint, const PublishedModel* published, const KvRequest& kv,
                             const StoredWeights& stored, const std::string& headers);

/// Every fact that some model has, in order. @pre models is not empty
std::vector<ComparedRow> compared_rows(const std::vector<ComparedModel>& models);

/// {"generator", "models": [{"name", "kind", "facts", "weight_bytes", "memory"}], "rows": [{"key", "group", "label", "unit", "differs"}]}
Json comparison_json(const std::vector<ComparedModel>& models, const std::string& generator);

/// For a terminal of 100 columns, as far as the number of models allows; a star marks rows that differ.
std::string comparison_table(const std::vector<ComparedModel>& models);

std::string comparison_markdown(const std::vector<ComparedModel>& models);

/// For spreadsheets: a header and a line for each row, as long as it: group, fact, key, unit, differs, then the values of each model as in JSON;
/// "not disclosed", and nothing for what has no value.
std::vector<std::vector<std::string>> comparison_values(const std::vector<ComparedModel>& models);

/// The formats of the weights with each one's share of the bytes: "4-bit/128: 85.1 %, bf16: 14.9 %".
std::string weight_formats(const Checkpoint& checkpoint);

}  // namespace lagoon
