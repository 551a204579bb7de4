// The user's own settings, of any bytes.
#include "commands/config_file.h"
#include "fuzz/fuzz.h"

using namespace lagoon;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::accepts([&] { parse_config_file(fuzz::text_of(data, size), "config.toml", "/home/someone"); });
  return 0;
}
