#include "laguna/cpu_model.h"

#include "base/byte_size.h"
#include "laguna/window.h"

#include <set>

namespace lagoon {
namespace {

ElementType kv_element(Precision precision) { return precision == Precision::oracle ? ElementType::f32 : ElementType::bf16; }

void add_group(const WeightSource& source, StepShape& shape) {
  if (source.format.kind == WeightFormat::Kind::affine) shape.groups[group_index(source.format.group)] = true;
}

void add_groups(const MlpSource& source, StepShape& shape) {
  for (const WeightSource* part : {&source.gate, &source.up, &source.down}) add_group(*part, shape);
}

int64_t context_of(const ModelConfig& config, const CpuModelOptions& options) { return options.context > 0 ? options.context : config.max_context; }

StepShape step_shape(const Checkpoint& checkpoint, const CpuModelOptions& options) {
  StepShape shape = {.rows = options.step_rows, .context = context_of(checkpoint.config(), options)};
  if (options.precision == Precision::oracle) return shape;
  add_group(checkpoint.head(), shape);
  for (int at = 0; at < checkpoint.config().layer_count(); ++at) {
    const LayerSource& layer = checkpoint.layer(at);
    for (const WeightSource* part : {&layer.query, &layer.key, &layer.value, &layer.gate, &layer.output, &layer.router}) add_group(*part, shape);
    add_groups(layer.mlp, shape);
    add_groups(layer.shared_expert, shape);
    for (const MlpSource& expert : layer.experts) add_groups(expert, shape);
  }
  return shape;
}

}  // namespace

CpuModel::CpuModel(const Checkpoint& checkpoint, const CpuModelOptions& options, MemoryBudget& budget, const LoadProgress& progress)
    : config_(checkpoint.config()),
      precision_(options.precision),
      context_(context_of(config_, options)),
      budget_(budget),
      kernels_(options.kernels ? *options.kernels : *runnable_kernel_sets(detect_cpu_features()).front()),
      pool_(options.threads),
      weights_(ModelWeights::load(checkpoint, budget, kernels_, pool_, progress)),
      experts_(weights_),
      rotary_{Rotary(config_.full_rotary), Rotary(config_.sliding_rotary)},
      activations_(config_, step_shape(checkpoint, options), budget) {}

KvCache& CpuModel::cache(SequenceId sequence) const {
  const auto found = caches_.find(sequence);
  require(found != caches_.end(), "a sequence is used between its creation and its end");
  return *found->second;
}

SequenceId CpuModel::create_sequence() {
  const auto sequence = static_cast<SequenceId>(next_sequence_++);
  caches_.emplace(sequence, std::make_unique<KvCache>(config_, activations_.rows, kv_element(precision_), budget_));
  return sequence;
}

SequenceId CpuModel::fork(SequenceId sequence) {
  std::unique_ptr<KvCache> copy = cache(sequence).fork();
  const auto forked = static_cast<SequenceId>(next_sequence_++);
  caches_.emplace(forked, std::move(copy));
  return forked;
}

bool CpuModel::rewind(SequenceId sequence, int64_t position) {
  KvCache& kept = cache(sequence);
  if (!kept.can_rewind(position)) return false;
  kept.rewind(position);
  return true;
}

void CpuModel::drop(SequenceId sequence) { caches_.erase(sequence); }

int64_t CpuModel::length(SequenceId sequence) const { return cache(sequence).length(); }

Step CpuModel::make_step(std::span<const TokenSpan> batch, MatrixView<float> logits) const {
  Step step;
  std::set<SequenceId> seen;
  for (const TokenSpan& span : batch) {
    require(seen.insert(span.sequence).second, "a sequence stands once in a batch");
    require(!span.tokens.empty(), "a span has tokens");
    const auto count = static_cast<int64_t>(span.tokens.size());
    require(span.logit_rows >= 0 && span.logit_rows <= count, "logits are asked of tokens in the span");
    KvCache& kept = cache(span.sequence);
    if (count > context_ - kept.length()) {
      fail(ErrorKind::invalid,
           "{} tokens do not fit behind the {} that the sequence has: the context is {} tokens; shorten the input or raise --context",
           format_count(static_cast<uint64_t>(count)), format_count(static_cast<uint64_t>(kept.length())),
           format_count(static_cast<uint64_t>(context_)));
    }
    for (int64_t at = 0; at < count; ++at) {
      const int32_t token = span.tokens[static_cast<size_t>(at)];
      if (token < 0 || token >= config_.vocabulary) {
        fail(ErrorKind::invalid, "token id {}: the vocabulary has ids 0 to {}; the ids come from another tokenizer", token, config_.vocabulary - 1);
      }
      if (at >= count - span.logit_rows) step.logit_rows.push_back(static_cast<int32_t>(step.rows.size()));
      step.rows.push_back({token, kept.length() + at, &kept});
    }
  }
  require(static_cast<int64_t>(step.rows.size()) <= activations_.rows, "a step has at most step_rows() rows");
  require(logits.rows == static_cast<int64_t>(step.logit_rows.size()) && logits.columns == config_.vocabulary,
          "the logits have a row for each row asked for");
  return step;
}

void CpuModel::forward(std::span<const TokenSpan> batch, MatrixView<float> logits) {
  const Step step = make_step(batch, logits);
  for (const TokenSpan& span : batch) cache(span.sequence).reserve(static_cast<int64_t>(span.tokens.size()));
  const WorkerPool::PinnedCaller pinned(pool_);
  work_ = {};
  const Compute compute{kernels_, pool_, precision_, work_, profile_};
  lagoon::forward({config_, weights_, experts_, rotary_}, step, activations_, logits, compute, observer_);
}

uint64_t CpuModel::step_bytes(const Checkpoint& checkpoint, const CpuModelOptions& options) {
  return Activations::bytes(checkpoint.config(), step_shape(checkpoint, options));
}

uint64_t CpuModel::sequence_bytes(const ModelConfig& config, const CpuModelOptions& options, int64_t length) {
  const uint64_t page = KvCache::page_bytes(config, kv_element(options.precision));
  const auto full_pages = static_cast<uint64_t>((length + attention_block - 1) / attention_block);
  const auto ring_pages = static_cast<uint64_t>(ring_rows(config.sliding_window, options.step_rows) / attention_block);
  uint64_t bytes = 0;
  for (const LayerConfig& layer : config.layers) bytes += page * (layer.attention == AttentionKind::full ? full_pages : ring_pages);
  return bytes;
}

}  // namespace lagoon
