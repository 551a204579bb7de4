// The files of data/models, and files that are not as they should be.
#include "planning/published_models.h"

#include "checkpoint/synthetic_shapes.h"
#include "planning/facts_catalogue.h"
#include "support/error_matchers.h"
#include "support/temporary_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

namespace lagoon {
namespace {

using testing_support::expect_error;
using testing_support::file_text;

Json sound() {
  return {{"id", "laguna-x"},
          {"name", "Laguna X"},
          {"repository", "somebody/Laguna-X"},
          {"shape",
           {{"hidden_size", 64},
            {"num_hidden_layers", 2},
            {"num_experts", 8},
            {"num_experts_per_tok", 2},
            {"moe_intermediate_size", 32},
            {"vocab_size", 100}}},
          {"statements",
           {{"release.license", {{"value", "mit"}, {"place", "model card"}}}, {"params.total", {{"value", 1000}, {"place", "model card"}}}}}};
}

void expect_refused(const Json& file, const std::vector<std::string>& parts) {
  expect_error([&] { (void)read_published_model(file, "data/models/x.json"); }, ErrorKind::corrupt, parts);
}

TEST(PublishedModels, EveryFileOfTheTreeIsReadStrictlyAndCarried) {
  size_t files = 0;
  std::set<std::string> ids;
  for (const auto& entry : std::filesystem::directory_iterator(LAGOON_SOURCE_DIR "/data/models")) {
    const std::string what = entry.path().filename().string();
    const PublishedModel model = read_published_model(parse_json(file_text(entry.path()), what), what);
    EXPECT_EQ(model.id + ".json", what);
    ids.insert(model.id);
    for (const auto& [key, statement] : model.statements) EXPECT_FALSE(statement.place.empty()) << what << ": " << key;
    ++files;
  }
  EXPECT_GE(files, 5u);
  std::set<std::string> carried;
  for (const PublishedModel& model : published_models()) carried.insert(model.id);
  EXPECT_EQ(carried, ids);
  for (const char* id : {"laguna-xs.2", "laguna-xs-2.1", "laguna-s-2.1", "laguna-m.1", "nano"}) EXPECT_TRUE(ids.contains(id)) << id;
}

TEST(PublishedModels, NoTwoHaveOneShape) {
  std::set<std::map<std::string, int64_t>> shapes;
  for (const PublishedModel& model : published_models()) EXPECT_TRUE(shapes.insert(model.shape).second) << model.id;
}

TEST(PublishedModels, AreFoundByShape) {
  const std::vector<PublishedModel> models = published_models();
  const auto id_of = [&](Json config) {
    const PublishedModel* model = find_published_model(models, read_model_config(config, "config.json"));
    return model == nullptr ? std::string() : model->id;
  };
  const auto whole = [](std::string_view name) { return config_of(*find_shape(name), find_shape(name)->layers); };
  EXPECT_EQ(id_of(whole("s-2.1")), "laguna-s-2.1");
  EXPECT_EQ(id_of(whole("xs-2.1")), "laguna-xs-2.1");
  EXPECT_EQ(id_of(whole("m.1")), "laguna-m.1");
  EXPECT_EQ(id_of(whole("mini")), "");
  Json config = whole("xs-2.1");
  config["rope_parameters"]["full_attention"]["original_max_position_embeddings"] = 4096;
  EXPECT_EQ(id_of(config), "laguna-xs.2");
  config["rope_parameters"]["full_attention"]["original_max_position_embeddings"] = 2048;
  EXPECT_EQ(id_of(config), "");
  config = whole("s-2.1");
  config["num_experts_per_tok"] = 8;
  EXPECT_EQ(id_of(config), "");
}

TEST(PublishedModels, ASoundFileIsRead) {
  Json file = sound();
  file["statements"]["release.license"]["excerpt"] = "license: mit";
  file["statements"]["train.peak_lr"] = {{"value", 3e-4}, {"place", "report, table 2"}};
  file["notes"] = {{"moe.router_score", "a note"}};
  const PublishedModel model = read_published_model(file, "x.json");
  EXPECT_EQ(model.statement("release.license")->value, "mit");
  EXPECT_EQ(model.statement("release.license")->excerpt, "license: mit");
  EXPECT_EQ(model.statement("train.peak_lr")->value, 3e-4);
  EXPECT_EQ(model.statement("release.date"), nullptr);
  EXPECT_EQ(model.notes.at("moe.router_score"), "a note");
  EXPECT_EQ(model.shape.at("hidden_size"), 64);
}

TEST(PublishedModels, UnknownKeysAreRefused) {
  Json file = sound();
  file["licence"] = "mit";
  expect_refused(file, {"data/models/x.json", "`licence`", "keys are id, name"});
  file = sound();
  file["shape"]["rope_theta"] = 1;
  expect_refused(file, {"shape.rope_theta"});
  file = sound();
  file["statements"]["release.license"]["source"] = "x";
  expect_refused(file, {"statements.release.license.source"});
  file = sound();
  file["statements"]["release.licence"] = {{"value", "mit"}, {"place", "model card"}};
  expect_refused(file, {"release.licence", "is no fact"});
  file = sound();
  file["notes"] = {{"moe.routers", "x"}};
  expect_refused(file, {"moe.routers", "is no fact"});
}

TEST(PublishedModels, WhatTheCheckpointDecidesCannotBeStated) {
  for (const char* key : {"params.counted_total", "attn.heads", "kv.bytes_at_context", "moe.router_score"}) {
    Json file = sound();
    file["statements"][key] = {{"value", 1}, {"place", "model card"}};
    expect_refused(file, {key, "the checkpoint itself decides"});
  }
}

TEST(PublishedModels, MissingPartsAreRefused) {
  for (const char* key : {"id", "name", "repository", "shape", "statements"}) {
    Json file = sound();
    file.erase(key);
    expect_refused(file, {key, "missing"});
  }
  Json file = sound();
  file["shape"].erase("vocab_size");
  expect_refused(file, {"shape.vocab_size", "missing"});
  file = sound();
  file["statements"]["params.total"].erase("place");
  expect_refused(file, {"statements.params.total.place", "missing"});
  file = sound();
  file["statements"]["params.total"].erase("value");
  expect_refused(file, {"statements.params.total.value", "missing"});
  file = sound();
  file["statements"]["params.total"]["value"] = nullptr;
  expect_refused(file, {"statements.params.total.value", "missing"});
}

TEST(PublishedModels, WrongTypesAreRefused) {
  const std::vector<std::pair<const char*, Json>> wrong = {
      {"/id", 7},
      {"/id", "Laguna X"},
      {"/id", "../x"},
      {"/name", Json::array()},
      {"/name", ""},
      {"/name", "two\nlines"},
      {"/name", std::string(401, 'x')},
      {"/shape", Json::array()},
      {"/shape/hidden_size", "64"},
      {"/shape/hidden_size", -1},
      {"/shape/hidden_size", 1e30},
      {"/statements", 1},
      {"/statements/params.total", "118B"},
      {"/statements/params.total/value", "118B"},
      {"/statements/params.total/value", 0},
      {"/statements/params.total/value", 1.5},
      {"/statements/params.total/value", 1e300},
      {"/statements/params.total/place", ""},
      {"/statements/params.total/place", 3},
      {"/statements/release.license/value", 3},
      {"/statements/release.license/value", true},
      {"/statements/release.license/excerpt", ""},
  };
  for (const auto& [pointer, value] : wrong) {
    Json file = sound();
    file[Json::json_pointer(pointer)] = value;
    expect_refused(file, {"data/models/x.json"});
  }
  for (const Json& file : {Json(nullptr), Json::array(), Json("x"), Json(1)}) expect_refused(file, {"an object was needed"});
}

TEST(PublishedModels, KeysOfTheCatalogueAreDistinct) {
  std::set<std::string_view> keys;
  for (const FactKind& kind : fact_catalogue()) EXPECT_TRUE(keys.insert(kind.key).second) << kind.key;
}

}  // namespace
}  // namespace lagoon
