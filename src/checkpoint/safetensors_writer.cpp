#include "checkpoint/safetensors_writer.h"

#include "base/checked.h"
#include "base/error.h"
#include "base/json.h"
#include "base/utf8.h"

#include <nlohmann/json.hpp>

#include <unordered_set>

namespace lagoon {
namespace {

std::string header_text(const std::vector<TensorToWrite>& tensors) {
  std::string text = "{";
  std::unordered_set<std::string_view> names;
  uint64_t offset = 0;
  for (const TensorToWrite& tensor : tensors) {
    require(names.insert(tensor.name).second && tensor.name != "__metadata__" && is_valid_utf8(tensor.name),
            "a tensor to write has no name of its own");
    const int64_t bits = checked_multiply<int64_t>(checked_element_count(tensor.shape, tensor.name), bits_of(tensor.type), tensor.name);
    require(static_cast<uint64_t>(bits) == 8 * static_cast<uint64_t>(tensor.bytes.size()), "the bytes of a tensor to write do not fit its shape");
    const uint64_t end = checked_add<uint64_t>(offset, tensor.bytes.size(), tensor.name);
    text += fmt::format("{}{}:{{\"dtype\":\"{}\",\"shape\":[{}],\"data_offsets\":[{},{}]}}", text.size() > 1 ? "," : "", Json(tensor.name).dump(),
                        name_of(tensor.type), fmt::join(tensor.shape, ","), offset, end);
    offset = end;
  }
  text += "}";
  text.append((8 - text.size() % 8) % 8, ' ');
  return text;
}

}  // namespace

void write_safetensors(const std::filesystem::path& path, const std::vector<TensorToWrite>& tensors) {
  const std::string header = header_text(tensors);
  const uint64_t length = header.size();
  DurableWriter writer(path);
  writer.write(std::as_bytes(std::span(&length, 1)));
  writer.write(std::as_bytes(std::span(header)));
  for (const TensorToWrite& tensor : tensors) writer.write(tensor.bytes);
  writer.commit();
}

}  // namespace lagoon
