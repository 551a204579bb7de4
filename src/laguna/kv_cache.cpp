#include "laguna/kv_cache.h"

#include "base/error.h"
#include "laguna/window.h"
#include "machine/large_pages.h"

#include <algorithm>
#include <cstring>

namespace lagoon {

KvCache::KvCache(const ModelConfig& config, int64_t step_rows, ElementType element)
    : element_(element),
      kv_heads_(config.kv_heads),
      head_dim_(config.head_dim),
      window_(usable_window(config)),
      ring_rows_(ring_rows(window_, step_rows)),
      page_bytes_(page_bytes(config, element)) {
  const auto sliding = [](const auto& layer) { return layer.attention == AttentionKind::sliding; };
  const auto ring_pages = static_cast<size_t>(ring_rows_ / attention_block);
  const auto sliding_layers = static_cast<size_t>(std::count_if(config.layers.begin(), config.layers.end(), sliding));
  const std::vector<std::shared_ptr<Page>> rings = new_pages(ring_pages * sliding_layers);
  auto next = rings.begin();
  for (const LayerConfig& layer : config.layers) {
    Layer& cache = layers_.emplace_back();
    cache.kind = layer.attention;
    if (layer.attention == AttentionKind::full) continue;
    cache.pages.assign(next, next + static_cast<std::ptrdiff_t>(ring_pages));
    next += static_cast<std::ptrdiff_t>(ring_pages);
  }
}

uint64_t KvCache::page_bytes(const ModelConfig& config, ElementType element) {
  const int64_t elements = key_block_elements(config.head_dim) + value_block_elements(config.head_dim);
  return static_cast<uint64_t>(config.kv_heads * elements * bytes_of(element));
}

uint64_t KvCache::bytes() const {
  uint64_t pages = 0;
  for (const Layer& layer : layers_) pages += layer.pages.size();
  return pages * page_bytes_;
}

size_t KvCache::keys_at(int kv_head) const { return static_cast<size_t>(kv_head * key_block_elements(head_dim_) * bytes_of(element_)); }

size_t KvCache::values_at(int kv_head) const {
  return keys_at(kv_heads_) + static_cast<size_t>(kv_head * value_block_elements(head_dim_) * bytes_of(element_));
}

std::vector<std::shared_ptr<KvCache::Page>> KvCache::new_pages(size_t count) const {
  std::vector<std::shared_ptr<Page>> pages;
  if (count == 0) return pages;
  const auto memory = std::make_shared<AlignedBuffer<std::byte>>(count * page_bytes_);
  advise_large(memory->data(), memory->size());
  for (size_t at = 0; at < count; ++at) pages.push_back(std::make_shared<Page>(Page{memory, memory->data() + at * page_bytes_}));
  return pages;
}

size_t KvCache::page_at(const Layer& layer, int64_t position) const {
  const auto page = static_cast<size_t>(position / attention_block);
  return layer.kind == AttentionKind::full ? page : page % layer.pages.size();
}

void KvCache::reserve(int64_t rows) {
  if (rows == 0) return;
  const int64_t first = length_ / attention_block;
  const int64_t last = (length_ + rows - 1) / attention_block;
  for (int64_t page = first; page <= last; ++page) {
    std::vector<Layer*> growing;
    for (Layer& layer : layers_) {
      const size_t at = page_at(layer, page * attention_block);
      if (at == layer.pages.size()) {
        growing.push_back(&layer);
      } else if (layer.pages[at].use_count() > 1) {
        const std::shared_ptr<Page> copy = new_pages(1).front();
        std::memcpy(copy->begin, layer.pages[at]->begin, page_bytes_);
        layer.pages[at] = copy;
      }
    }
    const std::vector<std::shared_ptr<Page>> pages = new_pages(growing.size());
    for (size_t at = 0; at < growing.size(); ++at) growing[at]->pages.push_back(pages[at]);
  }
  // Even a step that is stopped in the middle may have written these rows over older ones.
  furthest_ = std::max(furthest_, length_ + rows);
}

void KvCache::prepare_store(int layer, int kv_head, int64_t position) const {
  const Layer& cache = layers_[static_cast<size_t>(layer)];
  const std::byte* page = cache.pages[page_at(cache, position)]->begin;
  const int place = static_cast<int>(position % attention_block);
  const int64_t element = bytes_of(element_);
  for (int d = 0; d < head_dim_; ++d) __builtin_prefetch(page + keys_at(kv_head) + key_offset(place, d, head_dim_) * element, 1);
  for (int d = 0; d < head_dim_; d += attention_strip) __builtin_prefetch(page + values_at(kv_head) + value_offset(place, d) * element, 1);
}

void KvCache::store(int layer, int kv_head, int64_t position, const float* key, const float* value) {
  const Layer& cache = layers_[static_cast<size_t>(layer)];
  std::byte* page = cache.pages[page_at(cache, position)]->begin;
  const int place = static_cast<int>(position % attention_block);
  store_key_value(key, value, head_dim_, place, element_, page + keys_at(kv_head), page + values_at(kv_head));
}

void KvCache::advance(int64_t rows) { length_ += rows; }

KeyValueBlock KvCache::block(int layer, int kv_head, int64_t begin, int64_t end) const {
  const Layer& cache = layers_[static_cast<size_t>(layer)];
  const std::byte* page = cache.pages[page_at(cache, begin)]->begin;
  const int place = static_cast<int>(begin % attention_block);
  // What is looked at next lies in the next page, if there is one.
  const bool more = end % attention_block == 0 && end < length_;
  const std::byte* next = more ? cache.pages[page_at(cache, end)]->begin + keys_at(kv_head) : nullptr;
  return {.keys = page + keys_at(kv_head),
          .values = page + values_at(kv_head),
          .next_keys = next,
          .element = element_,
          .begin = place,
          .end = place + static_cast<int>(end - begin)};
}

bool KvCache::can_rewind(int64_t position) const {
  if (position < 0 || position > length_) return false;
  if (position == length_ || position == 0) return true;
  const bool slides = std::any_of(layers_.begin(), layers_.end(), [](const Layer& layer) { return layer.kind == AttentionKind::sliding; });
  return !slides || visible_keys(AttentionKind::sliding, window_, position).begin >= furthest_ - ring_rows_;
}

void KvCache::rewind(int64_t position) {
  require(can_rewind(position), "a KV cache is cut where its rings allow");
  length_ = position;
  if (position == 0) furthest_ = 0;  // nothing of the past is looked at again
  const auto pages = static_cast<size_t>((position + attention_block - 1) / attention_block);
  for (Layer& layer : layers_) {
    if (layer.kind == AttentionKind::full) layer.pages.resize(std::min(layer.pages.size(), pages));
  }
}

}  // namespace lagoon
