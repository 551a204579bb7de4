#include "checkpoint/config_assumptions.h"

#include "base/json.h"
#include "checkpoint/synthetic_shapes.h"
#include "support/checkpoint_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace lagoon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> assumed(const Json& config) { return read_model_config(config, "config.json").assumptions; }

Json base() { return testing_support::CheckpointBuilder().config; }

TEST(ConfigAssumptions, PublishedConfigsLeaveNothingOpen) {
  for (const PublishedShape& shape : published_shapes()) EXPECT_THAT(assumed(config_of(shape, shape.layers)), IsEmpty()) << shape.name;
  for (const char* folder : {"/tests/golden", "/models"}) {
    for (const auto& file : std::filesystem::recursive_directory_iterator(LAGOON_SOURCE_DIR + std::string(folder))) {
      if (file.path().filename() != "config.json") continue;
      EXPECT_THAT(assumed(parse_json(testing_support::file_text(file.path()), "config.json")), IsEmpty()) << file.path();
    }
  }
}

TEST(ConfigAssumptions, OlderSpellingsLeaveNothingOpen) {
  // XS.2: a scalar astray beside the kinds. M.1: full layers alone, without lists, the rope flat.
  Json xs = config_of(*find_shape("xs.2"), 40);
  xs["rope_parameters"]["original_max_position_embeddings"] = 4096;
  EXPECT_THAT(assumed(xs), IsEmpty());
  Json m = config_of(*find_shape("m.1"), 70);
  m["rope_scaling"] = m["rope_parameters"]["full_attention"];
  for (const char* key : {"rope_theta", "partial_rotary_factor"}) {
    m[key] = m["rope_scaling"][key];
    m["rope_scaling"].erase(key);
  }
  for (const char* key : {"rope_parameters", "layer_types", "sliding_window"}) m.erase(key);
  EXPECT_THAT(assumed(m), IsEmpty());
}

TEST(ConfigAssumptions, MissingKeysAreNamedWithWhatIsTaken) {
  for (const auto& [key, value] : std::vector<std::pair<std::string, std::string>>{{"layer_types", "`full_attention` in every layer"},
                                                                                   {"num_experts_per_tok", "8"},
                                                                                   {"moe_routed_scaling_factor", "1.0"},
                                                                                   {"rms_norm_eps", "1e-06"}}) {
    Json config = base();
    config["num_experts"] = 8;
    const std::string sentence = "config.json: `" + key + "` is missing; " + value + " is taken, the default of LagunaConfig";
    config[key] = nullptr;
    EXPECT_THAT(assumed(config), ElementsAre(sentence));
    config.erase(key);
    EXPECT_THAT(assumed(config), ElementsAre(sentence));
  }
  Json config = base();
  config.erase("sliding_window");
  EXPECT_THAT(assumed(config), ElementsAre("config.json: `sliding_window` is missing; 512 is taken, the default of LagunaConfig"));
}

TEST(ConfigAssumptions, MisspelledKeysAreNamedWithTheKeyThatIsNear) {
  Json config = base();
  config["moe_routed_scaling_facter"] = config["moe_routed_scaling_factor"];
  EXPECT_THAT(assumed(config), IsEmpty()) << "the right one is there as well";
  config.erase("moe_routed_scaling_factor");
  EXPECT_THAT(assumed(config),
              ElementsAre("config.json: `moe_routed_scaling_factor` is missing; 1.0 is taken, the default of LagunaConfig",
                          "config.json: `moe_routed_scaling_facter` is no key that Lagoon knows; `moe_routed_scaling_factor` is near"));
}

TEST(ConfigAssumptions, MathematicsOfOtherModelsIsNamed) {
  Json config = base();
  for (const auto& [key, value] : std::vector<std::pair<std::string, Json>>{{"final_logit_softcapping", 0.0},
                                                                            {"scoring_func", "sigmoid"},
                                                                            {"use_qk_norm", true},
                                                                            {"logit_scale", 1},
                                                                            {"attention_chunk_size", nullptr}}) {
    config[key] = value;
  }
  EXPECT_THAT(assumed(config), IsEmpty());
  config["final_logit_softcapping"] = 30;
  config["scoring_func"] = "softmax";
  EXPECT_THAT(assumed(config), ElementsAre("config.json: `final_logit_softcapping` is 30; no Laguna has such a thing, and Lagoon does not compute it",
                                           "config.json: `scoring_func` is \"softmax\"; no Laguna has such a thing, and Lagoon does not compute it"));
}

TEST(ConfigAssumptions, DefaultsOfRopesAreNamed) {
  Json config = base();
  config["rope_parameters"]["full_attention"] = {{"rope_theta", 500000.0}, {"partial_rotary_factor", nullptr}};
  EXPECT_THAT(assumed(config), ElementsAre("config.json: `rope_parameters.full_attention.rope_type` is missing; `default` is taken",
                                           "config.json: `rope_parameters.full_attention.partial_rotary_factor` is missing; 0.5 is taken"));
  config.erase("rope_parameters");
  EXPECT_THAT(
      assumed(config),
      ElementsAre("config.json: nothing says the rope of layers of the kind `full_attention`; the plain one with base 500000 over 16 dimensions "
                  "is taken",
                  "config.json: nothing says the rope of layers of the kind `sliding_attention`; the plain one with base 10000 over 32 "
                  "dimensions is taken"));
}

}  // namespace
}  // namespace lagoon
