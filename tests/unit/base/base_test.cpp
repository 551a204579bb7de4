// error, checked arithmetic, bfloat16, aligned buffers, UTF-8, JSON.
#include "base/aligned_buffer.h"
#include "base/bfloat16.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/json.h"
#include "base/portable_math.h"
#include "base/utf8.h"
#include "support/sentence_of.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>

namespace lagoon {
namespace {

using testing::HasSubstr;
using testing_support::sentence_of;

TEST(Error, BadInputExitsWith2AndFailuresWith1) {
  EXPECT_EQ(exit_code_of(ErrorKind::invalid), 2);
  EXPECT_EQ(exit_code_of(ErrorKind::unsupported), 2);
  EXPECT_EQ(exit_code_of(ErrorKind::corrupt), 2);
  EXPECT_EQ(exit_code_of(ErrorKind::over_budget), 1);
  EXPECT_EQ(exit_code_of(ErrorKind::io), 1);
  EXPECT_EQ(exit_code_of(ErrorKind::bug), 1);
  EXPECT_EQ(exit_code_of(ErrorKind::cancelled), 130);
  EXPECT_STREQ(name_of(ErrorKind::over_budget), "over_budget");
}

TEST(Error, TextFromOutsideCannotSteerATerminal) {
  EXPECT_EQ(printable("a\x1b[31mb\n"), "a\\x1b[31mb\\x0a");
  EXPECT_EQ(printable("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(printable("\xc3\xa9"), "\xc3\xa9");
  EXPECT_EQ(printable("\xc2\x9b"
                      "1m"),
            "\\xc2\\x9b1m");  // U+009B begins a sequence as ESC [ does
  EXPECT_EQ(printable("\xe2\x80\xae"
                      "a\xe2\x80\xa8"),
            "\\xe2\\x80\\xaea\\xe2\\x80\\xa8");  // from right to left, line separator
  EXPECT_EQ(printable("abcdef", 3), "abc...");
}

TEST(Checked, WhatLeavesTheRangeIsCorrupt) {
  EXPECT_EQ(checked_add<int64_t>(2, 3, "t"), 5);
  EXPECT_THAT(sentence_of(ErrorKind::corrupt, [] { checked_add<uint64_t>(UINT64_MAX, 1, "tensor `x`"); }), HasSubstr("tensor `x`"));
  EXPECT_THAT(sentence_of(ErrorKind::corrupt, [] { checked_multiply<int64_t>(int64_t{1} << 32, int64_t{1} << 31, "t"); }),
              HasSubstr("leaves the range"));
  EXPECT_THAT(sentence_of(ErrorKind::corrupt, [] { checked_cast<int32_t>(int64_t{1} << 31, "t"); }), HasSubstr("2147483648"));
  EXPECT_EQ(checked_cast<int32_t>(uint64_t{2147483647}, "t"), 2147483647);
}

TEST(Checked, ElementCountsMultiplyAndRefuseNegativeDimensions) {
  const std::vector<int64_t> shape = {3, 0, 7};
  EXPECT_EQ(checked_element_count(shape, "t"), 0);
  EXPECT_EQ(checked_element_count({}, "t"), 1);
  const std::vector<int64_t> negative = {-1, -1};
  EXPECT_THAT(sentence_of(ErrorKind::corrupt, [&] { checked_element_count(negative, "t"); }), HasSubstr("negative"));
}

TEST(Bfloat16, RoundsToNearestEven) {
  EXPECT_EQ(to_bfloat16(1.0f).bits, 0x3f80);
  EXPECT_EQ(to_bfloat16(std::bit_cast<float>(0x3f808000u)).bits, 0x3f80);  // a tie, even below
  EXPECT_EQ(to_bfloat16(std::bit_cast<float>(0x3f818000u)).bits, 0x3f82);  // a tie, even above
  EXPECT_EQ(to_bfloat16(std::bit_cast<float>(0x3f808001u)).bits, 0x3f81);
  EXPECT_EQ(to_bfloat16(std::numeric_limits<float>::max()).bits, 0x7f80);
  EXPECT_TRUE(std::isnan(to_float(to_bfloat16(std::bit_cast<float>(0x7f800001u)))));
}

TEST(Float16, WidensExactlySubnormalsIncluded) {
  EXPECT_EQ(to_float(Float16{0x3c00}), 1.0f);
  EXPECT_EQ(to_float(Float16{0xc000}), -2.0f);
  EXPECT_EQ(to_float(Float16{0x7bff}), 65504.0f);
  EXPECT_EQ(to_float(Float16{0x0001}), 0x1p-24f);
  EXPECT_EQ(to_float(Float16{0x83ff}), -1023 * 0x1p-24f);
  EXPECT_TRUE(std::isinf(to_float(Float16{0xfc00})));
  EXPECT_TRUE(std::isnan(to_float(Float16{0x7e00})));
}

TEST(AlignedBuffer, StandsOnACacheLineAndRefusesTheImpossible) {
  const AlignedBuffer<float> buffer(3);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % 64, 0u);
  EXPECT_EQ(AlignedBuffer<float>(0).size(), 0u);
  EXPECT_THAT(sentence_of(ErrorKind::io, [] { AlignedBuffer<double> huge(SIZE_MAX / 4); }), HasSubstr("no memory"));
}

TEST(Utf8, IllFormedStretchesAreMaximalSubparts) {
  EXPECT_EQ(replace_invalid_utf8("a\xf0\x9f\x98z"), "a\xef\xbf\xbdz");                      // three bytes, one replacement
  EXPECT_EQ(replace_invalid_utf8("\xed\xa0\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");  // a surrogate: each byte
  EXPECT_EQ(replace_invalid_utf8("\xc0\xaf"), "\xef\xbf\xbd\xef\xbf\xbd");                  // overlong
  EXPECT_EQ(replace_invalid_utf8("\xf4\x90\x80\x80").size(), 12u);                          // above U+10FFFF
  EXPECT_TRUE(is_valid_utf8("\xf4\x8f\xbf\xbf"));
  bool could_continue = false;
  EXPECT_EQ(invalid_utf8_length("\xe2\x82", &could_continue), 2u);
  EXPECT_TRUE(could_continue);
  EXPECT_EQ(invalid_utf8_length("\xe2z", &could_continue), 1u);
  EXPECT_FALSE(could_continue);
}

TEST(Utf8, EveryScalarValueGoesThereAndBack) {
  for (char32_t code = 0; code <= 0x10ffff; ++code) {
    if (code >= 0xd800 && code <= 0xdfff) continue;
    std::string text;
    append_utf8(text, code);
    ASSERT_EQ(valid_utf8_length(text), text.size());
    ASSERT_EQ(decode_utf8(text, text.size()), code);
  }
}

TEST(Json, KeepsTheOrderOfKeys) { EXPECT_EQ(parse_json(R"({"b": 1, "a": [2, null]})", "x").dump(), R"({"b":1,"a":[2,null]})"); }

TEST(Json, ADuplicateKeyIsNamed) {
  EXPECT_THAT(sentence_of(ErrorKind::corrupt, [] { parse_json(R"({"a": {"k": 1, "k": 2}})", "config.json"); }),
              HasSubstr("config.json: the key `k` stands twice"));
  EXPECT_NO_THROW(parse_json(R"({"a": {"k": 1}, "b": {"k": 2}})", "x"));
}

TEST(Json, TheByteOfAFaultIsNamed) {
  EXPECT_THAT(sentence_of(ErrorKind::corrupt, [] { parse_json("{\"a\": }", "config.json"); }), HasSubstr("config.json: no valid JSON at byte 7"));
  EXPECT_THAT(sentence_of(ErrorKind::corrupt, [] { parse_json("", "x"); }), HasSubstr("empty"));
  EXPECT_NE(sentence_of(ErrorKind::corrupt, [] { parse_json("{\"a\": \"\xff\"}", "x"); }), "no error");
  EXPECT_NE(sentence_of(ErrorKind::corrupt, [] { parse_json("[1] 2", "x"); }), "no error");
}

TEST(Json, ANumberThatIsTooLargeIsNamed) {
  EXPECT_EQ(sentence_of(ErrorKind::corrupt, [] { parse_json("[1e999]", "config.json"); }),
            "config.json: no valid JSON at byte 6: the number `1e999` is too large");
}

// Linear in the number of keys: with a look-up for each, these would take minutes.
TEST(Json, ObjectsOfManyKeysAreRead) {
  std::string text = "{\"k0\": 0";
  for (int at = 1; at < 200'000; ++at) text += ", \"k" + std::to_string(at) + "\": [{\"a\": " + std::to_string(at) + "}]";
  const Json document = parse_json(text + "}", "x");
  EXPECT_EQ(document.size(), 200'000u);
  EXPECT_EQ(document.back().dump(), R"([{"a":199999}])");
}

TEST(Json, KeysAreBounded) {
  const auto object = [](size_t bytes) { return "{\"" + std::string(bytes, 'k') + "\": 1}"; };
  EXPECT_NO_THROW(parse_json(object(65536), "x"));
  EXPECT_THAT(sentence_of(ErrorKind::corrupt, [&] { parse_json(object(65537), "config.json"); }),
              HasSubstr("config.json: a key has 65537 bytes, at most 65536 are read: `kkk"));
}

TEST(Json, DepthIsBounded) {
  EXPECT_NO_THROW(parse_json(std::string(500, '[') + std::string(500, ']'), "x"));
  EXPECT_THAT(sentence_of(ErrorKind::corrupt, [] { parse_json(std::string(1'000'000, '['), "x"); }), HasSubstr("nested deeper than 512"));
}

TEST(PortableMath, AgreesWithTheCLibrary) {
  for (double x = -690.0; x < 700.0; x += 0.37) ASSERT_NEAR(exponential(x) / std::exp(x), 1.0, 1e-13) << x;
  for (double x = 1e-9; x < 1e9; x *= 1.37) ASSERT_NEAR(natural_log(x), std::log(x), 1e-14 * (1.0 + std::fabs(std::log(x)))) << x;
  for (double x = -1e6; x < 1e6; x += 1234.5678) {
    ASSERT_NEAR(sine_cosine(x).sine, std::sin(x), 1e-12) << x;
    ASSERT_NEAR(sine_cosine(x).cosine, std::cos(x), 1e-12) << x;
  }
  EXPECT_EQ(exponential(0.0), 1.0);
  EXPECT_EQ(exponential(-1e9), 0.0);
}

}  // namespace
}  // namespace lagoon
