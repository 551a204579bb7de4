// safetensors_writer.h: named tensors into a new safetensors file, streamed and durable: a reader sees no file or a whole one.
#pragma once

#include "checkpoint/safetensors.h"

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace lagoon {

struct TensorToWrite {
  std::string name;  // UTF-8, distinct, not "__metadata__"
  StoredType type = StoredType::f32;
  std::vector<int64_t> shape;
  std::span<const std::byte> bytes;  // row-major, little-endian; elements * bits / 8
};

/// Writes the tensors in the order given. The header is padded with spaces so that the data begin at a multiple of 8 bytes.
/// @throws Error(io) naming the file; whatever stood at `path` before is then unchanged. Error(bug) if bytes and shape differ
/// or a name stands twice.
void write_safetensors(const std::filesystem::path& path, const std::vector<TensorToWrite>& tensors);

}  // namespace lagoon
