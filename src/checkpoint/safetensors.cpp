#include "checkpoint/safetensors.h"

#include "base/byte_size.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/impostor.h"
#include "checkpoint/safetensors_json.h"
#include "machine/file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>
#include <span>
#include <unordered_set>

namespace lagoon {
namespace {

struct TypeEntry {
  StoredType type;
  std::string_view name;
  int bits;
};

constexpr std::array<TypeEntry, 22> type_table{{
    {StoredType::boolean, "BOOL", 8},
    {StoredType::f4, "F4", 4},
    {StoredType::f6_e2m3, "F6_E2M3", 6},
    {StoredType::f6_e3m2, "F6_E3M2", 6},
    {StoredType::u8, "U8", 8},
    {StoredType::i8, "I8", 8},
    {StoredType::f8_e4m3, "F8_E4M3", 8},
    {StoredType::f8_e5m2, "F8_E5M2", 8},
    {StoredType::f8_e8m0, "F8_E8M0", 8},
    {StoredType::f8_e4m3fnuz, "F8_E4M3FNUZ", 8},
    {StoredType::f8_e5m2fnuz, "F8_E5M2FNUZ", 8},
    {StoredType::u16, "U16", 16},
    {StoredType::i16, "I16", 16},
    {StoredType::f16, "F16", 16},
    {StoredType::bf16, "BF16", 16},
    {StoredType::u32, "U32", 32},
    {StoredType::i32, "I32", 32},
    {StoredType::f32, "F32", 32},
    {StoredType::u64, "U64", 64},
    {StoredType::i64, "I64", 64},
    {StoredType::f64, "F64", 64},
    {StoredType::c64, "C64", 64},
}};

const TypeEntry& entry_of(StoredType type) {
  for (const TypeEntry& entry : type_table) {
    if (entry.type == type) return entry;
  }
  fail(ErrorKind::bug, "internal contradiction: an element type without an entry");
}

std::optional<StoredType> type_named(std::string_view name) {
  for (const TypeEntry& entry : type_table) {
    if (entry.name == name) return entry.type;
  }
  return std::nullopt;
}

std::string format_missing(uint64_t bytes) { return format_bytes(bytes) + (bytes == 1 ? " is" : " are"); }

uint64_t read_header_length(const ReadableFile& file, const std::string& path) {
  std::array<char, 64> first{};
  const uint64_t available = std::min<uint64_t>(first.size(), file.size());
  file.read_at(0, std::as_writable_bytes(std::span(first)).first(available));
  refuse_impostor(std::string_view(first.data(), available), path, "a safetensors file");
  if (available < 8) {
    fail(ErrorKind::corrupt, "{}: the file has {}, a safetensors file has at least 8; the download is incomplete, fetch it again", path,
         format_bytes(file.size()));
  }
  static_assert(std::endian::native == std::endian::little);
  uint64_t length = 0;
  std::memcpy(&length, first.data(), sizeof(length));
  if (length > safetensors_header_limit) {
    fail(ErrorKind::corrupt, "{}: the header claims {}, at most {} are read; this is no safetensors file or it is damaged", path,
         format_bytes(length), format_count(safetensors_header_limit));
  }
  if (length < 2) {
    fail(ErrorKind::corrupt, "{}: the header claims {}, the shortest has 2; this is no safetensors file or it is damaged", path,
         format_bytes(length));
  }
  if (length > file.size() - 8) {
    fail(ErrorKind::corrupt, "{}: the header claims {}, the file has {} in all, at least {} missing; the download is incomplete, fetch it again",
         path, format_bytes(length), format_bytes(file.size()), format_missing(length - (file.size() - 8)));
  }
  return length;
}

/// Bytes that shape and type imply; nullopt if they leave 64 bits or are no whole number.
std::optional<uint64_t> implied_bytes(const std::vector<int64_t>& shape, int bits) {
  auto count = static_cast<uint64_t>(bits);
  bool overflow = false;
  for (const int64_t dimension : shape) overflow |= __builtin_mul_overflow(count, static_cast<uint64_t>(dimension), &count);
  if (overflow || count % 8 != 0) return std::nullopt;
  return count / 8;
}

/// Says what is wrong with an entry that check_entry() does not take. Apart, because a million sound entries need no sentence.
[[noreturn]] void refuse_entry(const HeaderEntry& entry, uint64_t data_start, const std::string& path) {
  const std::string what = fmt::format("{}: tensor `{}`", path, printable(entry.name));
  const auto type = type_named(entry.type);
  if (!type) {
    fail(ErrorKind::unsupported, "{} has the element type `{}`, which Lagoon does not know; fetch a checkpoint in BF16 or in an MLX affine format",
         what, printable(entry.type));
  }
  if (entry.begin > entry.end)
    fail(ErrorKind::corrupt, "{} begins at byte {} and ends at byte {}; the header is damaged", what, entry.begin, entry.end);
  const int64_t elements = checked_element_count(entry.shape, what);
  const int64_t bits = checked_multiply<int64_t>(elements, bits_of(*type), what);
  checked_add(data_start, entry.end, what);
  fail(ErrorKind::corrupt, "{} is {} {}, which takes {}, but its data_offsets span {}; the header is damaged", what, name_of(*type),
       format_shape(entry.shape), format_bytes(static_cast<uint64_t>(bits) / 8 + (bits % 8 != 0 ? 1 : 0)), format_bytes(entry.end - entry.begin));
}

/// Turns an entry of the JSON into a checked header. The end of the data may lie beyond the file: that is judged afterwards.
TensorHeader check_entry(HeaderEntry& entry, uint64_t data_start, const std::string& path) {
  const auto type = type_named(entry.type);
  const auto bytes = type ? implied_bytes(entry.shape, bits_of(*type)) : std::nullopt;
  uint64_t end = 0;
  const bool sound = bytes && entry.begin <= entry.end && *bytes == entry.end - entry.begin && !__builtin_add_overflow(data_start, entry.end, &end);
  if (!sound) refuse_entry(entry, data_start, path);
  return {std::move(entry.name), *type, std::move(entry.shape), data_start + entry.begin, *bytes, 0};
}

void check_distinct(const std::vector<TensorHeader>& tensors, const std::string& path) {
  std::unordered_set<std::string_view> names;
  names.reserve(tensors.size());
  for (const TensorHeader& tensor : tensors) {
    if (!names.insert(tensor.name).second) {
      fail(ErrorKind::corrupt, "{}: tensor `{}` stands twice in the header; the file is damaged", path, printable(tensor.name));
    }
  }
}

void check_inside_and_apart(const std::vector<TensorHeader>& tensors, uint64_t file_size, const std::string& path) {
  std::vector<uint32_t> order(tensors.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto before = [&](uint32_t a, uint32_t b) {
    return tensors[a].offset != tensors[b].offset ? tensors[a].offset < tensors[b].offset : tensors[a].bytes < tensors[b].bytes;
  };
  if (!std::is_sorted(order.begin(), order.end(), before)) std::sort(order.begin(), order.end(), before);
  for (size_t i = 0; i < order.size(); ++i) {
    const TensorHeader& tensor = tensors[order[i]];
    if (i > 0) {
      const TensorHeader& previous = tensors[order[i - 1]];
      if (tensor.offset < previous.offset + previous.bytes) {
        fail(ErrorKind::corrupt, "{}: tensors `{}` and `{}` overlap at byte {}; the header is damaged", path, printable(previous.name),
             printable(tensor.name), tensor.offset);
      }
    }
    const uint64_t end = tensor.offset + tensor.bytes;
    if (end > file_size) {
      const TensorHeader& last = tensors[order.back()];
      fail(ErrorKind::corrupt,
           "{}: tensor `{}` ends at byte {}, the file has {}: {} missing up to the end of its last tensor; the download is incomplete, fetch it "
           "again",
           path, printable(tensor.name), end, format_bytes(file_size), format_missing(std::max(end, last.offset + last.bytes) - file_size));
    }
  }
}

}  // namespace

std::string_view name_of(StoredType type) { return entry_of(type).name; }

int bits_of(StoredType type) { return entry_of(type).bits; }

std::string format_shape(const std::vector<int64_t>& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

SafetensorsHeader read_safetensors_header(const ReadableFile& file) {
  const std::string path = printable_path(file.path());
  const uint64_t length = read_header_length(file, path);
  std::string text(length, '\0');
  file.read_at(8, std::as_writable_bytes(std::span(text)));

  SafetensorsHeader header;
  header.tensors.reserve(length / 100);  // bytes of a common entry
  read_header_json(text, path, header.metadata, [&](HeaderEntry& entry) { header.tensors.push_back(check_entry(entry, 8 + length, path)); });
  check_distinct(header.tensors, path);
  check_inside_and_apart(header.tensors, file.size(), path);
  return header;
}

}  // namespace lagoon
