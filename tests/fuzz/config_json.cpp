// config.json of any bytes, and whatever the architecture and the quantization read out of it.
#include "base/json.h"
#include "checkpoint/model_config.h"
#include "checkpoint/quantization_config.h"
#include "fuzz/fuzz.h"

#include <nlohmann/json.hpp>

using namespace lagoon;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Json document;
  if (!fuzz::accepts([&] { document = parse_json(fuzz::text_of(data, size), "config.json"); })) return 0;
  fuzz::accepts([&] {
    const ModelConfig config = read_model_config(document, "config.json");
    fuzz::check(config.layer_count() > 0 && config.vocabulary > 0 && config.hidden > 0 && config.max_context > 0, "an empty model is accepted");
  });
  fuzz::accepts([&] { QuantizationConfig::read(document, "config.json"); });
  return 0;
}
