// Damaged weights: every command that opens a checkpoint says in one sentence which file and tensor, what was found and what was needed.
#include "faults/program/hostile.h"

namespace lagoon {
namespace {

using namespace testing_support;

std::string deep(const std::string& front) {
  std::string text = front;
  for (int level = 0; level < 100'000; ++level) text += "[";
  return text;
}

std::string with_length(uint64_t length) {
  std::string text(sizeof length, '\0');
  std::memcpy(text.data(), &length, sizeof length);
  return text + NanoWeights::get().header.dump();
}

Json embedding_offsets() { return NanoWeights::get().header[embedding_name]["data_offsets"]; }

std::string million_tensors() {
  std::string header = "{";
  for (int at = 0; at < 1'000'000; ++at)
    header += fmt::format(R"({}"t{}":{{"dtype":"F32","shape":[],"data_offsets":[0,0]}})", at == 0 ? "" : ",", at);
  return header + "}";
}

void put_weights(HostileFolder& folder, const std::string& bytes) { folder.put("model.safetensors", bytes); }

TEST(HostileHeader, LengthsThatCannotBe) {
  expect_all_refuse("model.safetensors",
                    {{"0", [](auto& folder) { put_weights(folder, with_length(0)); }, {"model.safetensors: the header claims 0 bytes"}},
                     {"1", [](auto& folder) { put_weights(folder, with_length(1)); }, {"the header claims 1 byte"}},
                     {"beyond the file", [](auto& folder) { put_weights(folder, with_length(1'000'000)); }, {"1,000,000 bytes, the file has"}},
                     {"2^63", [](auto& folder) { put_weights(folder, with_length(uint64_t{1} << 63)); }, {"9,223,372,036,854,775,808", "at most"}},
                     {"2^64 - 1", [](auto& folder) { put_weights(folder, with_length(~uint64_t{0})); }, {"at most 100,000,000 are read"}},
                     {"above the limit", [](auto& folder) { put_weights(folder, with_length(100'000'001)); }, {"at most 100,000,000 are read"}}});
}

TEST(HostileHeader, JsonThatIsNoHeader) {
  expect_all_refuse(
      "model.safetensors",
      {{"deep", [](auto& folder) { folder.put_header(deep("")); }, {"a list where an object was expected"}},
       {"deep in a tensor", [](auto& folder) { folder.put_header(deep(R"({"a":)")); }, {"at key `a`"}},
       {"deep in metadata", [](auto& folder) { folder.put_header(deep(R"({"__metadata__":)")); }, {"at key `__metadata__`"}},
       {"a name that is no UTF-8", [](auto& folder) { folder.put_header("{\"a\xff\":1}"); }, {"no valid JSON at byte 4", "ill-formed UTF-8"}},
       {"a lone surrogate", [](auto& folder) { folder.put_header("{\"a\\ud800\":1}"); }, {"no valid JSON at byte"}},
       {"cut", [](auto& folder) { folder.put_header("{\"a\":{\"dtype\":"); }, {"no valid JSON at byte"}},
       {"NUL", [](auto& folder) { folder.put_header(std::string("{}\0\0", 4)); }, {"a NUL byte"}},
       {"metadata of numbers", [](auto& folder) { folder.edit_header([](Json& header) {
                                                    header["__metadata__"] = {{"a", 5}};
                                                  }); }, {"key `a`"}},
       {"a million tensors", [](auto& folder) { folder.put_header(million_tensors()); }, {"more than 500,000 tensors"}},
       {"a tensor twice",
        [](auto& folder) {
          const std::string header = NanoWeights::get().header.dump();
          folder.put_header(header.substr(0, header.size() - 1) + ",\"" + norm_name + "\":" + NanoWeights::get().header[norm_name].dump() + "}");
        },
        {"tensor `model.norm.weight` stands twice"}},
       {"a key twice", [](auto& folder) { folder.put_header(R"({"a":{"dtype":"U8","dtype":"U8"}})"); }, {"tensor `a` has the key `dtype` twice"}}});
}

TEST(HostileHeader, TokensWithoutEndAreRefusedAtOnce) {
  expect_all_refuse(
      "model.safetensors",
      {{"a number",
        [](auto& folder) { folder.put_header("{\"a\":" + std::string(90'000'000, '1') + "}"); },
        {"a number in the JSON has 90,000,000 bytes"}},
       {"a key", [](auto& folder) { folder.put_header("{\"" + std::string(99'000'000, 'a') + "\":1}"); }, {"a text in the JSON has 99,000,"}}});
}

TEST(HostileHeader, RangesThatCannotBe) {
  const auto offsets = [](uint64_t begin, uint64_t end) {
    return [begin, end](HostileFolder& folder) { folder.set_tensor(embedding_name, "data_offsets", Json::array({begin, end})); };
  };
  const uint64_t begin = embedding_offsets()[0].get<uint64_t>();
  const uint64_t bytes = embedding_offsets()[1].get<uint64_t>() - begin;
  expect_all_refuse("model.safetensors",
                    {{"overlapping", offsets(begin - 100, begin + bytes - 100), {"`lm_head.weight` and `model.embed_tokens.weight` overlap at byte"}},
                     {"reversed", offsets(begin + bytes, begin), {"`model.embed_tokens.weight` begins at byte", "ends at byte"}},
                     {"outside", offsets(1 << 24, (1 << 24) + bytes), {"`model.embed_tokens.weight` ends at byte", "are missing"}},
                     {"far outside", offsets(uint64_t{1} << 63, (uint64_t{1} << 63) + bytes), {"`model.embed_tokens.weight` ends at byte"}},
                     {"around", offsets(~uint64_t{0} - bytes, ~uint64_t{0}), {"leaves the range of sizes"}},
                     {"one byte less", offsets(begin, begin + bytes - 1), {"takes 472,320 bytes, but its data_offsets span 472,319 bytes"}}});
}

TEST(HostileHeader, ShapesAndTypesThatCannotBe) {
  const auto shape = [](const Json& value) { return [value](HostileFolder& folder) { folder.set_tensor(embedding_name, "shape", value); }; };
  const auto type = [](const Json& value) { return [value](HostileFolder& folder) { folder.set_tensor(embedding_name, "dtype", value); }; };
  expect_all_refuse(
      "model.safetensors",
      {{"another product", shape({1845, 129}), {"is BF16 [1845, 129], which takes 476,010 bytes"}},
       {"transposed", shape({128, 1845}), {"`model.embed_tokens.weight`", "[128, 1845]", "[1845, 128]"}},
       {"beyond 2^63", shape({uint64_t{1} << 32, uint64_t{1} << 32}), {"4294967296 x 4294967296 leaves the range"}},
       {"beyond 2^63 and a zero", shape({uint64_t{1} << 62, uint64_t{1} << 62, 0}), {"`model.embed_tokens.weight`", "leaves the range"}},
       {"negative", shape({-1845, -128}), {"the number -1845", "`model.embed_tokens.weight`"}},
       {"fraction", shape({1845.5, 128}), {"the number 1845.5"}},
       {"a thousand dimensions", shape(std::vector<int>(1000, 1)), {"more than 8 dimensions"}},
       {"zero",
        [](auto& folder) {
          folder.edit_header([](Json& header) { header[embedding_name].update({{"shape", {0, 128}}, {"data_offsets", {0, 0}}}); });
        },
        {"`model.embed_tokens.weight`", "[0, 128]"}},
       {"unknown type", type("Q4_K"), {"`model.embed_tokens.weight` has the element type `Q4_K`"}},
       {"type of another kind", type(5), {"the number 5", "`model.embed_tokens.weight`"}},
       {"integers",
        [](auto& folder) { folder.edit_header([](Json& header) {
                             header[embedding_name].update({{"dtype", "I64"}, {"shape", {1845, 32}}});
                           }); },
        {"`model.embed_tokens.weight`"}}});
}

TEST(HostileHeader, TensorsThatAreNotThoseOfTheModel) {
  const auto put = [](const char* name) {
    return [name](HostileFolder& folder) {
      folder.edit_header([&](Json& header) { header[name] = {{"dtype", "F32"}, {"shape", {0}}, {"data_offsets", {0, 0}}}; });
    };
  };
  expect_all_refuse("model.safetensors", {{"missing",
                                           [](auto& folder) { folder.edit_header([](Json& header) { header.erase(norm_name); }); },
                                           {"one tensor is missing: `model.norm.weight`"}},
                                          {"too many", put("model.layers.0.foo"), {"`model.layers.0.foo`"}},
                                          {"of a layer too many", put("model.layers.8.mlp.up_proj.weight"), {"layer 8", "8 layers"}}});
}

TEST(HostileWeights, FilesThatWereCutSayHowManyBytesAreMissing) {
  const std::string whole = HostileFolder::original("model.safetensors");
  expect_all_refuse(
      "model.safetensors",
      {{"1", [&](auto& folder) { put_weights(folder, whole.substr(0, whole.size() - 1)); }, {"1 byte is missing", "incomplete"}},
       {"half", [&](auto& folder) { put_weights(folder, whole.substr(0, 7'000'000)); }, {"7,007,872 bytes are missing", "incomplete"}},
       {"header", [&](auto& folder) { put_weights(folder, whole.substr(0, 5000)); }, {"the file has 5,000 bytes in all, at least", "incomplete"}},
       {"length", [&](auto& folder) { put_weights(folder, whole.substr(0, 5)); }, {"5 bytes", "at least 8", "incomplete"}}});
}

// Which file is wrong is known only when the weights are read: by whatever computes with them.
TEST(HostileWeights, NumbersThatAreNotFiniteAreFoundWhileTheyAreRead) {
  struct Case {
    const char* tensor;
    std::string bytes;
    const char* said;
  };
  for (const Case& row : {Case{norm_name, "\xc0\x7f", "element [0] of tensor `model.norm.weight` is NaN"},
                          Case{"model.layers.0.self_attn.q_norm.weight", "\x80\xff", "`model.layers.0.self_attn.q_norm.weight` is an infinity"},
                          Case{embedding_name, "\x80\x7f", "`model.embed_tokens.weight` is an infinity"},
                          Case{"model.layers.3.mlp.experts.7.up_proj.weight", "\xc0\x7f", "`model.layers.3.mlp.experts.7.up_proj.weight` is NaN"},
                          Case{"model.layers.1.mlp.experts.e_score_correction_bias", std::string("\0\0\x80\x7f", 4), "is an infinity"}}) {
    SCOPED_TRACE(row.tensor);
    const HostileFolder folder;
    folder.overwrite(row.tensor, row.bytes);
    for (const Arguments& command : {Arguments{"generate", folder.path(), "hi"}, Arguments{"logits", folder.path(), "--ids", "-"}}) {
      expect_refused(run_limited(command, {.input = "[2]"}), row.said);
    }
  }
}

/// Two shards, of which the second holds the embedding alone.
class Shards {
 public:
  static constexpr const char* first = "model-00001-of-00002.safetensors";
  static constexpr const char* second = "model-00002-of-00002.safetensors";
  static constexpr const char* index = "model.safetensors.index.json";

  explicit Shards(const HostileFolder& folder) {
    Json header = NanoWeights::get().header;
    const uint64_t begin = header[embedding_name]["data_offsets"][0].get<uint64_t>();
    const uint64_t bytes = header[embedding_name]["data_offsets"][1].get<uint64_t>() - begin;
    embedding = raw_safetensors(Json{{embedding_name, {{"dtype", "BF16"}, {"shape", {1845, 128}}, {"data_offsets", {0, bytes}}}}}.dump(),
                                std::string_view(NanoWeights::get().data).substr(begin, bytes));
    for (const auto& [name, entry] : header.items()) {
      if (name != "__metadata__") map[name] = name == embedding_name ? second : first;
    }
    header.erase(embedding_name);
    folder.put_header(header.dump());
    std::filesystem::rename(folder.at("model.safetensors"), folder.at(first));
    folder.put(second, embedding);
    put_map(folder);
  }
  void put_map(const HostileFolder& folder) const { folder.put(index, Json{{"metadata", Json::object()}, {"weight_map", map}}.dump()); }

  Json map = Json::object();
  std::string embedding;
};

TEST(HostileShards, AMissingOrDamagedShardIsNamed) {
  struct Case {
    const char* name;
    std::function<void(HostileFolder&, const Shards&)> spoil;
    std::vector<std::string> parts;
  };
  const std::vector<Case> table = {
      {"missing",
       [](auto& folder, auto&) { folder.remove(Shards::second); },
       {"1 of 2 files with weights is missing: `model-00002-of-00002.safetensors`"}},
      {"dangling",
       [](auto& folder, auto&) {
         folder.remove(Shards::second);
         std::filesystem::create_symlink("gone", folder.at(Shards::second));
       },
       {"is missing: `model-00002-of-00002.safetensors`"}},
      {"cut",
       [](auto& folder, auto& shards) { folder.put(Shards::second, shards.embedding.substr(0, shards.embedding.size() - 1000)); },
       {"model-00002-of-00002.safetensors: tensor", "1,000 bytes are missing", "incomplete, fetch it again"}},
      {"empty", [](auto& folder, auto&) { folder.put(Shards::second, ""); }, {"model-00002-of-00002.safetensors: the file has 0 bytes"}},
      {"git-lfs",
       [](auto& folder, auto&) { folder.put(Shards::second, "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"); },
       {"model-00002-of-00002.safetensors: this is a git-lfs pointer"}}};
  for (const Case& row : table) {
    SCOPED_TRACE(row.name);
    HostileFolder folder;
    const Shards shards(folder);
    row.spoil(folder, shards);
    expect_all_refuse("index", folder, row.parts);
  }
}

TEST(HostileShards, AnIndexThatIsWrongIsNamed) {
  struct Case {
    const char* name;
    std::function<void(HostileFolder&, Shards&)> spoil;
    std::vector<std::string> parts;
  };
  const auto place = [](const char* path) {
    return [path](HostileFolder& folder, Shards& shards) {
      shards.map[embedding_name] = path;
      shards.put_map(folder);
    };
  };
  const auto text = [](const std::string& index) { return [index](HostileFolder& folder, Shards&) { folder.put(Shards::index, index); }; };
  std::string million = "{\"weight_map\":{\"t\":\"m.safetensors\"";
  for (int at = 0; at < 1'000'000; ++at) million += fmt::format(",\"t{}\":\"m{}.safetensors\"", at, at);
  const std::vector<Case> table = {
      {"up", place("../x.safetensors"), {"index.json: tensor `model.embed_tokens.weight` is said to be in `../x.safetensors`, which is no"}},
      {"absolute", place("/etc/x.safetensors"), {"`/etc/x.safetensors`"}},
      {"below", place("sub/x.safetensors"), {"`sub/x.safetensors`"}},
      {"dots", place(".."), {"`..`"}},
      {"empty name", place(""), {"said to be in ``"}},
      {"another kind", place("x.bin"), {"`x.bin`"}},
      {"NUL",
       [](auto& folder, auto& shards) {
         shards.map[embedding_name] = std::string("a\0.safetensors", 14);
         shards.put_map(folder);
       },
       {"`a\\x00.safe"}},
      {"the wrong shard", place(Shards::first), {"`model.embed_tokens.weight`"}},
      {"a number",
       [](auto& folder, auto& shards) {
         shards.map[embedding_name] = 5;
         shards.put_map(folder);
       },
       {"`model.embed_tokens.weight` has something"}},
      {"one too many",
       [](auto& folder, auto& shards) {
         shards.map["foo"] = Shards::first;
         shards.put_map(folder);
       },
       {"`foo`"}},
      {"twice", text("{\"weight_map\":{\"a\":\"m.safetensors\",\"a\":\"m.safetensors\"}}"), {"tensor `a` stands twice"}},
      {"a million files", text(million + "}}"), {"`weight_map` names more than 10,000 files"}},
      {"deep", text(deep("{\"weight_map\":")), {"JSON is nested too deeply"}},
      {"deep beside", text(deep("{\"x\":")), {"JSON is nested too deeply"}},
      {"empty", text(""), {"index.json: the file is empty"}},
      {"a web page", text("<!doctype html>"), {"index.json: this is a web page"}},
      {"git-lfs", text("version https://git-lfs.github.com/spec/v1"), {"index.json: this is a git-lfs pointer"}},
      {"a list", text("[]"), {"index.json: an object was expected"}},
      {"no map", text("{}"), {"index.json: the key `weight_map` is missing"}},
      {"no UTF-8", text("{\"weight_map\":{\"\xff\":\"\"}}"), {"index.json: no valid JSON at byte"}}};
  for (const Case& row : table) {
    SCOPED_TRACE(row.name);
    HostileFolder folder;
    Shards shards(folder);
    row.spoil(folder, shards);
    expect_all_refuse("index", folder, row.parts);
  }
}

// The Hugging Face cache keeps the files of a snapshot behind links: where they lead is the user's affair.
TEST(HostileShards, AFileBehindALinkOutOfTheFolderIsTaken) {
  const HostileFolder folder;
  const Shards shards(folder);
  const TemporaryFolder blobs;
  std::filesystem::rename(folder.at(Shards::second), blobs.path() / "blob");
  std::filesystem::create_symlink(blobs.path() / "blob", folder.at(Shards::second));
  EXPECT_EQ(run_limited({"plan", folder.path()}).exit_code, 0);
}

}  // namespace
}  // namespace lagoon
