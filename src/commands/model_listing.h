// model_listing.h: models that are here, each tried as far as can be without loading weights, so that none is called usable that would
// fail when it is asked something.
#pragma once

#include "base/json.h"
#include "commands/environment.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lagoon {

/// The sizes of a checkpoint whose headers are sound.
struct ModelSizes {
  std::string architecture;  // "LagunaForCausalLM"
  int64_t layers = 0;
  int64_t experts = 0;  // of each layer that has them; 0: none has
  std::string format;   // "MLX affine 4-bit/64"
  uint64_t weight_bytes = 0;
  uint64_t parameters = 0;
  uint64_t active_parameters = 0;
  int64_t max_context = 0;              // tokens, as the checkpoint says
  std::optional<int64_t> context_here;  // tokens that memory suffices for; nullopt: the machine does not say what it has
};

struct ListedModel {
  ModelLocation location;
  std::optional<ModelSizes> sizes;  // nullopt: it cannot be opened
  std::string reason;               // why it is not usable; empty: it is
  std::string chat_reason;          // usable, but not for chats: why
  std::string overridden;           // what config.json says where an alias says otherwise

  bool usable() const { return reason.empty(); }
};

/// Opens headers, tokenizer and template, and renders and encodes a small conversation. Never throws for what is wrong with the model.
ListedModel examine(const ModelLocation& location, const Environment& environment);

/// Every model of list_models(), examined.
std::vector<ListedModel> examine_all(const Environment& environment);

/// Keys: name, alias, folder, found_in, revision, model_type_override, overridden, architecture, format, weight_bytes, parameters,
/// active_parameters, max_context, context_here, usable, chat, reason, chat_reason. What is not known is null.
Json to_json(const ListedModel& model);

}  // namespace lagoon
