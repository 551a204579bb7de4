// tokenizer.json of any bytes; one that is accepted then encodes and decodes.
#include "fuzz/fuzz.h"
#include "text/tokenizer.h"

#include <vector>

using namespace lagoon;

namespace {

constexpr std::string_view sample = "Hello, w\xc3\xb6rld's 1234 <user>\n\n  \xe6\x97\xa5\xe6\x9c\xac\xf0\x9f\x9a\x80\t</user>";

void use(const Tokenizer& tokenizer) {
  std::vector<int32_t> ids;
  if (fuzz::accepts([&] { ids = tokenizer.encode_data(sample); })) {
    for (const int32_t id : ids) fuzz::check(id >= 0 && id < tokenizer.vocabulary_size(), "an id outside the vocabulary");
    fuzz::accepts([&] { tokenizer.decode(ids); });
  }
  fuzz::accepts([&] { tokenizer.encode(sample, true); });
  StreamingDecoder decoder(tokenizer, true);
  for (const int32_t id : ids) fuzz::accepts([&] { decoder.push(id); });
  decoder.flush();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::accepts([&] { use(Tokenizer::parse(fuzz::text_of(data, size), "tokenizer.json")); });
  return 0;
}
