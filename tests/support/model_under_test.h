// model_under_test.h: opens a checkpoint folder and runs prompts through the model.
#pragma once

#include "laguna/cpu_model.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace lagoon::testing_support {

struct ModelUnderTest {
  explicit ModelUnderTest(const std::string& folder, CpuModelOptions options = {}) {
    const Checkpoint checkpoint = Checkpoint::open(folder, {}, SystemFiles());
    if (options.kernels == nullptr) options.kernels = asked_kernels();
    if (options.context == 0) options.context = std::min<int64_t>(checkpoint.config().max_context, 4096);
    model = std::make_unique<CpuModel>(checkpoint, options, budget);
  }

  int64_t vocabulary() const { return model->config().vocabulary; }

  /// Logits of every position, [tokens][vocabulary]; the prompt in steps of at most `chunk` tokens.
  std::vector<float> logits(const std::vector<int32_t>& tokens, int64_t chunk = 1 << 30) {
    std::vector<float> all(tokens.size() * static_cast<size_t>(vocabulary()));
    const SequenceId sequence = model->create_sequence();
    for (int64_t begin = 0; begin < static_cast<int64_t>(tokens.size());) {
      const int64_t rows = std::min({chunk, model->step_rows(), static_cast<int64_t>(tokens.size()) - begin});
      const TokenSpan span{sequence, std::span(tokens).subspan(static_cast<size_t>(begin), static_cast<size_t>(rows)), rows};
      model->forward(std::span(&span, 1), {all.data() + begin * vocabulary(), rows, vocabulary()});
      begin += rows;
    }
    model->drop(sequence);
    return all;
  }

  /// Tokens with the largest logit, one after the other.
  std::vector<int32_t> greedy(std::vector<int32_t> tokens, size_t count) {
    std::vector<int32_t> chosen;
    std::vector<float> row(static_cast<size_t>(vocabulary()));
    const SequenceId sequence = model->create_sequence();
    while (chosen.size() < count) {
      const TokenSpan span{sequence, tokens, 1};
      model->forward(std::span(&span, 1), {row.data(), 1, vocabulary()});
      chosen.push_back(static_cast<int32_t>(std::max_element(row.begin(), row.end()) - row.begin()));
      tokens = {chosen.back()};
    }
    model->drop(sequence);
    return chosen;
  }

  /// The set that LAGOON_TEST_KERNELS names, so that a whole suite can be run with each; null, the best, where it names none or
  /// this machine cannot run it.
  static const KernelSet* asked_kernels() {
    const char* name = std::getenv("LAGOON_TEST_KERNELS");
    for (const KernelSet* set : runnable_kernel_sets(detect_cpu_features())) {
      if (name != nullptr && std::string(name) == set->name) return set;
    }
    return nullptr;
  }

  MemoryBudget budget;
  std::unique_ptr<CpuModel> model;
};

}  // namespace lagoon::testing_support
