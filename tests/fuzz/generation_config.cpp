// generation_config.json of any bytes.
#include "checkpoint/generation_config.h"
#include "fuzz/fuzz.h"

#include <nlohmann/json.hpp>

using namespace lagoon;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::accepts([&] { read_generation_config(parse_json(fuzz::text_of(data, size), "generation_config.json"), "generation_config.json"); });
  return 0;
}
