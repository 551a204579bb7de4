#include "laguna/attention.h"

#include "laguna/window.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace lagoon {

void normalize_heads(MatrixView<float> heads, std::span<const float> weight, float epsilon, const Compute& compute) {
  const auto head_dim = static_cast<int64_t>(weight.size());
  compute.pool.run(heads.rows, 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      for (float* head = heads.row(row); head < heads.row(row) + heads.columns; head += head_dim) {
        compute.kernels.rms_norm(head, weight.data(), head_dim, epsilon, head);
      }
    }
  });
}

void rotate_heads(MatrixView<float> heads, int head_dim, MatrixView<const float> cosine, MatrixView<const float> sine, const Compute& compute) {
  compute.pool.run(heads.rows, 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      for (float* head = heads.row(row); head < heads.row(row) + heads.columns; head += head_dim) {
        compute.kernels.rotate(head, cosine.row(row), sine.row(row), cosine.columns);
      }
    }
  });
}

void append_keys_values(const Step& step, int layer, MatrixView<const float> key, MatrixView<const float> value, int head_dim,
                        const Compute& compute) {
  const auto write = [&](const KvCache& cache, const float* from, std::byte* to) {
    if (cache.element() == ElementType::f32) {
      std::memcpy(to, from, static_cast<size_t>(head_dim) * sizeof(float));
    } else {
      compute.kernels.to_bfloat16(from, to, head_dim);
    }
  };
  compute.pool.run(static_cast<int64_t>(step.rows.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) {
      const StepRow& row = step.rows[static_cast<size_t>(at)];
      for (int64_t column = 0; column < key.columns; column += head_dim) {
        const auto head = static_cast<int>(column / head_dim);
        write(*row.cache, key.row(at) + column, row.cache->key(layer, head, row.position));
        write(*row.cache, value.row(at) + column, row.cache->value(layer, head, row.position));
      }
    }
  });
}

void attend(const ModelConfig& config, const Step& step, int layer, MatrixView<const float> query, MatrixView<float> maximum, MatrixView<float> sum,
            MatrixView<float> out, const Compute& compute) {
  const LayerConfig& shape = config.layers[static_cast<size_t>(layer)];
  const int heads = shape.query_heads / config.kv_heads;  // query heads of one KV head
  const float score_scale = 1.0f / std::sqrt(static_cast<float>(config.head_dim));
  const auto attend_one = [&](int64_t at, int kv_head) {
    const StepRow& row = step.rows[static_cast<size_t>(at)];
    const int64_t first_head = int64_t{kv_head} * heads;
    const AttentionPartial partial = {
        .maximum = maximum.row(at) + first_head, .sum = sum.row(at) + first_head, .values = out.row(at) + first_head * config.head_dim};
    std::fill_n(partial.maximum, heads, -std::numeric_limits<float>::infinity());
    std::fill_n(partial.sum, heads, 0.0f);
    std::fill_n(partial.values, int64_t{heads} * config.head_dim, 0.0f);
    const KeyRange visible = visible_keys(shape.attention, config.sliding_window, row.position);
    for (int64_t begin = visible.begin; begin < visible.end;) {
      const int64_t end = std::min(visible.end, (begin / attention_block + 1) * attention_block);
      compute.kernels.attend_block(query.row(at) + first_head * config.head_dim, heads, config.head_dim, score_scale,
                                   row.cache->block(layer, kv_head, begin, end), partial);
      begin = end;
    }
    compute.kernels.finish_attention(partial, heads, config.head_dim, partial.values);
  };
  compute.pool.run(static_cast<int64_t>(step.rows.size()) * config.kv_heads, 1, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) attend_one(task / config.kv_heads, static_cast<int>(task % config.kv_heads));
  });
}

void gate_softplus(MatrixView<const float> gate, GateKind kind, int head_dim, MatrixView<float> out, const Compute& compute) {
  compute.pool.run(out.rows, 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      if (kind == GateKind::per_element) {
        compute.kernels.gate_elements(gate.row(row), out.row(row), out.columns);
        continue;
      }
      for (int64_t head = 0; head < gate.columns; ++head) compute.kernels.gate_head(gate.row(row)[head], out.row(row) + head * head_dim, head_dim);
    }
  });
}

}  // namespace lagoon
