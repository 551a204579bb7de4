// weight_files.h: which files of a folder hold the weights, opened, with all their headers.
//   model.safetensors.index.json    names the files; each tensor must be where it says, and nothing else
//   model.safetensors               without an index; shards, or an index of shards, beside it are another checkpoint and refused
//   model-00001-of-00003.safetensors ...   without an index: all numbers must be there
//   any one other .safetensors      if it is the only one
#pragma once

#include "checkpoint/safetensors.h"
#include "machine/file.h"

#include <filesystem>
#include <memory>
#include <vector>

namespace lagoon {

struct WeightFiles {
  std::vector<std::unique_ptr<ReadableFile>> files;
  std::vector<TensorHeader> tensors;  // of all files; TensorHeader::file counts `files`; names are distinct
};

/// Looks at names alone and refuses what holds no checkpoint that Lagoon reads: an adapter, GGUF, .bin or .npz files alone, an
/// empty folder.
/// @throws Error(unsupported) naming the format; Error(invalid) if there are no weights or no config.json; Error(io)
void check_folder(const std::filesystem::path& folder);

/// The headers of files that are open already, in this order.
/// @param folder  begins the sentence of an error
/// @throws Error(corrupt) for a tensor in two files, and as read_safetensors_header
WeightFiles read_weight_headers(std::vector<std::unique_ptr<ReadableFile>> files, const std::filesystem::path& folder);

/// Opens the files and reads their headers. @pre check_folder passed
/// @throws Error(corrupt) for missing shards, an index and headers that differ, a tensor in two files, and as read_safetensors_header
WeightFiles open_weight_files(const std::filesystem::path& folder, const Files& files);

}  // namespace lagoon
