#include "checkpoint/safetensors_writer.h"

#include "machine/file.h"
#include "support/checkpoint_builder.h"
#include "support/error_matchers.h"

#include <gtest/gtest.h>

#include <array>

namespace lagoon {
namespace {

using testing_support::expect_error;
using testing_support::file_text;
using testing_support::TemporaryFolder;

TEST(SafetensorsWriter, WritesTheBytesThatTheFormatPrescribes) {
  const testing_support::TemporaryFolder folder;
  const std::array<float, 2> logits = {1.0f, -2.0f};
  const std::array<int64_t, 1> ids = {7};

  write_safetensors(folder.path() / "out.safetensors", {{"logits_0", StoredType::f32, {1, 2}, std::as_bytes(std::span(logits))},
                                                        {"ids \"0\"", StoredType::i64, {1}, std::as_bytes(std::span(ids))}});

  const std::string bytes = file_text(folder.path() / "out.safetensors");
  const std::string header =
      R"({"logits_0":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},"ids \"0\"":{"dtype":"I64","shape":[1],"data_offsets":[8,16]}})";
  const size_t padded = (header.size() + 7) / 8 * 8;
  ASSERT_EQ(bytes.size(), 8 + padded + 16);
  EXPECT_EQ(bytes.substr(0, 8), std::string(1, static_cast<char>(padded)) + std::string(7, '\0'));
  EXPECT_EQ(bytes.substr(8, padded), header + std::string(padded - header.size(), ' '));
  EXPECT_EQ(bytes.substr(8 + padded, 8), std::string("\0\0\x80\x3f\0\0\0\xc0", 8));
  EXPECT_EQ(bytes.substr(16 + padded), std::string("\7\0\0\0\0\0\0\0", 8));
}

TEST(SafetensorsWriter, WhatItWritesIsReadBack) {
  const testing_support::TemporaryFolder folder;
  const std::array<float, 6> values = {0, 1, 2, 3, 4, 5};

  write_safetensors(folder.path() / "out.safetensors",
                    {{"a", StoredType::f32, {2, 3}, std::as_bytes(std::span(values))}, {"b", StoredType::f32, {0}, {}}});

  const SafetensorsHeader header = read_safetensors_header(*SystemFiles().open(folder.path() / "out.safetensors"));
  ASSERT_EQ(header.tensors.size(), 2u);
  EXPECT_EQ(header.tensors[0].shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(header.tensors[0].offset % 8, 0u);
  EXPECT_EQ(header.tensors[1].bytes, 0u);
}

TEST(SafetensorsWriter, BytesThatDoNotFitTheShapeAreABug) {
  const testing_support::TemporaryFolder folder;
  const std::array<float, 2> values = {0, 1};
  expect_error(
      [&] {
        write_safetensors(folder.path() / "out.safetensors", {{"a", StoredType::f32, {3}, std::as_bytes(std::span(values))}});
      },
      ErrorKind::bug, {"do not fit"});
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(SafetensorsWriter, FolderThatIsNotThereIsNamed) {
  const testing_support::TemporaryFolder folder;
  expect_error([&] { write_safetensors(folder.path() / "nowhere" / "out.safetensors", {}); }, ErrorKind::invalid, {"nowhere/out.safetensors"});
}

TEST(SafetensorsHeader, HoldsMetadataAndIsPadded) {
  const TemporaryFolder folder;
  const std::string header = safetensors_header({{"a", StoredType::bf16, {2, 3}}, {"b", StoredType::f32, {1}}}, {{"format", "mlx"}});
  EXPECT_EQ(header.size() % 8, 0u);
  const auto path = folder.write("a.safetensors", header + std::string(16, '\0'));
  const SafetensorsHeader found = read_safetensors_header(*SystemFiles().open(path));
  EXPECT_EQ(found.metadata.at("format"), "mlx");
  ASSERT_EQ(found.tensors.size(), 2u);
  EXPECT_EQ(found.tensors[1].offset, header.size() + 12);
}

}  // namespace
}  // namespace lagoon
