// published_models.h: what publishers say about their models. Each model is a file of data/models, which the program carries:
//   {"id": "laguna-s-2.1", "name": "Laguna S 2.1", "repository": "poolside/Laguna-S-2.1",
//    "shape": {"hidden_size": 3072, ...},
//    "statements": {"release.license": {"value": "openmdw-1.1", "place": "model card front matter", "excerpt": "...", "note": "..."}},
//    "notes": {"moe.router_score": "..."}}
// A statement's key is that of a fact that the publisher alone can say; "excerpt" and "note" may be left out. "notes" speak about facts of
// any kind, and may be left out as a whole. A checkpoint belongs to the model whose shape it has, whatever its folder is called.
#pragma once

#include "base/json.h"
#include "checkpoint/model_config.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lagoon {

struct PublishedStatement {
  Json value;         // of the type that the fact has
  std::string place;  // where it is said
  std::string excerpt;
  std::string note;
};

struct PublishedModel {
  std::string id;
  std::string name;
  std::string repository;
  std::map<std::string, int64_t> shape;  // key of config.json -> value; which keys: published_models.cpp
  std::map<std::string, PublishedStatement> statements;
  std::map<std::string, std::string> notes;

  /// nullptr if the publisher does not say it.
  const PublishedStatement* statement(const std::string& key) const;
};

/// @param what  the file, which begins each sentence
/// @throws Error(corrupt) for unknown and missing keys, wrong types, empty texts, and keys that are no facts
PublishedModel read_published_model(const Json& document, std::string_view what);

/// All of data/models, sorted by file name. @throws Error(corrupt) as read_published_model
std::vector<PublishedModel> published_models();

/// The model that has this shape; nullptr if none has.
const PublishedModel* find_published_model(std::span<const PublishedModel> models, const ModelConfig& config);

}  // namespace lagoon
