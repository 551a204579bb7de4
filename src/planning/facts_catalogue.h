// facts_catalogue.h: the facts there are, in the order in which they are shown, each with what it counts and who can say it.
#pragma once

#include <span>
#include <string_view>

namespace lagoon {

enum class FactType { text, count, number, flag };

/// Who says a fact: the checkpoint (its configuration, headers, code, arithmetic), its publisher, or the checkpoint with a
/// statement of the publisher to be compared with.
enum class FactOrigin { checkpoint, publisher, both };

struct FactKind {
  std::string_view key;
  std::string_view group;
  std::string_view label;
  FactType type = FactType::text;
  FactOrigin origin = FactOrigin::checkpoint;
  std::string_view unit;
  std::string_view definition;
};

std::span<const FactKind> fact_catalogue();

/// nullptr if there is no such fact.
const FactKind* find_fact_kind(std::string_view key);

}  // namespace lagoon
