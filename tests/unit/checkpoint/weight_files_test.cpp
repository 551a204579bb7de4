#include "checkpoint/weight_files.h"

#include "checkpoint/checkpoint.h"
#include "support/checkpoint_builder.h"
#include "support/error_matchers.h"

#include <gtest/gtest.h>

#include <sys/stat.h>

namespace lagoon {
namespace {

using testing_support::CheckpointBuilder;
using testing_support::expect_error;
using testing_support::file_text;
using testing_support::write_file;

class WeightFilesOf : public ::testing::Test {
 protected:
  Checkpoint open() const { return Checkpoint::open(path().string(), {}, SystemFiles()); }
  void expect_refused(ErrorKind kind, const std::vector<std::string>& parts) const {
    expect_error([&] { open(); }, kind, parts);
  }
  const std::filesystem::path& path() const { return folder_.path(); }
  std::string index() const { return file_text(path() / "model.safetensors.index.json"); }
  void change_index(const std::string& from, const std::string& to) const {
    std::string text = index();
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos);
    write_file(path() / "model.safetensors.index.json", text.replace(at, from.size(), to));
  }
  testing_support::TemporaryFolder folder_;
};

TEST_F(WeightFilesOf, OneFileOpens) {
  CheckpointBuilder().write(path());
  EXPECT_EQ(open().files().size(), 1u);
}

TEST_F(WeightFilesOf, ShardsOpenWithTheirIndex) {
  CheckpointBuilder().write(path(), 3);
  EXPECT_EQ(open().files().size(), 3u);
}

TEST_F(WeightFilesOf, NumberedShardsOpenWithoutAnIndex) {
  CheckpointBuilder().write(path(), 3, false);
  EXPECT_EQ(open().files().size(), 3u);
}

TEST_F(WeightFilesOf, OnlyFileMayHaveAnotherName) {
  CheckpointBuilder().write(path());
  std::filesystem::rename(path() / "model.safetensors", path() / "weights.safetensors");
  EXPECT_EQ(open().files().size(), 1u);
}

TEST_F(WeightFilesOf, MissingShardIsNamedWithTheCount) {
  CheckpointBuilder().write(path(), 3);
  std::filesystem::remove(path() / "model-00002-of-00003.safetensors");
  expect_refused(ErrorKind::corrupt, {"1 of 3 files", "`model-00002-of-00003.safetensors`", "incomplete"});
}

TEST_F(WeightFilesOf, MissingShardIsNamedWithoutAnIndexToo) {
  CheckpointBuilder().write(path(), 3, false);
  std::filesystem::remove(path() / "model-00003-of-00003.safetensors");
  expect_refused(ErrorKind::corrupt, {"1 of 3 files", "`model-00003-of-00003.safetensors`"});
  std::filesystem::remove(path() / "model-00002-of-00003.safetensors");
  expect_refused(ErrorKind::corrupt, {"2 of 3 files", "`model-00002-of-00003.safetensors`"});
}

TEST_F(WeightFilesOf, LinkToNothingCountsAsMissing) {
  CheckpointBuilder().write(path(), 2);
  std::filesystem::remove(path() / "model-00002-of-00002.safetensors");
  std::filesystem::create_symlink("../blobs/nothing", path() / "model-00002-of-00002.safetensors");
  expect_refused(ErrorKind::corrupt, {"1 of 2 files", "`model-00002-of-00002.safetensors`"});
}

TEST_F(WeightFilesOf, FilesThatAreNoSeriesAreRefused) {
  CheckpointBuilder().write(path(), 2, false);
  write_file(path() / "other.safetensors", "");
  expect_refused(ErrorKind::corrupt, {"3 .safetensors files", "`other.safetensors`"});
}

TEST_F(WeightFilesOf, IndexMustNotLeaveTheFolder) {
  CheckpointBuilder().write(path(), 2);
  for (const char* name : {"../model-00001-of-00002.safetensors", "/etc/passwd", "sub/x.safetensors", "", "x.bin"}) {
    write_file(path() / "model.safetensors.index.json", Json{{"weight_map", {{"lm_head.weight", name}}}}.dump());
    expect_refused(ErrorKind::corrupt, {"model.safetensors.index.json", "`lm_head.weight`", "no .safetensors file of this folder"});
  }
}

TEST_F(WeightFilesOf, TensorOfTheIndexThatIsInNoFileIsNamed) {
  CheckpointBuilder().write(path(), 2);
  change_index("\"weight_map\":{", R"("weight_map":{"model.extra.weight":"model-00001-of-00002.safetensors",)");
  expect_refused(ErrorKind::corrupt, {"one tensor of the index is in no file", "`model.extra.weight`"});
}

TEST_F(WeightFilesOf, TensorThatTheIndexDoesNotKnowIsNamed) {
  CheckpointBuilder().write(path(), 2);
  change_index("\"lm_head.weight\"", "\"lm_head.weights\"");
  expect_refused(ErrorKind::corrupt, {"`lm_head.weight`", "not in the index"});
}

TEST_F(WeightFilesOf, TensorInAnotherFileThanTheIndexSaysIsNamed) {
  CheckpointBuilder().write(path(), 2);
  change_index(R"("model.embed_tokens.weight":"model-00001)", R"("model.embed_tokens.weight":"model-00002)");
  expect_refused(ErrorKind::corrupt, {"`model.embed_tokens.weight` should be in `model-00002-of-00002.safetensors`", "is in `model-00001"});
}

TEST_F(WeightFilesOf, TensorInTwoFilesIsNamed) {
  CheckpointBuilder().write(path(), 2, false);
  std::filesystem::copy_file(path() / "model-00001-of-00002.safetensors", path() / "model-00002-of-00002.safetensors",
                             std::filesystem::copy_options::overwrite_existing);
  expect_refused(ErrorKind::corrupt,
                 {"`model.embed_tokens.weight` is in `model-00001-of-00002.safetensors` and in `model-00002-of-00002.safetensors`"});
}

TEST_F(WeightFilesOf, IndexBesideOneFileIsCheckedIfItSpeaksOfIt) {
  CheckpointBuilder().write(path());
  write_file(path() / "model.safetensors.index.json", R"({"weight_map":{"lm_head.weight":"model.safetensors"}})");
  expect_refused(ErrorKind::corrupt, {"not in the index"});
}

TEST_F(WeightFilesOf, TwoCheckpointsInOneFolderAreRefused) {
  CheckpointBuilder().write(path());
  const auto refused = [&] {
    expect_refused(ErrorKind::corrupt, {"`model.safetensors` is here", "`model-00001-of-00002.safetensors`", "remove the files of the one"});
  };
  write_file(path() / "model.safetensors.index.json", R"({"weight_map":{"lm_head.weight":"model-00001-of-00002.safetensors"}})");
  refused();
  std::filesystem::remove(path() / "model.safetensors.index.json");
  write_file(path() / "model-00001-of-00002.safetensors", "");
  refused();
}

TEST_F(WeightFilesOf, OneFileOfTheIndexMayBeMissingBesideTheOther) {
  CheckpointBuilder builder;
  builder.write(path());
  Json map = Json::object();
  for (const testing_support::BuiltTensor& tensor : builder.tensors) map[tensor.name] = "model.safetensors";
  map["lm_head.weight"] = "model-00002-of-00002.safetensors";
  write_file(path() / "model.safetensors.index.json", Json{{"weight_map", map}}.dump());
  expect_refused(ErrorKind::corrupt, {"1 of 2 files with weights is missing: `model-00002-of-00002.safetensors`", "fetch it again"});
}

TEST_F(WeightFilesOf, BrokenIndexIsNamed) {
  CheckpointBuilder().write(path(), 2);
  const std::vector<std::pair<std::string, std::string>> faults = {
      {"", "JSON"},
      {"[]", "an object"},
      {"{}", "`weight_map` is missing"},
      {R"({"weight_map":{}})", "no tensor"},
      {R"({"weight_map":{"a":1}})", "`a` has something else"},
      {R"({"weight_map":{"a":{}}})", "`a` has something else"},
      {R"({"weight_map":{"a":"x.safetensors","a":"x.safetensors"}})", "`a` stands twice"},
      {R"({"weight_map":{"a":"x.safetensors"})", "JSON"},
      {std::string(100000, '['), "an object"},
      {"{\"metadata\":" + std::string(100000, '['), "nested"}};
  std::string many = "{\"weight_map\":{";
  for (int i = 0; i <= 10'000; ++i) many += (i == 0 ? "\"t" : ",\"t") + std::to_string(i) + "\":\"f" + std::to_string(i) + ".safetensors\"";
  std::vector<std::pair<std::string, std::string>> all = faults;
  all.emplace_back(many + "}}", "`weight_map` names more than 10,000 files");
  for (const auto& [text, part] : all) {
    write_file(path() / "model.safetensors.index.json", text);
    expect_refused(ErrorKind::corrupt, {"model.safetensors.index.json", part});
  }
}

TEST_F(WeightFilesOf, EmptyFolderSaysWhatIsNeeded) { expect_refused(ErrorKind::invalid, {path().string(), "no weights", ".safetensors"}); }

TEST_F(WeightFilesOf, IndexAloneIsAnIncompleteDownload) {
  CheckpointBuilder().write(path(), 2);
  std::filesystem::remove(path() / "model-00001-of-00002.safetensors");
  std::filesystem::remove(path() / "model-00002-of-00002.safetensors");
  expect_refused(ErrorKind::corrupt, {"incomplete"});
}

TEST_F(WeightFilesOf, MissingConfigIsNamed) {
  CheckpointBuilder().write(path());
  std::filesystem::remove(path() / "config.json");
  expect_refused(ErrorKind::invalid, {"config.json is missing"});
}

TEST_F(WeightFilesOf, OtherFormatsAreNamed) {
  const std::vector<std::pair<std::string, std::string>> formats = {
      {"laguna-Q4_K_M.gguf", "GGUF"},     {"pytorch_model.bin", "PyTorch"}, {"pytorch_model-00001-of-00002.bin", "PyTorch"},
      {"consolidated.00.pth", "PyTorch"}, {"model.pt", "PyTorch"},          {"weights.npz", "NumPy"}};
  for (const auto& [name, format] : formats) {
    write_file(path() / name, "x");
    expect_refused(ErrorKind::unsupported, {name, format, "safetensors checkpoint"});
    std::filesystem::remove(path() / name);
  }
}

TEST_F(WeightFilesOf, AdapterIsRefusedEvenBesideWeights) {
  CheckpointBuilder().write(path());
  write_file(path() / "adapter_config.json", "{}");
  expect_refused(ErrorKind::unsupported, {"adapter_config.json", "LoRA", "merge"});
}

TEST_F(WeightFilesOf, PipeOrFolderInPlaceOfAFileIsNamed) {
  CheckpointBuilder().write(path());
  std::filesystem::remove(path() / "model.safetensors");
  ASSERT_EQ(::mkfifo((path() / "model.safetensors").c_str(), 0600), 0);
  expect_refused(ErrorKind::invalid, {"model.safetensors", "a pipe"});
  std::filesystem::remove(path() / "model.safetensors");
  std::filesystem::create_directory(path() / "model.safetensors");
  expect_refused(ErrorKind::invalid, {"model.safetensors", "a folder"});
}

TEST_F(WeightFilesOf, FileCutAnywhereIsRefused) {
  CheckpointBuilder().write(path());
  const std::string whole = file_text(path() / "model.safetensors");
  for (const size_t kept : {size_t{0}, size_t{7}, size_t{8}, size_t{100}, whole.size() / 2, whole.size() - 1}) {
    write_file(path() / "model.safetensors", whole.substr(0, kept));
    expect_refused(ErrorKind::corrupt, {"model.safetensors", "incomplete"});
  }
}

}  // namespace
}  // namespace lagoon
