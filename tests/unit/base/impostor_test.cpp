// impostor: what a download leaves in place of a file.
#include "base/impostor.h"

#include "base/json.h"
#include "support/sentence_of.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace lagoon {
namespace {

using testing::HasSubstr;
using testing_support::sentence_of;

TEST(Impostor, IsToldByItsFirstBytes) {
  EXPECT_THAT(recognise_impostor("version https://git-lfs.github.com/spec/v1\n").value_or(""), HasSubstr("git-lfs"));
  EXPECT_EQ(recognise_impostor("<!DOCTYPE html>"), "a web page");
  EXPECT_EQ(recognise_impostor("\n  <HTML>"), "a web page");
  EXPECT_EQ(recognise_impostor("\xef\xbb\xbf<html>"), "a web page");
  EXPECT_EQ(recognise_impostor("{\"a\": \"<html>\"}"), std::nullopt);
  EXPECT_EQ(recognise_impostor(""), std::nullopt);
}

TEST(Impostor, IsNamedWhereJsonWasExpected) {
  EXPECT_EQ(sentence_of(ErrorKind::corrupt, [] { (void)parse_json("<html>404</html>", "a.json"); }),
            "a.json: this is a web page, not JSON; fetch the file itself");
}

TEST(OtherEncoding, IsNamedWhereUtf8WasExpected) {
  const auto refusal = [](const std::string& text) { return sentence_of(ErrorKind::corrupt, [&] { (void)parse_json(text, "a.json"); }); };
  const std::string low = {'{', '\0', '}', '\0'};
  const std::string high = {'\0', '{', '\0', '}'};
  const std::string wide = {'{', '\0', '\0', '\0', '}', '\0', '\0', '\0'};
  for (const std::string& text : {low, high, "\xff\xfe" + low, "\xfe\xff" + high}) {
    EXPECT_EQ(refusal(text), "a.json: the text looks like UTF-16, UTF-8 is needed; save it as UTF-8");
  }
  EXPECT_EQ(refusal(wide), "a.json: the text looks like UTF-32, UTF-8 is needed; save it as UTF-8");
  EXPECT_THAT(refusal("{\"a" + std::string(1, '\0') + "\": 1}"), HasSubstr("a NUL byte"));
}

}  // namespace
}  // namespace lagoon
