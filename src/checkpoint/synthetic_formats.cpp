#include "checkpoint/synthetic_formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace lagoon {
namespace {

using Format = std::optional<AffineFormat>;

enum class Block : uint8_t { outer, attention, dense, router, shared, experts };

Block block_of(Module module) {
  switch (module) {
    case Module::embedding:
    case Module::head:
      return Block::outer;
    case Module::router:
      return Block::router;
    case Module::dense_gate:
    case Module::dense_up:
    case Module::dense_down:
      return Block::dense;
    case Module::shared_gate:
    case Module::shared_up:
    case Module::shared_down:
      return Block::shared;
    case Module::expert_gate:
    case Module::expert_up:
    case Module::expert_down:
      return Block::experts;
    default:
      return Block::attention;
  }
}

bool within(int layer, int first, int last) { return first <= layer && layer <= last; }

Format plain(Format, const ModulePath&) { return std::nullopt; }

/// As mlx-lm converts: all matrices alike, but routers in 8 bits.
Format uniform(Format everywhere, const ModulePath& path) { return path.module == Module::router ? AffineFormat{8, 64} : everywhere; }

/// mlx-community/Laguna-S-2.1-oQ4e, whose whole map is published.
Format s_oq4e(Format everywhere, const ModulePath& path) {
  constexpr std::array<int, 10> eight_bit_layers{2, 8, 12, 32, 35, 36, 39, 40, 43, 44};
  switch (block_of(path.module)) {
    case Block::experts:
      return everywhere;
    case Block::router:
      return std::nullopt;
    case Block::outer:
      return AffineFormat{8, 64};
    case Block::shared:
      return AffineFormat{8, 128};
    case Block::dense:
      return path.module == Module::dense_down ? AffineFormat{6, 64} : AffineFormat{5, 64};
    case Block::attention:
      break;
  }
  const bool listed = std::find(eight_bit_layers.begin(), eight_bit_layers.end(), path.layer) != eight_bit_layers.end();
  const bool eight = listed || within(path.layer, 16, 30) || within(path.layer, 45, 47) || (path.layer == 33 && path.module == Module::output);
  return AffineFormat{eight ? 8 : 5, 64};
}

/// mlx-community/Laguna-S-2.1-oQ2e-fast. Published are the counts (137 x 3/64, 59 x 4/64, 15 x 6/64, 34 x 8/64, 141 x 8/128) and the
/// formats outside of attention. Which projections of attention have more than 3 bits is chosen here, the later layers first, so
/// that the counts come out and the size is within 0.01 % of the published one.
Format s_oq2e_fast(Format everywhere, const ModulePath& path) {
  switch (block_of(path.module)) {
    case Block::experts:
      return everywhere;
    case Block::router:
      return std::nullopt;
    case Block::outer:
      return AffineFormat{8, 64};
    case Block::shared:
      return AffineFormat{8, 128};
    case Block::dense:
      return path.module == Module::dense_down ? AffineFormat{6, 64} : AffineFormat{3, 64};
    case Block::attention:
      break;
  }
  if (path.module == Module::value && path.layer >= 16) return AffineFormat{8, 64};
  if (path.module == Module::output && path.layer >= 34) return AffineFormat{6, 64};
  if (path.module == Module::query && path.layer >= 13) return AffineFormat{4, 64};
  if (path.module == Module::key && path.layer >= 24) return AffineFormat{4, 64};
  return AffineFormat{3, 64};
}

/// mlx-works/Laguna-XS-2.1-oQ2. Published are the formats that occur (2/64, 3/64, 4/64, 8/64, 8/128) and the size. With embedding and head
/// in 8/64, shared experts in 8/128 and attention in 4/64, as in its siblings, the size leaves a third bit for the experts of five
/// layers and no more; the last five are taken.
Format xs_oq2(Format everywhere, const ModulePath& path) {
  switch (block_of(path.module)) {
    case Block::experts:
      return path.layer >= 35 ? AffineFormat{3, 64} : everywhere;
    case Block::router:
      return std::nullopt;
    case Block::outer:
      return AffineFormat{8, 64};
    case Block::shared:
      return AffineFormat{8, 128};
    case Block::dense:
      return path.module == Module::dense_down ? AffineFormat{4, 64} : AffineFormat{3, 64};
    case Block::attention:
      break;
  }
  return AffineFormat{4, 64};
}

struct MixedFormat {
  std::string_view name;
  std::string_view model;
  AffineFormat everywhere;
  Format (*rule)(Format, const ModulePath&);
};
constexpr std::array<MixedFormat, 3> mixed_formats{{
    {"s-2.1-oq4e", "s-2.1", {4, 128}, s_oq4e},
    {"s-2.1-oq2e-fast", "s-2.1", {2, 128}, s_oq2e_fast},
    {"xs-2.1-oq2", "xs-2.1", {2, 64}, xs_oq2},
}};

}  // namespace

std::optional<FormatMap> FormatMap::find(std::string_view name) {
  FormatMap map;
  if (name == "bf16") {
    map.rule_ = plain;
    return map;
  }
  for (const MixedFormat& mixed : mixed_formats) {
    if (mixed.name != name) continue;
    map.default_ = mixed.everywhere;
    map.model_ = mixed.model;
    map.rule_ = mixed.rule;
    return map;
  }
  for (const int bits : affine_bits) {
    for (const int group : affine_groups) {
      if (fmt::format("{}/{}", bits, group) != name) continue;
      map.default_ = AffineFormat{bits, group};
      map.rule_ = uniform;
      return map;
    }
  }
  return std::nullopt;
}

std::vector<std::string> mixed_format_names() {
  std::vector<std::string> names;
  for (const MixedFormat& mixed : mixed_formats) names.emplace_back(mixed.name);
  return names;
}

}  // namespace lagoon
