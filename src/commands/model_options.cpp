#include "commands/model_options.h"

#include "base/error.h"
#include "checkpoint/folder_access.h"
#include "commands/option_checks.h"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <system_error>

namespace lagoon {

void add_models_dir(CLI::App& parser, std::vector<std::string>& directories) {
  parser.add_option("--models-dir", directories, "look for models in this folder too, as NAME or ORG/NAME; may be repeated")
      ->allow_extra_args(false)
      ->check(not_empty())
      ->type_name("DIR")
      ->group("Of every command");
}

void use_models_dirs(const std::vector<std::string>& directories, CheckpointPlaces& places) {
  std::vector<std::filesystem::path> all;
  for (const std::string& directory : directories) {
    std::error_code error;
    const std::string why = why_closed(directory);
    const bool is_folder = std::filesystem::is_directory(directory, error);
    if (!is_folder && !why.empty()) fail(ErrorKind::invalid, "--models-dir {}", why);
    if (!is_folder) {
      fail(ErrorKind::invalid, "--models-dir {}: {}; give the folder that model folders are in", printable(directory, 4096),
           std::filesystem::exists(directory, error) ? "this is a file" : "there is no such folder");
    }
    all.emplace_back(directory);
  }
  all.insert(all.end(), places.models_dirs.begin(), places.models_dirs.end());
  places.models_dirs = each_once(all);
}

void refuse_speculation(CLI::App& parser) {
  for (const std::string name : {"--mtp", "--num-mtp-layers", "--speculative", "--speculative-config", "--speculative-model",
                                 "--num-speculative-tokens", "--draft-model", "--draft-tokens", "--draft", "--draft-n", "--spec-type",
                                 "--spec-draft-n-max", "--mtp-heads", "--num-nextn-predict-layers", "--eagle", "--medusa"}) {
    const auto refuse = [name](const std::vector<std::string>&) {
      fail(ErrorKind::unsupported,
           "{}: Laguna publishes no head for multi-token prediction or speculative decoding, and its DFlash drafters are separate checkpoints that "
           "Lagoon does not run; leave the option out",
           name);
    };
    // In no help text: it is understood only to say why not, and before anything that is missing beside it.
    parser.add_option_function<std::vector<std::string>>(name, refuse)->expected(0, 1)->allow_extra_args(false)->trigger_on_parse()->group("");
  }
}

}  // namespace lagoon
