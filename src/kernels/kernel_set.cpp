#include "kernels/kernel_set.h"

#include "base/error.h"
#include "kernels/tile_layout.h"
#include "kernels/vector_sets.h"

#include <algorithm>
#include <array>
#include <vector>

namespace lagoon {
namespace {

constexpr int64_t gate_up_tiles = 4;  // a strip whose up half waits on the stack
constexpr int64_t gate_up_tokens = 48;

/// The gate half goes to y, the up half to the stack, then they are joined.
void gate_up_strip(const KernelSet& kernels, const WeightMatrix& gate, const WeightMatrix& up, TileRange tiles, const InputRows& x,
                   const std::array<int32_t, gate_up_tokens>& tokens, int64_t count, const OutputRows& y) {
  constexpr int64_t width = gate_up_tiles * tile_rows;
  alignas(64) std::array<float, static_cast<size_t>(gate_up_tokens * width)> lifted;
  const int64_t first = tiles.begin * tile_rows;
  const int64_t rows = std::min(gate.rows, tiles.end * tile_rows) - first;
  const RowSelection selection = {tokens.data(), count};
  multiply(kernels, gate, tiles, x, selection, y);
  multiply(kernels, up, tiles, x, selection, {lifted.data() - first, width});
  for (int64_t i = 0; i < count; ++i) kernels.silu_multiply(y.row(i) + first, lifted.data() + i * width, rows);
}

}  // namespace

void multiply(const KernelSet& kernels, const WeightMatrix& matrix, TileRange tiles, const InputRows& x, RowSelection selection,
              const OutputRows& y) {
  if (x.has_fixed(matrix.format)) {
    kernels.multiply_fixed(matrix, tiles, x.fixed[group_index(matrix.format.group)], selection, y);
  } else {
    kernels.multiply_float(matrix, tiles, x.floats, selection, y);
  }
}

void multiply_gate_up(const KernelSet& kernels, const WeightMatrix& gate, const WeightMatrix& up, TileRange tiles, const InputRows& x,
                      RowSelection selection, const OutputRows& y) {
  if (selection.count == 1 && gate.format == up.format && x.has_fixed(gate.format)) {
    kernels.gate_up_row(gate, up, tiles, x.fixed[group_index(gate.format.group)], selection[0], y.row(0));
    return;
  }
  std::array<int32_t, gate_up_tokens> tokens = {};
  for (int64_t done = 0; done < selection.count; done += gate_up_tokens) {
    const int64_t count = std::min(gate_up_tokens, selection.count - done);
    for (int64_t i = 0; i < count; ++i) tokens[static_cast<size_t>(i)] = static_cast<int32_t>(selection[done + i]);
    for (int64_t tile = tiles.begin; tile < tiles.end; tile += gate_up_tiles) {
      const TileRange strip = {tile, std::min(tiles.end, tile + gate_up_tiles)};
      gate_up_strip(kernels, gate, up, strip, x, tokens, count, {y.row(done), y.stride});
    }
  }
}

std::vector<const KernelSet*> runnable_kernel_sets(const CpuFeatures& cpu) {
  std::vector<const KernelSet*> sets = vector_kernel_sets(cpu);
  sets.push_back(&scalar_kernels());
  return sets;
}

const KernelSet& kernel_set_named(std::string_view name, const CpuFeatures& cpu) {
  const auto sets = runnable_kernel_sets(cpu);
  if (name == "auto") return *sets.front();
  std::string names = "auto";
  for (const KernelSet* set : sets) {
    if (name == set->name) return *set;
    names += std::string(", ") + set->name;
  }
  fail(ErrorKind::invalid, "kernel set `{}`: this program on this machine has {}; name one of these", printable(name), names);
}

}  // namespace lagoon
