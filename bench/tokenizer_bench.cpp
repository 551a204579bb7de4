// tokenizer_bench.cpp: how fast text becomes ids, on one thread.
//   tokenizer_bench [--texts=FOLDER] [--tokenizer=FILE] [flags of Google Benchmark]
// FOLDER holds prose.txt, code.txt and mixed.txt, as bench/tokenizers_package.py writes them; that script also times the
// tokenizers package on them and prints both. Without it, only the runs are timed: texts of one kind of character, at two lengths,
// whose bytes per second must not fall with the length.
#include "base/error.h"
#include "text/tokenizer.h"

#include <benchmark/benchmark.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace {

void encode(benchmark::State& state, const lagoon::Tokenizer& tokenizer, const std::string& text) {
  for (auto _ : state) benchmark::DoNotOptimize(tokenizer.encode(text));
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text.size()));
}

std::string repeated(const std::string& unit, size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += unit;
  return text;
}

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Takes `--name=value` out of the arguments.
std::string take_option(int& count, char** arguments, const std::string& name, const std::string& otherwise) {
  const std::string begin = "--" + name + "=";
  for (int at = 1; at < count; ++at) {
    if (std::strncmp(arguments[at], begin.c_str(), begin.size()) != 0) continue;
    std::string value = arguments[at] + begin.size();
    for (int next = at; next + 1 < count; ++next) arguments[next] = arguments[next + 1];
    --count;
    return value;
  }
  return otherwise;
}

void register_texts(const lagoon::Tokenizer& tokenizer, const std::string& folder) {
  for (const char* name : {"prose", "code", "mixed"}) {
    const std::string text = read(std::filesystem::path(folder) / (std::string(name) + ".txt"));
    if (text.empty()) continue;
    benchmark::RegisterBenchmark(name, [&tokenizer, text](benchmark::State& state) { encode(state, tokenizer, text); });
  }
}

void register_runs(const lagoon::Tokenizer& tokenizer) {
  const std::vector<std::pair<std::string, std::string>> units = {
      {"letter", "a"},      {"space", " "},          {"newline", "\n"},    {"crlf", "\r\n"},
      {"return", "\r"},     {"digit", "7"},          {"punctuation", "."}, {"ideograph", "\xe4\xb8\xad"},
      {"mark", "\xcc\x81"}, {"words", "many words "}};
  for (const auto& [name, unit] : units) {
    for (const size_t bytes : {100'000, 1'000'000}) {
      const std::string text = repeated(unit, bytes);
      benchmark::RegisterBenchmark(("run/" + name + "/" + std::to_string(bytes)).c_str(),
                                   [&tokenizer, text](benchmark::State& state) { encode(state, tokenizer, text); });
    }
  }
}

}  // namespace

int main(int count, char** arguments) {
  const std::string folder = take_option(count, arguments, "texts", "");
  const std::string file = take_option(count, arguments, "tokenizer", LAGOON_SOURCE_DIR "/tests/golden/tokenizer/tokenizer.json");
  try {
    const lagoon::Tokenizer tokenizer = lagoon::Tokenizer::load(file);
    if (!folder.empty()) register_texts(tokenizer, folder);
    register_runs(tokenizer);
    benchmark::Initialize(&count, arguments);
    if (benchmark::ReportUnrecognizedArguments(count, arguments)) return 2;
    benchmark::RunSpecifiedBenchmarks();
  } catch (const lagoon::Error& error) {
    std::cerr << "tokenizer_bench: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
