// facts.h: what is known about a checkpoint, fact by fact: the value, where it comes from and what is counted. Facts come from
// config.json, from tensor headers, from the model's code, from arithmetic on other facts, and from what the publisher says.
#pragma once

#include "base/json.h"
#include "checkpoint/checkpoint.h"
#include "planning/kv_cost.h"
#include "planning/published_models.h"

#include <nlohmann/json.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lagoon {

/// Where a value was taken from. Kinds:
///   config         place is a JSON pointer into config.json
///   headers        counted from the headers of the weight files
///   calc           calculated; place says from what, excerpt the formula with its numbers
///   model code     holds for every Laguna, or is the default of a key that config.json lacks
///   published      said by the publisher; place says where
///   not disclosed  nobody says it
struct FactSource {
  std::string kind;
  std::string place;
  std::string excerpt;
};

struct Fact {
  std::string key;  // such as "attn.kv_heads": facts_catalogue.h has all of them
  std::string group;
  std::string label;
  Json value;  // null: not disclosed, does not apply, or is not shown; the note says which
  std::string unit;
  FactSource source;
  std::string note;
  std::string definition;  // what is counted
};

/// All facts of the catalogue, in its order.
/// @param published  what the publisher says about this model; nullptr if nobody is known to have published it
/// @param headers    where counts come from: the place of their source
/// @throws Error(invalid) as kv_cost
std::vector<Fact> facts_of(const Checkpoint& checkpoint, const PublishedModel* published, const KvRequest& kv,
                           const std::string& headers = "tensor headers");

/// nullptr if there is none.
const Fact* find_fact(std::span<const Fact> facts, std::string_view key);

/// [{"key", "group", "label", "value", "unit", "source": {"kind", "place", "excerpt"}, "note", "definition"}]
Json to_json(std::span<const Fact> facts);

}  // namespace lagoon
