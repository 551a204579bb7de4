// A whole safetensors file of any bytes. Beside not crashing: what is accepted lies inside the file, in ranges that fit shape and type and
// overlap nowhere.
#include "checkpoint/safetensors.h"
#include "fuzz/fuzz.h"

#include <vector>

using namespace lagoon;

namespace {

void check_ranges(std::vector<TensorHeader> tensors, uint64_t file_bytes) {
  std::sort(tensors.begin(), tensors.end(), [](const TensorHeader& a, const TensorHeader& b) { return a.offset < b.offset; });
  uint64_t end = 0;
  for (const TensorHeader& tensor : tensors) {
    uint64_t elements = 1;
    for (const int64_t dimension : tensor.shape) {
      fuzz::check(dimension >= 0, "a negative dimension", tensor.name);
      if (dimension == 0) elements = 0;
      const auto most = static_cast<uint64_t>(dimension > 0 ? dimension : 1);
      fuzz::check(elements <= file_bytes * 8 / most, "a tensor larger than the file", tensor.name);
      elements *= most;
    }
    fuzz::check(elements * static_cast<uint64_t>(bits_of(tensor.type)) == tensor.bytes * 8, "bytes that do not fit the shape", tensor.name);
    fuzz::check(tensor.offset <= file_bytes && tensor.bytes <= file_bytes - tensor.offset, "a range outside the file", tensor.name);
    if (tensor.bytes == 0) continue;
    fuzz::check(tensor.offset >= end, "overlapping ranges", tensor.name);
    end = tensor.offset + tensor.bytes;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const fuzz::MemoryFile file("model.safetensors", std::string(fuzz::text_of(data, size)));
  fuzz::accepts([&] { check_ranges(read_safetensors_header(file).tensors, size); });
  return 0;
}
