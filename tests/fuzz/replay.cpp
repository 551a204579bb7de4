// Runs the inputs of folders through a fuzz target: what the fuzzers found once is looked at in every build, whatever compiles it.
#include "fuzz/fuzz.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

int main(int count, char** arguments) {
  size_t inputs = 0;
  for (int at = 1; at < count; ++at) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(arguments[at])) {
      if (!entry.is_regular_file()) continue;
      std::ifstream file(entry.path(), std::ios::binary);
      const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
      std::fprintf(stderr, "%s\n", entry.path().filename().c_str());  // the last one is the finding
      LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
      ++inputs;
    }
  }
  std::printf("%zu inputs\n", inputs);
  return inputs > 0 ? 0 : 1;  // a test of nothing is none
}
