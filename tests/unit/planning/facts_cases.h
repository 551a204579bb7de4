// facts_cases.h: facts of checkpoints for these tests, with the place and the note of each at hand.
#pragma once

#include "checkpoint/format_map.h"
#include "checkpoint/synthetic.h"
#include "checkpoint/synthetic_shapes.h"
#include "planning/facts.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace lagoon::testing_support {

class FactsUnderTest {
 public:
  explicit FactsUnderTest(const Checkpoint& checkpoint, const KvRequest& kv = {}) {
    const std::vector<PublishedModel> models = published_models();
    const PublishedModel* published = find_published_model(models, checkpoint.config());
    id = published == nullptr ? "" : published->id;
    facts = facts_of(checkpoint, published, kv);
  }

  std::string id;  // of the published model; empty: none
  std::vector<Fact> facts;

  Fact at(std::string_view key) const {
    const Fact* fact = find_fact(facts, key);
    if (fact != nullptr) return *fact;
    ADD_FAILURE() << "no fact " << key;
    return {};
  }
  Json value(std::string_view key) const { return at(key).value; }
  /// "config /hidden_size"
  std::string source(std::string_view key) const {
    const Fact fact = at(key);
    return fact.source.kind + (fact.source.place.empty() ? "" : " " + fact.source.place);
  }
  std::string note(std::string_view key) const { return at(key).note; }
};

inline FactsUnderTest facts_of_spec(std::string_view spec, const KvRequest& kv = {}) {
  return FactsUnderTest(open_synthetic(parse_synthetic_spec(spec)), kv);
}

/// config.json of a whole published shape.
inline Json config_of_shape(std::string_view name) {
  const PublishedShape* shape = find_shape(name);
  return config_of(*shape, shape->layers);
}

inline FactsUnderTest facts_of_config(const Json& config, const KvRequest& kv = {}) {
  return FactsUnderTest(open_described("model", config, *FormatMap::uniform("4/64")), kv);
}

}  // namespace lagoon::testing_support
