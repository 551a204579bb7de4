// `lagoon models`: everything that is here, what is usable told from what is not, and why.
#include "base/json.h"
#include "support/checkpoint_builder.h"
#include "support/expect_refused.h"
#include "support/run_program.h"
#include "support/temporary_folder.h"
#include "support/without_privileges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace lagoon {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using testing_support::CheckpointBuilder;
using testing_support::ClosedFolder;
using testing_support::expect_refused;
using testing_support::file_text;
using testing_support::open_to_all;
using testing_support::ProgramRun;
using testing_support::run_lagoon;
using testing_support::TemporaryFolder;
using testing_support::WithoutPrivileges;
using testing_support::write_file;

const fs::path nano = fs::path(LAGOON_SOURCE_DIR) / "models/nano";
const std::string hash = "1111e85e7e0aae7b0a504d156bd36a616ec9fea3";

class Models : public ::testing::Test {
 protected:
  Models() {
    fs::create_directories(hub());
    fs::create_directories(directory());
    config_ = folder_.write("config.json", "{}");
  }
  fs::path hub() const { return folder_.path() / "hub"; }
  fs::path directory() const { return folder_.path() / "models"; }
  ProgramRun run(std::vector<std::string> arguments, bool with_directory = true) const {
    if (with_directory) arguments.insert(arguments.end(), {"--models-dir", directory().string()});
    return run_lagoon(arguments, {.environment = {"LAGOON_CONFIG=" + config_.string(), "HF_HUB_CACHE=" + hub().string()}});
  }
  /// The row of this name in `lagoon models --json`.
  Json row(const std::string& name) const {
    const ProgramRun listed = run({"models", "--json"});
    EXPECT_EQ(listed.exit_code, 0) << listed.error;
    const Json document = parse_json(listed.output, "output");
    for (const Json& model : document.at("models")) {
      if (model.at("name") == name || model.at("alias") == name) return model;
    }
    ADD_FAILURE() << name << " is not listed: " << listed.output;
    return {};
  }
  /// A copy of nano, without weights copied.
  fs::path copy_nano(const fs::path& to) const {
    fs::create_directories(to);
    for (const auto& file : fs::directory_iterator(nano)) fs::create_symlink(file.path(), to / file.path().filename());
    return to;
  }
  void replace(const fs::path& model, const std::string& file, const std::string& text) const {
    fs::remove(model / file);
    write_file(model / file, text);
  }
  void expect_unusable(const std::string& name, const std::string& why) const {
    SCOPED_TRACE(name);
    const Json model = row(name);
    ASSERT_TRUE(model.is_object());
    EXPECT_EQ(model.at("usable"), false);
    EXPECT_EQ(model.at("chat"), false);
    EXPECT_THAT(model.at("reason").get<std::string>(), HasSubstr(why));
  }
  TemporaryFolder folder_;
  fs::path config_;
};

TEST_F(Models, NanoIsListedWithWhatItIs) {
  const Json model = row("nano");
  EXPECT_EQ(model.at("usable"), true);
  EXPECT_EQ(model.at("chat"), true);
  EXPECT_EQ(model.at("architecture"), "LagunaForCausalLM");
  EXPECT_EQ(model.at("format"), "bf16");
  EXPECT_EQ(model.at("parameters"), 6958688);
  EXPECT_EQ(model.at("weight_bytes"), 13917824);
  EXPECT_EQ(model.at("max_context"), 4096);
  EXPECT_EQ(model.at("context_here"), 4096);
  EXPECT_EQ(model.at("found_in"), "shipped");
  EXPECT_TRUE(model.at("reason").is_null());
  const ProgramRun table = run({"models"});
  EXPECT_THAT(table.output, HasSubstr("nano"));
  EXPECT_THAT(table.output, HasSubstr("architecture"));
  EXPECT_THAT(table.output, HasSubstr("laguna, 8 layers, 32 experts"));
  EXPECT_THAT(table.output, HasSubstr("4,096"));
  EXPECT_THAT(table.output, HasSubstr(hub().string()));
  EXPECT_THAT(table.output, Not(HasSubstr("Not usable")));
  EXPECT_EQ(table.error, "");
}

TEST_F(Models, CacheAndDirectoriesAreListedAndCanBeRun) {
  copy_nano(hub() / "models--org--Laguna-Nano" / "snapshots" / hash);
  write_file(hub() / "models--org--Laguna-Nano" / "refs" / "main", hash);
  copy_nano(directory() / "own");
  EXPECT_EQ(row("org/Laguna-Nano").at("revision"), hash);
  EXPECT_EQ(row("org/Laguna-Nano").at("found_in"), "Hugging Face cache");
  EXPECT_EQ(row("own").at("found_in"), "models directory");
  for (const char* name : {"org/Laguna-Nano", "laguna-n", "own", "nano"}) {
    EXPECT_EQ(run({"generate", name, "What is 17 * 24?"}).output, "17 * 24 = 408\n") << name;
    EXPECT_EQ(run({"tokenize", name, "hi"}).exit_code, 0) << name;
  }
  EXPECT_EQ(run({"render", "laguna-n@1111", "--messages", folder_.write("m.json", R"([{"role": "user", "content": "hi"}])")}).exit_code, 0);
}

TEST_F(Models, EveryUsableModelAnswersAndNoOtherIsCalledUsable) {
  copy_nano(directory() / "sound");
  replace(copy_nano(directory() / "broken-template"), "chat_template.jinja", "{% for %}");
  replace(copy_nano(directory() / "refusing-template"), "chat_template.jinja", "{{ raise_exception('no') }}");
  replace(copy_nano(directory() / "silent-template"), "chat_template.jinja", "{# nothing #}");
  replace(copy_nano(directory() / "stub"), "chat_template.jinja", "{% include 'other.jinja' %}");
  replace(copy_nano(directory() / "broken-tokenizer"), "tokenizer.json", "{}");
  fs::remove(copy_nano(directory() / "no-tokenizer") / "tokenizer.json");
  replace(copy_nano(directory() / "broken-generation"), "generation_config.json", R"({"temperature": "hot"})");
  const Json document = parse_json(run({"models", "--json"}).output, "output");
  ASSERT_EQ(document.at("models").size(), 9u);
  for (const Json& model : document.at("models")) {
    const auto name = model.at("name").get<std::string>();
    EXPECT_EQ(model.at("usable"), name == "nano" || name == "sound") << model.dump();
    EXPECT_EQ(run({"generate", name, "What is 17 * 24?"}).exit_code == 0, model.at("usable").get<bool>()) << name;
  }
}

TEST_F(Models, OtherModelsAndFormatsSayWhy) {
  const auto with_config = [&](const std::string& name, const std::string& key, const Json& value) {
    const fs::path model = copy_nano(directory() / name);
    Json config = parse_json(file_text(nano / "config.json"), "config");
    config[key] = value;
    replace(model, "config.json", config.dump());
  };
  with_config("llama", "model_type", "llama");
  with_config("drafter", "architectures", Json::array({"DFlashLagunaForCausalLM"}));
  with_config("mtp", "num_nextn_predict_layers", 1);
  with_config("fp8", "quantization_config", {{"quant_method", "compressed-tensors"}, {"format", "float-quantized"}});
  with_config("wrong", "hidden_size", 256);
  write_file(directory() / "packed" / "model.gguf", "GGUF");
  write_file(directory() / "torch" / "config.json", "{}");
  write_file(directory() / "torch" / "pytorch_model.bin", "x");
  write_file(directory() / "adapter" / "adapter_model.safetensors", "x");
  expect_unusable("llama", "`llama`; Lagoon runs `laguna`");
  expect_unusable("drafter", "DFlashLagunaForCausalLM");
  expect_unusable("mtp", "multi-token prediction");
  expect_unusable("fp8", "FP8");
  expect_unusable("wrong", "was needed");
  expect_unusable("packed", "GGUF");
  expect_unusable("torch", "PyTorch");
  expect_unusable("adapter", "LoRA");
  const ProgramRun table = run({"models"});
  EXPECT_EQ(table.exit_code, 0);
  EXPECT_THAT(table.output, HasSubstr("Not usable (Lagoon runs Laguna checkpoints, model_type `laguna`"));
  EXPECT_THAT(table.output, HasSubstr("nano"));
}

TEST_F(Models, DamagedFilesAreUnusable) {
  replace(copy_nano(directory() / "no-json"), "config.json", "{");
  replace(copy_nano(directory() / "list"), "config.json", "[]");
  replace(copy_nano(directory() / "pointer"), "model.safetensors", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n");
  replace(copy_nano(directory() / "short"), "model.safetensors", file_text(nano / "model.safetensors").substr(0, 100000));
  replace(copy_nano(directory() / "empty"), "model.safetensors", "");
  fs::remove(copy_nano(directory() / "no-config") / "config.json");
  fs::remove(copy_nano(directory() / "dangling") / "config.json");
  fs::create_symlink("gone", directory() / "dangling" / "config.json");
  fs::remove(copy_nano(directory() / "folder") / "model.safetensors");
  fs::create_directories(directory() / "folder" / "model.safetensors");
  for (const char* name : {"no-json", "list", "pointer", "short", "empty", "no-config", "dangling", "folder"}) expect_unusable(name, name);
}

TEST_F(Models, AnUnfinishedDownloadSaysSo) {
  const fs::path repository = hub() / "models--org--half";
  write_file(repository / "refs" / "main", hash);
  const fs::path snapshot = repository / "snapshots" / hash;
  CheckpointBuilder().write(snapshot, 3);
  fs::remove(snapshot / "model-00002-of-00003.safetensors");
  expect_unusable("org/half", "model-00002-of-00003.safetensors");
  expect_unusable("org/half", "the download is incomplete");
  EXPECT_THAT(row("org/half").at("reason").get<std::string>(), Not(HasSubstr("still .incomplete")));
  write_file(repository / "blobs" / "abc.incomplete", "x");
  expect_unusable("org/half", "1 file is in the cache still .incomplete");
  write_file(hub() / "models--org--begun" / "blobs" / "abc.incomplete", "x");
  expect_unusable("org/begun", "holds no snapshot");
}

TEST_F(Models, AModelWithoutTemplateCompletesText) {
  fs::remove(copy_nano(directory() / "base") / "chat_template.jinja");
  const Json model = row("base");
  EXPECT_EQ(model.at("usable"), true);
  EXPECT_EQ(model.at("chat"), false);
  EXPECT_THAT(model.at("chat_reason").get<std::string>(), HasSubstr("--raw"));
  EXPECT_THAT(run({"models"}).output, HasSubstr("base: there is no chat template"));
}

TEST_F(Models, AliasRevisionAndOverrideAreVisible) {
  const fs::path snapshot = copy_nano(hub() / "models--org--odd" / "snapshots" / hash);
  Json config = parse_json(file_text(nano / "config.json"), "config");
  config["model_type"] = "odd";
  config["architectures"] = Json::array({"OddForCausalLM"});
  replace(snapshot, "config.json", config.dump());
  write_file(config_, R"({"models": {"fixed": {"model": "org/odd", "revision": "1111", "model_type": "laguna"}, "gone": {"model": "org/none"}}})");
  expect_unusable("gone", "org/none");
  const Json model = row("fixed");
  EXPECT_EQ(model.at("usable"), true) << model.dump();
  EXPECT_EQ(model.at("name"), "org/odd");
  EXPECT_EQ(model.at("revision"), hash);
  EXPECT_EQ(model.at("model_type_override"), "laguna");
  EXPECT_EQ(model.at("overridden"), "model_type `odd`");
  const ProgramRun table = run({"models"});
  EXPECT_THAT(table.output, HasSubstr("fixed = org/odd@1111e85e, model_type laguna"));
  EXPECT_THAT(table.output, HasSubstr("config.json says model_type `odd`"));
  EXPECT_THAT(table.output, HasSubstr("`odd`; Lagoon runs `laguna`"));  // by its own name it is not usable
  const ProgramRun inspected = run({"inspect", "fixed"});
  EXPECT_THAT(inspected.output, HasSubstr("overridden; config.json says model_type `odd`"));
  EXPECT_EQ(run({"generate", "fixed", "What is 17 * 24?"}).output, "17 * 24 = 408\n");
}

TEST_F(Models, DirectoryMustBeAFolderAndMayBeRepeated) {
  expect_refused(run({"models", "--models-dir", "/nowhere/at/all"}), "--models-dir /nowhere/at/all");
  expect_refused(run({"tokenize", "nano", "hi", "--models-dir", config_.string()}), "this is a file");
  expect_refused(run({"models", "--models-dir", ""}), "--models-dir");
  copy_nano(folder_.path() / "more" / "second");
  const ProgramRun both = run({"models", "--models-dir", (folder_.path() / "more").string()});
  EXPECT_THAT(both.output, HasSubstr("second"));
  EXPECT_EQ(run({"--models-dir", (folder_.path() / "more").string(), "tokenize", "second", "hi"}, false).exit_code, 0);
}

TEST_F(Models, DirectoriesBeforeAndBehindTheCommandAddUp) {
  const std::string more = (folder_.path() / "more").string();
  copy_nano(folder_.path() / "more" / "second");
  copy_nano(directory() / "own");
  const ProgramRun listed = run({"--models-dir", more, "models"});
  EXPECT_THAT(listed.output, HasSubstr("second"));
  EXPECT_THAT(listed.output, HasSubstr("own"));
  for (const char* name : {"second", "own"}) EXPECT_EQ(run({"--models-dir", more, "tokenize", name, "hi"}).exit_code, 0) << name;
  expect_refused(run({"--models-dir", "/nowhere/at/all", "models"}), "--models-dir /nowhere/at/all");
}

TEST_F(Models, ADirectoryGivenSeveralTimesIsLookedThroughOnce) {
  copy_nano(directory() / "own");
  const std::string again = directory().string() + "/../models/";
  fs::create_directory_symlink(directory(), folder_.path() / "link");
  write_file(config_, Json{{"models_dirs", {directory().string(), "/unmounted/disk", "/unmounted/../unmounted/disk"}}}.dump());
  const ProgramRun listed = run({"--models-dir", again, "models", "--json", "--models-dir", (folder_.path() / "link").string()});
  const Json document = parse_json(listed.output, "output");
  std::vector<std::string> names;
  for (const Json& model : document.at("models")) names.push_back(model.at("name").get<std::string>());
  EXPECT_THAT(names, testing::ElementsAre("nano", "own", "/unmounted/disk"));
}

TEST_F(Models, WhatCannotBeReachedIsListedWithTheReason) {
  open_to_all(folder_.path());
  fs::create_directory_symlink(folder_.path() / "gone", hub() / "models--big--Laguna");
  copy_nano(directory() / "shut");
  const ClosedFolder shut(directory() / "shut");
  expect_unusable("big/Laguna", "dangling link");
  const WithoutPrivileges nobody;
  expect_unusable("shut", "Permission denied");
  for (const char* command : {"facts", "inspect", "plan"}) expect_refused(run({command, "shut"}), "Permission denied", 1);
  expect_refused(run({"inspect", (directory() / "shut").string()}), "Permission denied", 1);
}

TEST_F(Models, ShortNamesReachNanoAndAliases) {
  write_file(config_, R"({"models": {"pin": {"model": "nano"}}})");
  for (const char* name : {"NANO", "Nano", "nan", "pi"}) {
    EXPECT_EQ(run({"inspect", name}).exit_code, 0) << name;
    EXPECT_EQ(run({"tokenize", name, "hi"}).output, run({"tokenize", "nano", "hi"}).output) << name;
  }
}

TEST_F(Models, DirectoriesOfTheConfigFileCount) {
  copy_nano(folder_.path() / "more" / "second");
  write_file(config_, Json{{"models_dirs", {(folder_.path() / "more").string(), "/unmounted/disk"}}}.dump());
  EXPECT_EQ(row("second").at("usable"), true);
  expect_unusable("/unmounted/disk", "no such models directory");
  EXPECT_EQ(run({"tokenize", "second", "hi"}, false).exit_code, 0);
}

TEST_F(Models, FormatsAreTold) {
  const auto build = [&](const std::string& name, auto&& change) {
    CheckpointBuilder builder;
    change(builder);
    builder.write(directory() / name);
  };
  build("four", [](CheckpointBuilder& builder) { builder.quantize("proj", 4, 32); });
  build("mixed", [](CheckpointBuilder& builder) { builder.quantize("q_proj", 5, 64).quantize("gate_proj", 8, 32); });
  EXPECT_EQ(row("four").at("format"), "MLX affine 4-bit/32");
  EXPECT_EQ(row("mixed").at("format"), "MLX affine mixed 5,8-bit/32,64");
  expect_unusable("four", "tokenizer.json is missing");
}

TEST_F(Models, SpeculationIsRefusedWithTheReason) {
  for (const std::vector<std::string>& options : {std::vector<std::string>{"--mtp"},
                                                  {"--mtp", "3"},
                                                  {"--speculative"},
                                                  {"--draft-model", "org/drafter"},
                                                  {"--num-speculative-tokens=4"},
                                                  {"--draft", "4"},
                                                  {"--draft-n=4"},
                                                  {"--spec-type", "draft"},
                                                  {"--spec-draft-n-max", "3"},
                                                  {"--mtp-heads", "1"},
                                                  {"--num-nextn-predict-layers", "1"},
                                                  {"--eagle"},
                                                  {"--medusa", "x"}}) {
    for (std::vector<std::string> command :
         {std::vector<std::string>{"generate", "nano", "hi"}, {"logits", "nano"}, {"logits"}, {"bench", "nano"}, {"plan", "nano"}}) {
      command.insert(command.end(), options.begin(), options.end());
      expect_refused(run(command), "Laguna publishes no head for multi-token prediction");
    }
  }
}

}  // namespace
}  // namespace lagoon
