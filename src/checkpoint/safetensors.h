// safetensors.h: the header of one safetensors file, read and checked before any weight is.
//
//   bytes 0..7        length N of the header, little-endian
//   bytes 8..8+N      JSON: {"name": {"dtype": "BF16", "shape": [2, 3], "data_offsets": [begin, end]}, ..., "__metadata__": {...}}
//   bytes 8+N..       the data; offsets count from here
//
// Nothing in it is trusted: every length, shape and offset is checked against the others and against the file.
#pragma once

#include "machine/file.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace lagoon {

/// Every element type of the format, so that what Lagoon does not compute with can at least be named.
enum class StoredType : uint8_t {
  boolean,
  f4,
  f6_e2m3,
  f6_e3m2,
  u8,
  i8,
  f8_e4m3,
  f8_e5m2,
  f8_e8m0,
  f8_e4m3fnuz,
  f8_e5m2fnuz,  // at most 8 bits
  u16,
  i16,
  f16,
  bf16,
  u32,
  i32,
  f32,
  u64,
  i64,
  f64,
  c64
};

/// As files spell it: "BF16".
std::string_view name_of(StoredType type);

/// Of one element; 4 for F4, 6 for the two F6.
int bits_of(StoredType type);

/// One tensor as the header describes it.
struct TensorHeader {
  std::string name;
  StoredType type = StoredType::f32;
  std::vector<int64_t> shape;  // outermost first; empty for a scalar; never negative
  uint64_t offset = 0;         // of the first byte, from the start of the file
  uint64_t bytes = 0;          // elements * bits / 8
  int file = 0;                // for whoever reads several files
};

struct SafetensorsHeader {
  std::vector<TensorHeader> tensors;            // in the order of the header
  std::map<std::string, std::string> metadata;  // of "__metadata__"
};

/// Longest header that is read: the limit of the format's reference implementation.
constexpr uint64_t safetensors_header_limit = 100'000'000;

/// Reads 8 bytes and the header. Every range that it returns lies inside the file, has the size that shape and type imply,
/// and overlaps no other; names are distinct.
/// @throws Error(corrupt) naming file, tensor and fault; Error(unsupported) for an unknown element type; Error(io)
SafetensorsHeader read_safetensors_header(const ReadableFile& file);

/// "[100352, 3072]".
std::string format_shape(const std::vector<int64_t>& shape);

}  // namespace lagoon
