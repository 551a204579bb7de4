#include "laguna/weights.h"

#include "checkpoint/safetensors.h"
#include "kernels/scalar/weights.h"
#include "kernels/tile_layout.h"
#include "laguna/finite.h"
#include "laguna/weight_layout.h"
#include "machine/file.h"

#include <algorithm>
#include <cmath>
#include <mutex>

namespace lagoon {
namespace {

/// Bytes of a file that one thread reads and packs at a time: they stay in its cache meanwhile.
constexpr int64_t piece_bytes = 1 << 20;

/// Pieces that the disk is told of ahead.
constexpr size_t pieces_ahead = 16;

/// Tiles [begin, end) of one matrix, to be read and packed.
struct Piece {
  const WeightPlace* place = nullptr;
  std::byte* block = nullptr;
  int64_t begin = 0;
  int64_t end = 0;
};

/// Bytes of one row in the file: codes or numbers, and scales (as many as biases).
struct RowBytes {
  int64_t values;
  int64_t scales;

  explicit RowBytes(const WeightSource& source) {
    const bool affine = source.format.kind == WeightFormat::Kind::affine;
    values = affine ? source.columns * source.format.bits / 8 : source.columns * bytes_of(source.format.element);
    scales = affine ? source.columns / source.format.group * bytes_of(source.format.element) : 0;
  }
  int64_t all() const { return values + 2 * scales; }
};

int64_t tiles_of_piece(int64_t row_bytes) { return std::max<int64_t>(1, piece_bytes / (tile_rows * row_bytes)); }

std::vector<Piece> cut_into_pieces(const WeightBlock& block, std::byte* memory) {
  std::vector<Piece> pieces;
  for (const WeightPlace& place : block.places) {
    const int64_t tiles = tile_count(place.source->rows);
    const int64_t step = tiles_of_piece(RowBytes(*place.source).all());
    for (int64_t tile = 0; tile < tiles; tile += step) pieces.push_back({&place, memory, tile, std::min(tiles, tile + step)});
  }
  return pieces;
}

/// Where a piece's values begin in their file.
uint64_t offset_of(const Piece& piece) {
  return piece.place->source->values.offset + static_cast<uint64_t>(piece.begin * tile_rows * RowBytes(*piece.place->source).values);
}

/// "`model.norm.weight` [5]": the tensor of the file that has this byte, and the place of its element. Only faults ask for it.
std::string describe_place(const ReadableFile& file, uint64_t byte) {
  for (const TensorHeader& tensor : read_safetensors_header(file).tensors) {
    if (byte < tensor.offset || byte >= tensor.offset + tensor.bytes) continue;
    auto rest = static_cast<int64_t>((byte - tensor.offset) * 8 / static_cast<uint64_t>(bits_of(tensor.type)));
    std::vector<int64_t> place(tensor.shape.size());
    for (size_t at = place.size(); at-- > 0; rest /= tensor.shape[at]) place[at] = rest % tensor.shape[at];
    return fmt::format("element {} of tensor `{}`", format_shape(place), printable(tensor.name, 400));
  }
  return fmt::format("the number at byte {}", byte);
}

class Loader {
 public:
  Loader(const Checkpoint& checkpoint, const KernelSet& kernels, LoadProgress progress)
      : checkpoint_(checkpoint), kernels_(kernels), progress_(std::move(progress)) {}

  /// Reads all pieces. In the order of the files, so that a disk reads forward.
  void read(std::vector<Piece> pieces, WorkerPool& pool) {
    std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) {
      const int first = a.place->source->values.file;
      const int second = b.place->source->values.file;
      return first != second ? first < second : offset_of(a) < offset_of(b);
    });
    int64_t largest = 0;
    for (const Piece& piece : pieces) largest = std::max(largest, bytes_of(piece));
    std::atomic<size_t> next = 0;  // one piece at a time, in order: the pool's own large pieces would lie far apart
    pool.run(pool.threads(), 1, [&](int64_t, int64_t) {
      AlignedBuffer<std::byte> stored;  // one for each thread that finds a piece
      for (size_t at = next.fetch_add(1); at < pieces.size(); at = next.fetch_add(1)) {
        if (at + pieces_ahead < pieces.size()) announce(pieces[at + pieces_ahead]);
        if (stored.size() == 0) stored = AlignedBuffer<std::byte>(static_cast<size_t>(largest));
        read(pieces[at], stored.data());
      }
    });
  }

  /// A vector of a few thousand numbers as floats.
  std::vector<float> read_vector(const WeightSource& source) {
    std::vector<std::byte> bytes(source.values.bytes);
    file(source.values).read_at(source.values.offset, bytes);
    check_finite(source.values, source.format.element, bytes.data(), 0, source.columns);
    std::vector<float> numbers(static_cast<size_t>(source.columns));
    scalar::read_elements(bytes.data(), source.format.element, 0, source.columns, numbers.data());
    count(bytes.size());
    return numbers;
  }

 private:
  /// @param stored  `count` numbers of the file from byte `first` of the range on
  void check_finite(const ByteRange& range, ElementType element, const std::byte* stored, uint64_t first, int64_t count) const {
    const int64_t at = first_not_finite(stored, element, count);
    if (at == count) return;
    float value = 0;
    scalar::read_elements(stored, element, at, 1, &value);
    const uint64_t place = range.offset + first + static_cast<uint64_t>(at * lagoon::bytes_of(element));
    fail(ErrorKind::corrupt, "{}: {} is {}; weights are finite numbers: the file is damaged, fetch it again", printable_path(file(range).path()),
         describe_place(file(range), place), std::isnan(value) ? "NaN" : "an infinity");
  }

  const ReadableFile& file(const ByteRange& range) const { return *checkpoint_.files()[static_cast<size_t>(range.file)]; }

  void announce(const Piece& piece) const {
    const WeightSource& source = *piece.place->source;
    file(source.values).will_need(offset_of(piece), static_cast<uint64_t>((piece.end - piece.begin) * tile_rows * RowBytes(source).values));
  }

  static int64_t bytes_of(const Piece& piece) {
    const WeightSource& source = *piece.place->source;
    return (std::min(source.rows, piece.end * tile_rows) - piece.begin * tile_rows) * RowBytes(source).all();
  }

  /// @param stored  room for bytes_of(piece)
  void read(const Piece& piece, std::byte* stored) {
    const WeightSource& source = *piece.place->source;
    const RowBytes row(source);
    const int64_t first = piece.begin * tile_rows;
    const int64_t rows = std::min(source.rows, piece.end * tile_rows) - first;
    std::byte* at = stored;
    const auto fetch = [&](const ByteRange& range, int64_t bytes_each) {
      const std::span<std::byte> destination(at, static_cast<size_t>(rows * bytes_each));
      file(range).read_at(range.offset + static_cast<uint64_t>(first * bytes_each), destination);
      at += destination.size();
      return destination.data();
    };
    const std::byte* values = fetch(source.values, row.values);
    const std::byte* scales = row.scales > 0 ? fetch(source.scales, row.scales) : nullptr;
    const std::byte* biases = row.scales > 0 ? fetch(source.biases, row.scales) : nullptr;
    const auto check = [&](const ByteRange& range, const std::byte* numbers, int64_t bytes_each) {
      const ElementType element = source.format.element;
      check_finite(range, element, numbers, static_cast<uint64_t>(first * bytes_each), rows * bytes_each / lagoon::bytes_of(element));
    };
    if (scales == nullptr) {
      check(source.values, values, row.values);
    } else {
      check(source.scales, scales, row.scales);
      check(source.biases, biases, row.scales);
    }
    for (int64_t tile = piece.begin; tile < piece.end; ++tile) {
      const int64_t done = (tile - piece.begin) * tile_rows;
      kernels_.pack_tile({.format = source.format,
                          .rows = std::min<int64_t>(tile_rows, rows - done),
                          .columns = source.columns,
                          .values = values + done * row.values,
                          .scales = scales + done * row.scales,
                          .biases = biases + done * row.scales},
                         piece.block + piece.place->offset + tile * piece.place->tile_stride);
    }
    count(static_cast<uint64_t>(bytes_of(piece)));
  }

  void count(uint64_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    done_ += bytes;
    if (progress_) progress_(done_, checkpoint_.weight_bytes());
  }

  const Checkpoint& checkpoint_;
  const KernelSet& kernels_;
  LoadProgress progress_;
  std::mutex mutex_;
  uint64_t done_ = 0;
};

void read_vectors(const Checkpoint& checkpoint, Loader& loader, ModelWeights& weights) {
  for (size_t at = 0; at < weights.layers.size(); ++at) {
    const LayerSource& source = checkpoint.layer(static_cast<int>(at));
    LayerWeights& layer = weights.layers[at];
    layer.attention_norm = loader.read_vector(source.attention_norm);
    layer.query_norm = loader.read_vector(source.query_norm);
    layer.key_norm = loader.read_vector(source.key_norm);
    layer.mlp_norm = loader.read_vector(source.mlp_norm);
    if (checkpoint.config().layers[at].dense) continue;
    layer.expert_bias = source.expert_bias ? loader.read_vector(*source.expert_bias) : std::vector<float>(source.experts.size(), 0.0f);
  }
  weights.final_norm = loader.read_vector(checkpoint.final_norm());
}

}  // namespace

std::vector<WeightLine> ModelWeights::lines(const Checkpoint& checkpoint) {
  ModelWeights weights;
  std::vector<WeightLine> lines;
  for (const WeightBlock& block : lay_out_weights(checkpoint, weights)) {
    auto line = std::find_if(lines.begin(), lines.end(), [&](const WeightLine& candidate) { return candidate.name == block.name; });
    if (line == lines.end()) line = lines.insert(lines.end(), WeightLine{block.name});
    line->bytes += block.bytes;
    for (const WeightPlace& place : block.places) line->matrices.push_back(place.source);
  }
  return lines;
}

uint64_t ModelWeights::reading_bytes(const Checkpoint& checkpoint) {
  ModelWeights weights;
  int64_t most = 0;
  for (const WeightBlock& block : lay_out_weights(checkpoint, weights)) {
    for (const WeightPlace& place : block.places) {
      const int64_t row = RowBytes(*place.source).all();
      most = std::max(most, std::min(tile_count(place.source->rows), tiles_of_piece(row)) * tile_rows * row);
    }
  }
  return static_cast<uint64_t>(most);
}

ModelWeights ModelWeights::load(const Checkpoint& checkpoint, MemoryBudget& budget, const KernelSet& kernels, WorkerPool& pool,
                                const LoadProgress& progress) {
  ModelWeights weights;
  const std::vector<WeightBlock> blocks = lay_out_weights(checkpoint, weights);
  std::vector<Piece> pieces;
  for (const WeightBlock& block : blocks) {
    ClaimedBuffer<std::byte>& memory = weights.storage_.emplace_back(budget, block.name, block.bytes);
    for (const WeightPlace& place : block.places) {
      place.target->tiles = memory.data() + place.offset;
      place.target->tile_stride = place.tile_stride;
    }
    const std::vector<Piece> more = cut_into_pieces(block, memory.data());
    pieces.insert(pieces.end(), more.begin(), more.end());
  }
  Loader loader(checkpoint, kernels, progress);
  read_vectors(checkpoint, loader, weights);
  loader.read(std::move(pieces), pool);
  return weights;
}

}  // namespace lagoon
