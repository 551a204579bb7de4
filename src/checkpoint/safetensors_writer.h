// safetensors_writer.h: named tensors into a new safetensors file, streamed and durable: a reader sees no file or a whole one.
#pragma once

#include "checkpoint/safetensors.h"
#include "machine/file.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace lagoon {

/// What the header says of a tensor; its bytes come later.
struct TensorDeclaration {
  std::string name;  // UTF-8, distinct, not "__metadata__"
  StoredType type = StoredType::f32;
  std::vector<int64_t> shape;
};

/// What stands before the data of a file with these tensors in this order: the length and the JSON, padded with spaces so that
/// the data begin at a multiple of 8 bytes.
/// @param metadata  of "__metadata__"; none is written if it is empty
/// @throws Error(bug) if a name stands twice
std::string safetensors_header(const std::vector<TensorDeclaration>& tensors, const std::map<std::string, std::string>& metadata = {});

/// Bytes of the tensor's elements. @throws Error(corrupt) if the shape leaves the range of sizes
uint64_t bytes_of(const TensorDeclaration& tensor);

/// Writes tensors whose shapes are known before their numbers, such as logits that come step by step.
class SafetensorsWriter {
 public:
  /// Writes the header, padded with spaces so that the data begin at a multiple of 8 bytes.
  /// @throws Error(io) naming the file; Error(bug) if a name stands twice
  SafetensorsWriter(const std::filesystem::path& path, const std::vector<TensorDeclaration>& tensors);

  /// The next bytes: row-major, little-endian, the tensors in the order of the header. @throws Error(io)
  void append(std::span<const std::byte> bytes);

  /// Puts the file in its place. Without it whatever stood there before is unchanged. @throws Error(io); Error(bug) if the
  /// bytes do not add up to the shapes
  void commit();

 private:
  DurableWriter writer_;
  uint64_t left_ = 0;  // bytes that are still to come
};

struct TensorToWrite {
  std::string name;
  StoredType type = StoredType::f32;
  std::vector<int64_t> shape;
  std::span<const std::byte> bytes;  // row-major, little-endian; elements * bits / 8
};

/// All tensors at once, in the order given. @throws as SafetensorsWriter; Error(bug) if bytes and shape of one differ
void write_safetensors(const std::filesystem::path& path, const std::vector<TensorToWrite>& tensors);

}  // namespace lagoon
