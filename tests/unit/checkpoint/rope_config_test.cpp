#include "checkpoint/rope_config.h"

#include "support/error_matchers.h"

#include <gtest/gtest.h>

#include <cmath>

namespace lagoon {
namespace {

using testing_support::expect_error;

/// Of a model whose layers are full, and sliding where nested ropes speak of that.
RopeConfigs read(const Json& config) {
  std::vector<LayerConfig> layers(1);
  if (config.contains("rope_parameters") && config["rope_parameters"].contains("sliding_attention")) layers.push_back({AttentionKind::sliding});
  return read_rope_configs(ConfigReader(config, "config.json"), 128, layers);
}

RopeConfigs read_of_both_kinds(const Json& config) {
  const std::vector<LayerConfig> layers = {{AttentionKind::full}, {AttentionKind::sliding}};
  return read_rope_configs(ConfigReader(config, "config.json"), 128, layers);
}

void expect_refused(const Json& config, ErrorKind kind, const std::vector<std::string>& parts) {
  expect_error([&] { read(config); }, kind, parts);
}

const Json yarn = {{"rope_type", "yarn"},         {"rope_theta", 500000.0}, {"factor", 64.0},
                   {"beta_fast", 64.0},           {"beta_slow", 1.0},       {"original_max_position_embeddings", 4096},
                   {"partial_rotary_factor", 0.5}};
const Json plain = {{"rope_type", "default"}, {"rope_theta", 10000.0}, {"partial_rotary_factor", 1.0}};

void expect_yarn(const RotaryConfig& rotary) {
  EXPECT_TRUE(rotary.yarn);
  EXPECT_EQ(rotary.theta, 500000.0);
  EXPECT_EQ(rotary.dimensions, 64);
  EXPECT_EQ(rotary.factor, 64.0);
  EXPECT_EQ(rotary.original_context, 4096.0);
  EXPECT_EQ(rotary.beta_fast, 64.0);
  EXPECT_EQ(rotary.beta_slow, 1.0);
}

TEST(RopeConfig, NestedFormSaysBothKinds) {
  const RopeConfigs ropes = read({{"rope_parameters", {{"full_attention", yarn}, {"sliding_attention", plain}}}});
  expect_yarn(ropes.full);
  EXPECT_FALSE(ropes.sliding.yarn);
  EXPECT_EQ(ropes.sliding.theta, 10000.0);
  EXPECT_EQ(ropes.sliding.dimensions, 128);
  EXPECT_EQ(ropes.sliding.attention_factor, 1.0);
}

TEST(RopeConfig, AttentionFactorIsTheFormulaOnlyWhereTheKeyIsAbsent) {
  Json parameters = yarn;
  const double formula = 0.1 * std::log(64.0) + 1.0;
  EXPECT_EQ(read({{"rope_parameters", {{"full_attention", parameters}}}}).full.attention_factor, formula);
  parameters["attention_factor"] = nullptr;
  EXPECT_EQ(read({{"rope_parameters", {{"full_attention", parameters}}}}).full.attention_factor, formula);
  parameters["attention_factor"] = 1.0;
  EXPECT_EQ(read({{"rope_parameters", {{"full_attention", parameters}}}}).full.attention_factor, 1.0);
}

TEST(RopeConfig, LooseScalarsAreInheritedOnlyWhereTheKindLacksThem) {
  Json parameters = yarn;
  parameters.erase("original_max_position_embeddings");
  Json rope = {{"full_attention", parameters}, {"sliding_attention", plain}, {"original_max_position_embeddings", 4096}, {"rope_theta", 7.0}};
  const RopeConfigs ropes = read({{"rope_parameters", rope}});
  expect_yarn(ropes.full);
  EXPECT_EQ(ropes.sliding.theta, 10000.0);
}

TEST(RopeConfig, FlatFormIsReadFromEitherKeyWithItsScalarsAtTheTop) {
  Json scaling = yarn;
  scaling.erase("rope_theta");
  scaling.erase("partial_rotary_factor");
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    const RopeConfigs ropes = read({{key, scaling}, {"rope_theta", 500000.0}, {"partial_rotary_factor", 0.5}});
    expect_yarn(ropes.full);
    EXPECT_EQ(ropes.sliding.theta, 10000.0) << "the flat form says the full rope";
    EXPECT_EQ(ropes.sliding.dimensions, 128);
  }
}

TEST(RopeConfig, OlderKeyForTheTypeIsRead) {
  Json scaling = yarn;
  scaling.erase("rope_type");
  scaling["type"] = "yarn";
  expect_yarn(read({{"rope_scaling", scaling}}).full);
  scaling["rope_type"] = "default";
  expect_refused({{"rope_scaling", scaling}}, ErrorKind::corrupt, {"`rope_scaling.rope_type` is `default` and `type` is `yarn`"});
}

TEST(RopeConfig, SlidingRopeOfItsOwnKeyWins) {
  const RopeConfigs ropes = read({{"rope_parameters", {{"full_attention", yarn}, {"sliding_attention", plain}}},
                                  {"swa_rope_parameters", {{"rope_type", "default"}, {"rope_theta", 123.0}, {"partial_rotary_factor", 0.25}}}});
  EXPECT_EQ(ropes.sliding.theta, 123.0);
  EXPECT_EQ(ropes.sliding.dimensions, 32);
}

TEST(RopeConfig, NothingSaidIsTheClassDefault) {
  const RopeConfigs ropes = read(Json::object());
  EXPECT_EQ(ropes.full.theta, 500000.0);
  EXPECT_EQ(ropes.full.dimensions, 64);
  EXPECT_FALSE(ropes.full.yarn);
  EXPECT_EQ(ropes.sliding.theta, 10000.0);
  EXPECT_EQ(ropes.sliding.dimensions, 128);
}

TEST(RopeConfig, ThetaAtTheTopAloneIsThatOfTheFullRope) {
  EXPECT_EQ(read({{"rope_theta", 20000.0}}).full.theta, 20000.0);
  EXPECT_EQ(read({{"rope_theta", 20000.0}}).sliding.theta, 10000.0);
}

TEST(RopeConfig, TwoFormsThatDisagreeAreRefused) {
  Json other = yarn;
  other["factor"] = 32.0;
  EXPECT_NO_THROW(read({{"rope_parameters", yarn}, {"rope_scaling", yarn}}));
  EXPECT_NO_THROW(read({{"rope_parameters", {{"full_attention", yarn}}}, {"rope_scaling", yarn}}));
  expect_refused({{"rope_parameters", yarn}, {"rope_scaling", other}}, ErrorKind::corrupt, {"`rope_parameters` and `rope_scaling`"});
}

TEST(RopeConfig, TwoFormsMaySayTheSameInAnotherOrder) {
  EXPECT_NO_THROW(read({{"rope_parameters", {{"rope_type", "default"}, {"rope_theta", 10000}}},
                        {"rope_scaling", {{"rope_theta", 10000.0}, {"rope_type", "default"}}}}));
}

TEST(RopeConfig, OtherTypesAreNamed) {
  for (const char* type : {"linear", "dynamic", "llama3", "longrope"}) {
    Json scaling = yarn;
    scaling["rope_type"] = type;
    expect_refused({{"rope_scaling", scaling}}, ErrorKind::unsupported, {"`rope_scaling.rope_type` is `" + std::string(type) + "`", "`yarn`"});
  }
}

TEST(RopeConfig, MisspelledKeyIsNotPassedOver) {
  Json scaling = yarn;
  scaling["atention_factor"] = 1.0;
  expect_refused({{"rope_parameters", {{"full_attention", scaling}}}}, ErrorKind::unsupported, {"`rope_parameters.full_attention.atention_factor`"});
  expect_refused({{"rope_parameters", {{"ful_attention", yarn}}}}, ErrorKind::unsupported, {"`rope_parameters.ful_attention`"});
}

TEST(RopeConfig, UntruncatedBoundsAndMscaleAreRefused) {
  Json scaling = yarn;
  scaling["truncate"] = false;
  expect_refused({{"rope_scaling", scaling}}, ErrorKind::unsupported, {"`rope_scaling.truncate` is false"});
  scaling = yarn;
  scaling["mscale"] = 0.7;
  expect_refused({{"rope_scaling", scaling}}, ErrorKind::unsupported, {"`rope_scaling.mscale`", "attention_factor"});
}

TEST(RopeConfig, YarnThatLostItsTypeIsNotThePlainRope) {
  Json nameless = yarn;
  nameless.erase("rope_type");
  expect_refused({{"rope_parameters", {{"full_attention", nameless}}}}, ErrorKind::corrupt,
                 {"config.json: `rope_parameters.full_attention.rope_type` is missing, but `factor` is there", "`yarn`"});
  nameless["rope_type"] = nullptr;
  expect_refused({{"rope_parameters", nameless}}, ErrorKind::corrupt, {"`rope_parameters.rope_type` is missing"});
  nameless["rope_type"] = "default";
  expect_refused({{"rope_parameters", {{"full_attention", nameless}}}}, ErrorKind::corrupt, {"full_attention.rope_type` is `default`, but `factor`"});
  expect_refused({{"rope_scaling", {{"factor", 8}}}}, ErrorKind::corrupt, {"`rope_scaling.rope_type` is missing, but `factor`"});
  expect_refused({{"swa_rope_parameters", {{"beta_fast", 8}}}}, ErrorKind::corrupt, {"`swa_rope_parameters.rope_type` is missing, but `beta_fast`"});
  expect_refused({{"rope_parameters", {{"full_attention", plain}, {"factor", 8}}}}, ErrorKind::corrupt, {"`rope_parameters.rope_type`", "`factor`"});
  EXPECT_NO_THROW(read({{"rope_parameters", {{"full_attention", {{"rope_theta", 500000.0}}}, {"rope_type", "default"}}}}));
}

TEST(RopeConfig, AKindThatLayersHaveMustBeThere) {
  const auto refused = [](const Json& parameters, const std::string& part) {
    expect_error([&] { read_of_both_kinds({{"rope_parameters", parameters}}); }, ErrorKind::corrupt, {part, "`layer_types` has such layers"});
  };
  refused({{"full_attention", yarn}}, "config.json: `rope_parameters.sliding_attention` is missing");
  refused({{"full_attention", yarn}, {"sliding_attention", nullptr}}, "`rope_parameters.sliding_attention` is missing");
  refused({{"sliding_attention", plain}}, "`rope_parameters.full_attention` is missing");
  refused({{"full_attention", Json::object()}, {"sliding_attention", plain}}, "`rope_parameters.full_attention` says nothing");
  refused({{"full_attention", {{"rope_type", nullptr}}}, {"sliding_attention", plain}}, "`rope_parameters.full_attention` says nothing");
  EXPECT_NO_THROW(read_of_both_kinds({{"rope_parameters", {{"full_attention", yarn}}}, {"swa_rope_parameters", plain}}));
  EXPECT_NO_THROW(read({{"rope_parameters", {{"full_attention", yarn}}}})) << "no layer slides";
}

TEST(RopeConfig, WhatStandsAtTheTopMustBeTheValueOfARope) {
  const Json nested = {{"full_attention", yarn}, {"sliding_attention", plain}};
  for (const double theta : {500000.0, 10000.0}) EXPECT_NO_THROW(read({{"rope_parameters", nested}, {"rope_theta", theta}}));
  expect_refused({{"rope_parameters", nested}, {"rope_theta", 20000.0}}, ErrorKind::corrupt,
                 {"config.json: `rope_theta` is 20000", "the ropes have 500000"});
  expect_refused({{"rope_parameters", yarn}, {"rope_theta", 10000.0}}, ErrorKind::corrupt, {"`rope_theta` is 10000, but the ropes have 500000"});
  expect_refused({{"rope_parameters", nested}, {"rope_theta", "x"}}, ErrorKind::corrupt, {"`rope_theta` is \"x\", a number"});
  EXPECT_NO_THROW(read({{"rope_parameters", nested}, {"partial_rotary_factor", 0.5}}));
  expect_refused({{"rope_parameters", nested}, {"partial_rotary_factor", 0.25}}, ErrorKind::corrupt, {"`partial_rotary_factor` is 0.25"});
}

TEST(RopeConfig, YarnNeedsItsFactorAndItsOriginalContext) {
  for (const std::string key : {"factor", "original_max_position_embeddings"}) {
    Json scaling = yarn;
    scaling.erase(key);
    expect_refused({{"rope_scaling", scaling}}, ErrorKind::corrupt, {"`rope_scaling." + key + "` is missing"});
    scaling[key] = 0.5;
    expect_refused({{"rope_scaling", scaling}}, ErrorKind::corrupt, {"`rope_scaling." + key + "` is 0.5"});
    scaling[key] = "8";
    expect_refused({{"rope_scaling", scaling}}, ErrorKind::corrupt, {"`rope_scaling." + key + "` is", "a number"});
  }
}

TEST(RopeConfig, RotatedDimensionsAreEvenAndAboveZero) {
  expect_refused({{"partial_rotary_factor", 0.005}}, ErrorKind::corrupt, {"partial_rotary_factor", "0 of 128"});
  expect_refused({{"partial_rotary_factor", 0.2}}, ErrorKind::corrupt, {"partial_rotary_factor", "25 of 128"});
}

}  // namespace
}  // namespace lagoon
