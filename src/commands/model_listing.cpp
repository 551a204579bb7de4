#include "commands/model_listing.h"

#include "base/byte_size.h"
#include "base/error.h"
#include "checkpoint/generation_config.h"
#include "checkpoint/hugging_face_cache.h"
#include "commands/interrupt.h"
#include "commands/model_runner.h"
#include "commands/progress.h"
#include "machine/file.h"
#include "planning/inspection.h"
#include "text/chat_template.h"
#include "text/jinja/json.h"
#include "text/tokenizer.h"
#include "text/vocabulary.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <system_error>

namespace lagoon {
namespace {

bool is_there(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::symlink_status(path, error).type() != std::filesystem::file_type::not_found;
}

/// " (3 files of this model are still .incomplete ...)" where a download was begun and not finished.
std::string unfinished_note(const ModelLocation& location) {
  const auto repository = repository_of_snapshot(location.folder);
  if (!repository) return {};
  const size_t count = unfinished_downloads(*repository, location.folder.parent_path().parent_path().parent_path());
  if (count == 0) return {};
  return fmt::format(" ({} {} in the cache still .incomplete: the download has not finished)", count, count == 1 ? "file is" : "files are");
}

/// A conversation of one word, as a chat would be. @throws Error
void try_chat(const std::filesystem::path& folder, const Tokenizer& tokenizer) {
  // One word does not need more; a template that turns in circles must not hold up the list.
  const jinja::RenderLimits limits = {.output_bytes = 16u << 20, .produced_bytes = 256u << 20, .steps = 1'000'000};
  ChatRequest request;
  request.messages = jinja::read_json(R"([{"role": "user", "content": "hi"}])", "messages");
  const ChatTemplate chat = ChatTemplate::load(folder);
  for (const bool thinking : {false, true}) {
    request.thinking = thinking;
    if (tokenizer.encode(chat.render(request, limits)).empty()) {
      fail(ErrorKind::corrupt, "{}: the chat template makes nothing of a conversation; fetch it again", printable_path(folder));
    }
  }
}

/// Whether the folder says anything of a chat template; base models do not.
bool has_template(const std::filesystem::path& folder) {
  constexpr uint64_t limit = 16u << 20;  // bytes
  if (is_there(folder / "chat_template.jinja")) return true;
  const std::filesystem::path config = folder / "tokenizer_config.json";
  return is_there(config) && inlined_template(read_text(SystemFiles(), config, limit)).has_value();
}

ModelSizes sizes_of(const Checkpoint& checkpoint, const Environment& environment) {
  const PartCounts counts = count_parts(checkpoint);
  return {.architecture = "LagunaForCausalLM",  // Checkpoint opens no other
          .layers = checkpoint.config().layer_count(),
          .experts = checkpoint.config().experts,
          .format = format_summary(checkpoint),
          .weight_bytes = checkpoint.weight_bytes(),
          .parameters = counts.total,
          .active_parameters = counts.active,
          .max_context = checkpoint.config().max_context,
          .context_here = context_that_fits(checkpoint, environment)};
}

void try_model(const Environment& environment, ListedModel& model) {
  const std::filesystem::path& folder = model.location.folder;
  const Checkpoint checkpoint = Checkpoint::open(model.location, SystemFiles());
  model.overridden = checkpoint.overridden();
  model.sizes = sizes_of(checkpoint, environment);
  const GenerationConfig advice = load_generation_config(folder, SystemFiles());
  if (!is_there(folder / "tokenizer.json")) {
    fail(ErrorKind::invalid,
         "{}: tokenizer.json is missing: text can neither be read nor written, only `logits` and `bench` work; fetch the whole checkpoint",
         printable_path(folder));
  }
  const Tokenizer tokenizer = Tokenizer::load(folder / "tokenizer.json");
  check_vocabulary(tokenizer, advice, checkpoint);
  if (!has_template(folder)) {
    model.chat_reason = "there is no chat template; `generate --raw` completes text";
  } else {
    try_chat(folder, tokenizer);
  }
  if (model.sizes->context_here != 0) return;
  fail(ErrorKind::over_budget, "{}: its weights take {}, and with them this machine has no memory left for any context",
       printable(model.location.name), format_gib(model.sizes->weight_bytes));
}

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(printable(text, 4096)); }

}  // namespace

ListedModel examine(const ModelLocation& location, const Environment& environment) {
  ListedModel model;
  model.location = location;
  model.reason = location.problem;
  if (!model.reason.empty()) return model;
  try {
    try_model(environment, model);
  } catch (const std::exception& error) {
    model.reason = error.what() + unfinished_note(location);
  }
  return model;
}

std::vector<ListedModel> examine_all(const Environment& environment) {
  std::vector<ListedModel> models;
  const std::vector<ModelLocation> locations = list_models(environment.places);
  // With --verbose each model is a line of its own.
  const bool lines = environment.console.verbosity() == Verbosity::verbose;
  ProgressLine progress(environment.error_is_terminal && !lines, "looking at models", "models");
  for (const ModelLocation& location : locations) {
    check_interrupt();
    environment.console.detail(fmt::format("model: {} ({})", describe(location), printable_path(location.folder)));
    models.push_back(examine(location, environment));
    progress.update(models.size(), locations.size());
  }
  return models;
}

Json to_json(const ListedModel& model) {
  Json object;
  object["name"] = printable(model.location.name, 4096);
  object["alias"] = text_or_null(model.location.alias);
  object["folder"] = text_or_null(model.location.folder.string());
  object["found_in"] = text_or_null(model.location.found_in);
  object["revision"] = text_or_null(model.location.revision);
  object["model_type_override"] = text_or_null(model.location.model_type.value_or(""));
  object["overridden"] = text_or_null(model.overridden);
  const bool opened = model.sizes.has_value();
  object["architecture"] = opened ? Json(model.sizes->architecture) : Json();
  object["format"] = opened ? Json(model.sizes->format) : Json();
  object["weight_bytes"] = opened ? Json(model.sizes->weight_bytes) : Json();
  object["parameters"] = opened ? Json(model.sizes->parameters) : Json();
  object["active_parameters"] = opened ? Json(model.sizes->active_parameters) : Json();
  object["max_context"] = opened ? Json(model.sizes->max_context) : Json();
  object["context_here"] = opened && model.sizes->context_here ? Json(*model.sizes->context_here) : Json();
  object["usable"] = model.usable();
  object["chat"] = model.usable() && model.chat_reason.empty();
  object["reason"] = text_or_null(model.reason);
  object["chat_reason"] = text_or_null(model.chat_reason);
  return object;
}

}  // namespace lagoon
