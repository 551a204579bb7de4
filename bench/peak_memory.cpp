// peak_memory.cpp: how much memory a run takes beside weights, keys and values. Writes a checkpoint of a real layer's shape
// (hidden 2048, 64 experts of width 512, 4-bit codes), runs `lagoon logits` on it, and prints what the kernel counted.
//   bench/peak_memory PROGRAM [PROMPT TOKENS]
#include "base/byte_size.h"
#include "laguna/cpu_model.h"
#include "support/checkpoint_builder.h"
#include "support/temporary_folder.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace lagoon {
namespace {

using testing_support::CheckpointBuilder;
using testing_support::CheckpointShape;
using testing_support::Spelling;
using testing_support::TemporaryFolder;

CheckpointShape real_shape() {
  CheckpointShape shape;
  shape.hidden = 2048;
  shape.vocabulary = 32768;
  shape.head_dim = 128;
  shape.kv_heads = 8;
  shape.dense_width = 8192;
  shape.expert_width = 512;
  shape.shared_width = 512;
  shape.experts = 64;
  shape.experts_per_token = 8;
  shape.window = 512;
  shape.query_heads = {48, 64, 64, 48};
  shape.sliding = {false, true, true, false};
  shape.dense = {true, false, false, false};
  return shape;
}

/// Runs a program; returns its peak resident bytes, or 0 if it failed.
uint64_t peak_of(const std::vector<std::string>& command) {
  const pid_t child = fork();
  if (child == 0) {
    std::vector<char*> words;
    for (const std::string& word : command) words.push_back(strdup(word.c_str()));
    words.push_back(nullptr);
    execv(words[0], words.data());
    _exit(127);
  }
  int status = 0;
  struct rusage usage = {};
  wait4(child, &status, 0, &usage);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? static_cast<uint64_t>(usage.ru_maxrss) * 1024 : 0;
}

int run(const std::string& program, int64_t tokens) {
  const TemporaryFolder folder;
  // In a process of its own: what a parent holds when it forks counts as the child's peak.
  const pid_t writer = fork();
  if (writer == 0) {
    CheckpointBuilder builder(real_shape());
    builder.quantize("_proj", 4, 64).quantize("embed_tokens", 8, 64).quantize("lm_head", 8, 64).respell(Spelling::mlx_lm);
    builder.write(folder.path());
    _exit(0);
  }
  waitpid(writer, nullptr, 0);
  std::string ids = "[2";
  for (int64_t at = 1; at < tokens; ++at) ids += ", " + std::to_string(at * 37 % 32768);
  const std::string ids_file = folder.path() / "ids.json";
  std::ofstream(ids_file) << ids << "]";

  const Checkpoint checkpoint = Checkpoint::open(folder.path().string(), {}, SystemFiles());
  const CpuModelOptions options = {.step_rows = std::min<int64_t>(256, tokens)};
  const uint64_t weights = checkpoint.weight_bytes();
  const uint64_t cache = CpuModel::sequence_bytes(checkpoint.config(), options, tokens);
  const uint64_t peak = peak_of({program, "logits", folder.path().string(), "--ids", ids_file, "--positions", "last"});
  if (peak == 0) return 1;
  const uint64_t beside = peak - std::min(peak, weights + cache);
  std::printf("weights %s, KV of %ld tokens %s, peak resident %s: %s beside weights and KV (at most 300 MiB are allowed)\n",
              format_binary(weights).c_str(), static_cast<long>(tokens), format_binary(cache).c_str(), format_binary(peak).c_str(),
              format_binary(beside).c_str());
  return beside <= 300u << 20 ? 0 : 1;
}

}  // namespace
}  // namespace lagoon

int main(int count, char** arguments) {
  if (count < 2) {
    std::fprintf(stderr, "usage: peak_memory PROGRAM [PROMPT TOKENS]\n");
    return 2;
  }
  return lagoon::run(arguments[1], count > 2 ? std::atol(arguments[2]) : 300);
}
