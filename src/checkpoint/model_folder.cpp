// model_folder.cpp: from what a person types to a folder. A path wins over a repository of the Hugging Face cache; `nano` is a
// reserved word (the folder of that name is ./nano).
#include "base/error.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/hugging_face_cache.h"

#include <system_error>

namespace lagoon {
namespace {

std::string shown(const std::filesystem::path& path) { return printable(path.string(), 4096); }

bool is_folder(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

[[noreturn]] void refuse_file(const std::string& model) {
  const std::filesystem::path path(model);
  const std::string extension = path.extension().string();
  if (extension == ".gguf") {
    fail(ErrorKind::unsupported, "{}: this is a GGUF file, which Lagoon does not read; give the folder of a safetensors checkpoint", shown(path));
  }
  if (extension == ".bin" || extension == ".pt" || extension == ".pth") {
    fail(ErrorKind::unsupported, "{}: this is a PyTorch file, which Lagoon does not read; give the folder of a safetensors checkpoint", shown(path));
  }
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  fail(ErrorKind::invalid, "{}: this is a file, a folder was expected; give the folder that it is in: {}", shown(path), shown(folder));
}

std::filesystem::path shipped_nano(const CheckpointPlaces& places) {
  std::filesystem::path folder = places.shipped_models / "nano";
  if (!places.shipped_models.empty() && is_folder(folder)) return folder;
  fail(ErrorKind::invalid, "nano: the model that ships with Lagoon is not at {}; run Lagoon from its source tree or its installation, or give a path",
       shown(folder));
}

}  // namespace

std::filesystem::path find_model_folder(const std::string& model, const CheckpointPlaces& places) {
  if (model.empty() || model.find('\0') != std::string::npos) {
    fail(ErrorKind::invalid, "the model is not named; give a folder, `org/name` of the Hugging Face cache, or `nano`");
  }
  if (model == "nano") return shipped_nano(places);
  if (is_folder(model)) return model;
  std::error_code error;
  if (std::filesystem::exists(model, error)) refuse_file(model);
  const bool must_be_path = std::filesystem::path(model).is_absolute() || model.front() == '.';
  const auto repository = must_be_path ? std::nullopt : parse_repository(model);
  if (repository) return find_in_hub_cache(*repository, places.hub_cache);
  const std::filesystem::path tried = std::filesystem::absolute(model, error);
  fail(ErrorKind::invalid, "{}: there is no folder {}{}; give a folder, `org/name` of the Hugging Face cache, or `nano`", printable(model),
       shown(error ? std::filesystem::path(model) : tried.lexically_normal()), must_be_path ? "" : ", and this is no repository name");
}

}  // namespace lagoon
