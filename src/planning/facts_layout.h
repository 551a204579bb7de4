// facts_layout.h: how a model orders its global and sliding layers, in words.
#pragma once

#include "checkpoint/model_config.h"

#include <span>
#include <string>

namespace lagoon {

struct LayoutText {
  std::string text;  // "1 global : 3 SWA, starting with global"; "all global"; "irregular: 3 global, 5 SWA"
  std::string note;  // how often the pattern repeats
};

/// A pattern is what repeats, whole but for its last time; it has a run of each kind, or repeats at least twice.
LayoutText layout_of(std::span<const LayerConfig> layers);

}  // namespace lagoon
