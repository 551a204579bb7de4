#include "base/byte_size.h"

#include "base/error.h"

#include <gmock/gmock.h>

namespace lagoon {
namespace {

std::string refusal(std::string_view text) {
  try {
    parse_byte_size(text, "--memory");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid);
    return error.what();
  }
  return "accepted";
}

TEST(ByteSize, DecimalUnitsArePowersOfAThousand) {
  EXPECT_EQ(parse_byte_size("24GB", "x"), 24'000'000'000u);
  EXPECT_EQ(parse_byte_size("24000MB", "x"), 24'000'000'000u);
  EXPECT_EQ(parse_byte_size("3kB", "x"), 3000u);
  EXPECT_EQ(parse_byte_size("2TB", "x"), 2'000'000'000'000u);
}

TEST(ByteSize, BinaryUnitsArePowersOf1024) {
  EXPECT_EQ(parse_byte_size("24GiB", "x"), 24ull << 30);
  EXPECT_EQ(parse_byte_size("1.5GiB", "x"), 3ull << 29);
  EXPECT_EQ(parse_byte_size("4096B", "x"), 4096u);
  EXPECT_EQ(parse_byte_size("0B", "x"), 0u);
}

TEST(ByteSize, AMissingUnitIsRefusedWithAdvice) {
  EXPECT_THAT(refusal("64"), testing::HasSubstr("the unit is missing; write a size such as 64GB (64 x 10^9 bytes) or 64GiB"));
}

TEST(ByteSize, OtherSpellingsAreRefused) {
  for (const char* text : {"24G", "24g", "24 gb", "24 GB", "24gb", "24GiBs", " 24GB", "24GB "}) EXPECT_NE(refusal(text), "accepted") << text;
}

TEST(ByteSize, WhatIsNoNumberIsRefused) {
  for (const char* text : {"", "GB", "-1GB", "+1GB", ".5GB", "1.GB", "1.2.3GB", "1e3GB", "0x10GB", "nan"})
    EXPECT_NE(refusal(text), "accepted") << text;
}

TEST(ByteSize, PartsOfAByteAreRefused) {
  EXPECT_THAT(refusal("0.3B"), testing::HasSubstr("no whole number of bytes"));
  EXPECT_EQ(parse_byte_size("0.5kB", "x"), 500u);
}

TEST(ByteSize, SizesBeyond63BitsAreRefused) {
  EXPECT_THAT(refusal("8388608TiB"), testing::HasSubstr("2^63"));
  EXPECT_EQ(parse_byte_size("9223372036854775807B", "x"), 9223372036854775807u);
  EXPECT_THAT(refusal("9223372036854775808B"), testing::HasSubstr("2^63"));
  EXPECT_NE(refusal("99999999999999999999999999999999TB"), "accepted");
}

// The published oQ4e checkpoint: 64,122,027,323 bytes are 59.72 GiB (a page elsewhere prints 64.12 GiB).
TEST(ByteSize, GibAreBinaryWithTheUnitSpelled) {
  EXPECT_EQ(format_gib(64'122'027'323u), "59.72 GiB");
  EXPECT_EQ(format_gib(83'000'000'000u), "77.30 GiB");
  EXPECT_EQ(format_gib(0), "0.00 GiB");
  EXPECT_EQ(format_gib((1ull << 30) - 1), "1.00 GiB");
  EXPECT_EQ(format_gib(UINT64_MAX), "17179869184.00 GiB");
}

TEST(ByteSize, ExactBytesAreGrouped) {
  EXPECT_EQ(format_bytes(64'122'027'323u), "64,122,027,323 bytes");
  EXPECT_EQ(format_bytes(1), "1 byte");
  EXPECT_EQ(format_bytes(999), "999 bytes");
  EXPECT_EQ(format_bytes(1000), "1,000 bytes");
}

TEST(ByteSize, SmallSizesTakeTheLargestUnitThatFits) {
  EXPECT_EQ(format_binary(512), "512 B");
  EXPECT_EQ(format_binary(4096), "4.00 KiB");
  EXPECT_EQ(format_binary(3u << 20), "3.00 MiB");
}

}  // namespace
}  // namespace lagoon
