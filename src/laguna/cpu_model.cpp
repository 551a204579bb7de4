#include "laguna/cpu_model.h"

#include "base/byte_size.h"
#include "base/checked.h"
#include "laguna/window.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace lagoon {
namespace {

void add_group(const WeightSource& source, bool (&groups)[3]) {
  if (source.format.kind == WeightFormat::Kind::affine) groups[group_index(source.format.group)] = true;
}

/// @param inner  what reads the rows between
void add_groups(const MlpSource& source, StepShape& shape, bool (&inner)[3]) {
  for (const WeightSource* part : {&source.gate, &source.up}) add_group(*part, shape.hidden_groups);
  add_group(source.down, inner);
}

CpuModelOptions completed(CpuModelOptions options, const ModelConfig& config) {
  if (options.context == 0) options.context = config.max_context;
  return options;
}

}  // namespace

StepShape CpuModel::step_shape(const Checkpoint& checkpoint, const CpuModelOptions& options) {
  StepShape shape = {.rows = options.step_rows, .context = completed(options, checkpoint.config()).context};
  if (options.precision == Precision::oracle) return shape;
  add_group(checkpoint.head(), shape.hidden_groups);
  for (int at = 0; at < checkpoint.config().layer_count(); ++at) {
    const LayerSource& layer = checkpoint.layer(at);
    for (const WeightSource* part : {&layer.query, &layer.key, &layer.value, &layer.gate, &layer.router}) add_group(*part, shape.hidden_groups);
    add_group(layer.output, shape.wide_groups);
    add_groups(layer.mlp, shape, shape.wide_groups);
    add_groups(layer.shared_expert, shape, shape.wide_groups);
    for (const MlpSource& expert : layer.experts) add_groups(expert, shape, shape.pair_groups);
  }
  return shape;
}

CpuModel::CpuModel(const Checkpoint& checkpoint, const CpuModelOptions& options, MemoryBudget& budget, const LoadProgress& progress)
    : config_(checkpoint.config()),
      options_(completed(options, config_)),
      budget_(budget),
      kernels_(options.kernels ? *options.kernels : *runnable_kernel_sets(detect_cpu_features()).front()),
      pool_(options.threads),
      weights_(ModelWeights::load(checkpoint, budget, kernels_, pool_, progress)),
      experts_(weights_),
      rotary_{Rotary(config_.full_rotary), Rotary(config_.sliding_rotary)},
      activations_(config_, step_shape(checkpoint, options), budget) {}

CpuModel::Sequence& CpuModel::at(SequenceId sequence) { return const_cast<Sequence&>(std::as_const(*this).at(sequence)); }

const CpuModel::Sequence& CpuModel::at(SequenceId sequence) const {
  const auto found = sequences_.find(sequence);
  require(found != sequences_.end(), "a sequence is used between its creation and its end");
  return found->second;
}

SequenceId CpuModel::add(int64_t positions, const std::function<std::unique_ptr<KvCache>()>& make) {
  Sequence sequence = {.positions = positions};
  for (const MemoryLine& line : sequence_lines(config_, options_, positions)) {
    if (line.bytes > 0) sequence.claims.push_back(budget_.claim(line.name, line.bytes));
  }
  sequence.cache = make();
  const auto id = static_cast<SequenceId>(next_sequence_++);
  sequences_.emplace(id, std::move(sequence));
  return id;
}

SequenceId CpuModel::create_sequence(int64_t positions) {
  require(positions >= 1 && positions <= options_.context, "a sequence has 1 to context() positions");
  return add(positions, [&] { return std::make_unique<KvCache>(config_, options_.step_rows, options_.kv_element()); });
}

SequenceId CpuModel::fork(SequenceId sequence) {
  const Sequence& original = at(sequence);
  return add(original.positions, [&] { return original.cache->fork(); });
}

bool CpuModel::rewind(SequenceId sequence, int64_t position) {
  KvCache& kept = *at(sequence).cache;
  if (!kept.can_rewind(position)) return false;
  kept.rewind(position);
  return true;
}

void CpuModel::drop(SequenceId sequence) { sequences_.erase(sequence); }

int64_t CpuModel::length(SequenceId sequence) const { return at(sequence).cache->length(); }

Step CpuModel::make_step(std::span<const TokenSpan> batch, MatrixView<float> logits) {
  Step step;
  std::set<SequenceId> seen;
  for (const TokenSpan& span : batch) {
    require(seen.insert(span.sequence).second, "a sequence stands once in a batch");
    require(!span.tokens.empty(), "a span has tokens");
    const auto count = static_cast<int64_t>(span.tokens.size());
    require(span.logit_rows >= 0 && span.logit_rows <= count, "logits are asked of tokens in the span");
    const Sequence& sequence = at(span.sequence);
    KvCache& kept = *sequence.cache;
    if (count > sequence.positions - kept.length()) {
      fail(ErrorKind::invalid,
           "{} tokens do not fit behind the {} that the sequence has: its context is {} tokens; shorten the input or raise --context",
           format_count(static_cast<uint64_t>(count)), format_count(static_cast<uint64_t>(kept.length())),
           format_count(static_cast<uint64_t>(sequence.positions)));
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

namespace {

[[noreturn]] void refuse_range(int64_t position) {
  fail(ErrorKind::corrupt,
       "the numbers of the model leave the range of floats at position {}: some of its weights are finite but absurdly large; fetch the model again",
       position);
}

/// Finite weights can be so wrong that a residual, or the square of it that a norm takes, leaves the range of floats: what then comes out is NaN,
/// or zeros that look like an answer.
void check_residual(const Step& step, MatrixView<const float> residual) {
  for (int64_t row = 0; row < residual.rows; ++row) {
    double squares = 0.0;
    for (const float value : residual.row_span(row)) squares += static_cast<double>(value) * static_cast<double>(value);
    const bool fine = squares <= static_cast<double>(std::numeric_limits<float>::max());  // NaN is not
    if (!fine) refuse_range(step.rows[static_cast<size_t>(row)].position);
  }
}

void check_logits(const Step& step, MatrixView<const float> logits) {
  for (int64_t row = 0; row < logits.rows; ++row) {
    const std::span<const float> values = logits.row_span(row);
    const bool fine = std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); });
    if (!fine) refuse_range(step.rows[static_cast<size_t>(step.logit_rows[static_cast<size_t>(row)])].position);
  }
}

}  // namespace

void CpuModel::forward(std::span<const TokenSpan> batch, MatrixView<float> logits, const LayerProgress& progress) {
  const Step step = make_step(batch, logits);
  for (const TokenSpan& span : batch) at(span.sequence).cache->reserve(static_cast<int64_t>(span.tokens.size()));
  const WorkerPool::PinnedCaller pinned(pool_);
  work_ = {};
  const Compute compute{kernels_, pool_, options_.precision, work_, profile_, observer_.check ? &observer_.check : nullptr};
  StepObserver observer = observer_;
  observer.layer = [&](int layer) {
    if (observer_.layer) observer_.layer(layer);
    if (progress) progress(layer, config_.layer_count());
  };
  observer.residual = [&](int index, MatrixView<const float> residual) {
    if (index == config_.layer_count()) check_residual(step, residual);
    if (observer_.residual) observer_.residual(index, residual);
  };
  lagoon::forward({config_, weights_, experts_, rotary_}, step, activations_, logits, compute, observer);
  check_logits(step, logits);
}

MemoryLine CpuModel::step_line(const Checkpoint& checkpoint, const CpuModelOptions& options) {
  return {Activations::line_name, Activations::bytes(checkpoint.config(), step_shape(checkpoint, options))};
}

std::vector<MemoryLine> CpuModel::sequence_lines(const ModelConfig& config, const CpuModelOptions& options, int64_t positions) {
  const uint64_t page = KvCache::page_bytes(config, options.kv_element());
  const uint64_t full_pages = (static_cast<uint64_t>(positions) + attention_block - 1) / attention_block;
  const auto ring_pages = static_cast<uint64_t>(ring_rows(usable_window(config), options.step_rows) / attention_block);
  std::vector<MemoryLine> lines = {{"KV: full layers"}, {"KV: sliding layers"}};
  for (const LayerConfig& layer : config.layers) {
    const bool full = layer.attention == AttentionKind::full;
    uint64_t& bytes = lines[full ? 0 : 1].bytes;
    bytes = saturating_add(bytes, saturating_multiply(page, full ? full_pages : ring_pages));
  }
  return lines;
}

}  // namespace lagoon
