// What read_json refuses, and the byte that it names.
#include "base/error.h"
#include "text/jinja/json.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace lagoon::jinja {
namespace {

std::string refusal(std::string_view text) {
  try {
    read_json(text, "body", "; send JSON");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid);
    return error.what();
  }
  return "accepted";
}

TEST(JsonReader, RefusesANulByteWhereverItStands) {
  using namespace std::string_view_literals;
  for (const std::string_view text : {"[1]\0"sv, "[1]\0 anything"sv, "[1 \0]"sv, "\0[1]"sv, "[\"a\0b\"]"sv, "{}  \0{}"sv}) {
    const std::string place = "(byte " + std::to_string(text.find('\0')) + ": ";
    const std::string message = refusal(text);
    EXPECT_EQ(message.rfind("body is not JSON " + place, 0), 0U) << message;
    EXPECT_NE(message.find("; send JSON"), std::string::npos) << message;
  }
}

TEST(JsonReader, AcceptsAnEscapedNul) { EXPECT_EQ(read_json(R"(["a\u0000b"])", "body").items()[0].bytes(), std::string("a\0b", 3)); }

}  // namespace
}  // namespace lagoon::jinja
