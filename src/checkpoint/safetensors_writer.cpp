#include "checkpoint/safetensors_writer.h"

#include "base/checked.h"
#include "base/error.h"
#include "base/json.h"
#include "base/utf8.h"

#include <nlohmann/json.hpp>

#include <cstring>
#include <unordered_set>

namespace lagoon {

uint64_t bytes_of(const TensorDeclaration& tensor) {
  const int64_t bits = checked_multiply<int64_t>(checked_element_count(tensor.shape, tensor.name), bits_of(tensor.type), tensor.name);
  return static_cast<uint64_t>(bits / 8);
}

std::string safetensors_header(const std::vector<TensorDeclaration>& tensors, const std::map<std::string, std::string>& metadata) {
  std::string text(sizeof(uint64_t), '\0');
  text += "{";
  std::string_view comma;
  if (!metadata.empty()) {
    text += "\"__metadata__\":" + Json(metadata).dump();
    comma = ",";
  }
  std::unordered_set<std::string_view> names;
  uint64_t offset = 0;
  for (const TensorDeclaration& tensor : tensors) {
    require(names.insert(tensor.name).second && tensor.name != "__metadata__" && is_valid_utf8(tensor.name),
            "a tensor to write has no name of its own");
    const uint64_t end = checked_add<uint64_t>(offset, bytes_of(tensor), tensor.name);
    text += fmt::format("{}{}:{{\"dtype\":\"{}\",\"shape\":[{}],\"data_offsets\":[{},{}]}}", comma, Json(tensor.name).dump(), name_of(tensor.type),
                        fmt::join(tensor.shape, ","), offset, end);
    comma = ",";
    offset = end;
  }
  text += "}";
  text.append((8 - text.size() % 8) % 8, ' ');
  const uint64_t length = text.size() - sizeof(uint64_t);
  std::memcpy(text.data(), &length, sizeof(length));
  return text;
}

SafetensorsWriter::SafetensorsWriter(const std::filesystem::path& path, const std::vector<TensorDeclaration>& tensors) : writer_(path) {
  const std::string header = safetensors_header(tensors);
  writer_.write(std::as_bytes(std::span(header)));
  for (const TensorDeclaration& tensor : tensors) left_ += bytes_of(tensor);
}

void SafetensorsWriter::append(std::span<const std::byte> bytes) {
  require(bytes.size() <= left_, "more bytes come than the shapes of a file have room for");
  writer_.write(bytes);
  left_ -= bytes.size();
}

void SafetensorsWriter::commit() {
  require(left_ == 0, "a file is put in place before all of its bytes have come");
  writer_.commit();
}

void write_safetensors(const std::filesystem::path& path, const std::vector<TensorToWrite>& tensors) {
  std::vector<TensorDeclaration> declarations;
  for (const TensorToWrite& tensor : tensors) {
    declarations.push_back({tensor.name, tensor.type, tensor.shape});
    require(bytes_of(declarations.back()) == tensor.bytes.size(), "the bytes of a tensor to write do not fit its shape");
  }
  SafetensorsWriter writer(path, declarations);
  for (const TensorToWrite& tensor : tensors) writer.append(tensor.bytes);
  writer.commit();
}

}  // namespace lagoon
