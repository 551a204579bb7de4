// foreign_formats.h: tensors of checkpoints that Lagoon does not run, recognised by their names and types so that the refusal
// names the format instead of listing tensors that are missing.
#pragma once

#include "checkpoint/safetensors.h"

#include <string>
#include <vector>

namespace lagoon {

/// @param where  the folder, which begins the sentence
/// @throws Error(unsupported) naming the format and the tensor that shows it: GPTQ, AWQ, compressed-tensors (NVFP4, FP8, INT4, INT8),
/// MLX NVFP4, MXFP4 and MXFP8, bitsandbytes, a LoRA adapter, a draft model, multi-token prediction, plain integers or 64-bit floats
void refuse_foreign_formats(const std::vector<TensorHeader>& tensors, const std::string& where);

}  // namespace lagoon
