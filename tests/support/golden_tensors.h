// golden_tensors.h: the tensors of a safetensors file of reference values.
#pragma once

#include "base/bfloat16.h"
#include "checkpoint/safetensors.h"

#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace lagoon::testing_support {

class GoldenTensors {
 public:
  explicit GoldenTensors(const std::filesystem::path& path) : file_(SystemFiles().open(path)) {
    for (const TensorHeader& tensor : read_safetensors_header(*file_).tensors) tensors_[tensor.name] = tensor;
  }

  bool has(const std::string& name) const { return tensors_.contains(name); }
  const std::vector<int64_t>& shape(const std::string& name) const { return header(name).shape; }

  std::vector<std::byte> bytes(const std::string& name) const {
    std::vector<std::byte> bytes(header(name).bytes);
    file_->read_at(header(name).offset, bytes);
    return bytes;
  }

  /// F32 and F64 as they are, BF16 and F16 widened.
  std::vector<double> numbers(const std::string& name) const {
    switch (header(name).type) {
      case StoredType::f32:
        return widened<float>(name, [](float value) { return static_cast<double>(value); });
      case StoredType::f64:
        return widened<double>(name, [](double value) { return value; });
      case StoredType::bf16:
        return widened<uint16_t>(name, [](uint16_t bits) { return static_cast<double>(to_float(Bfloat16{bits})); });
      case StoredType::f16:
        return widened<uint16_t>(name, [](uint16_t bits) { return static_cast<double>(to_float(Float16{bits})); });
      default:
        throw std::runtime_error(name + " holds no floats");
    }
  }

  std::vector<float> floats(const std::string& name) const {
    const std::vector<double> wide = numbers(name);
    return {wide.begin(), wide.end()};
  }

  std::vector<int32_t> integers(const std::string& name) const {
    if (header(name).type != StoredType::i32 && header(name).type != StoredType::u32)
      throw std::runtime_error(name + " holds no integers of 32 bits");
    return raw<int32_t>(name);
  }

 private:
  const TensorHeader& header(const std::string& name) const {
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) throw std::runtime_error("no reference tensor " + name);
    return found->second;
  }

  template <typename T>
  std::vector<T> raw(const std::string& name) const {
    const std::vector<std::byte> stored = bytes(name);
    std::vector<T> values(stored.size() / sizeof(T));
    std::memcpy(values.data(), stored.data(), stored.size());
    return values;
  }

  template <typename T, typename Widen>
  std::vector<double> widened(const std::string& name, Widen&& widen) const {
    std::vector<double> numbers;
    for (const T value : raw<T>(name)) numbers.push_back(widen(value));
    return numbers;
  }

  std::unique_ptr<ReadableFile> file_;
  std::map<std::string, TensorHeader> tensors_;
};

}  // namespace lagoon::testing_support
