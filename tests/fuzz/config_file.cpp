// The user's own settings, of any bytes: JSON where they begin with a brace, else TOML.
#include "commands/config_file.h"
#include "fuzz/fuzz.h"

using namespace lagoon;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  fuzz::accepts([&] { parse_config_file(text, text.starts_with('{') ? "config.json" : "config.toml", "/home/someone"); });
  return 0;
}
