// Patterns as Oniguruma means them. Expected values: tokenizers 0.23.3, pre_tokenizers.Split(Regex(pattern), "removed") on each character.
#include "text/tokenizer/regex.h"

#include "base/error.h"
#include "text/tokenizer/regex_syntax.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace lagoon {
namespace {

std::vector<std::string> matches(const std::string& pattern, const std::string& text) {
  const Regex regex(pattern, "p");
  RegexScratch scratch;
  std::vector<std::string> found;
  Match match{};
  size_t at = 0;
  while (at < text.size() && regex.find(text, at, scratch, match)) {
    found.push_back(text.substr(match.begin, match.end - match.begin));
    at = match.end > match.begin ? match.end : match.end + 1;
  }
  return found;
}

using Strings = std::vector<std::string>;

TEST(Regex, WordCharactersHoldMarksAndConnectors) {
  EXPECT_EQ(matches("\\w+", "ae\xcc\x81_\xe2\x80\xbf-1"), (Strings{"ae\xcc\x81_\xe2\x80\xbf", "1"}));
  EXPECT_EQ(matches("[^\\W\\d_]+", "a1_b"), (Strings{"a", "b"}));
}

TEST(Regex, SuperscriptsAreWordCharactersOutsideOfClassesOnly) {
  EXPECT_EQ(matches("\\w", "\xc2\xb2"), (Strings{"\xc2\xb2"}));
  EXPECT_EQ(matches("[\\w]", "\xc2\xb2"), Strings{});
}

TEST(Regex, IntervalsFollowedByPlusRepeat) { EXPECT_EQ(matches("a{2}+", "aaaaa"), (Strings{"aaaa"})); }

TEST(Regex, IntervalsMayLackTheLowerBound) { EXPECT_EQ(matches("a{,2}b", "aaab b"), (Strings{"aab", "b"})); }

TEST(Regex, ClassesNestAndIntersect) {
  EXPECT_EQ(matches("[a-c[x-z]]+", "abwxy"), (Strings{"ab", "xy"}));
  EXPECT_EQ(matches("[\\p{L}&&[^a-z]]+", "abCDe\xc3\x89"), (Strings{"CD", "\xc3\x89"}));
}

TEST(Regex, OptionsCoverTheRestOfTheGroup) {
  EXPECT_EQ(matches("a(?i)b|c", "aB aC C"), (Strings{"aB", "aC"}));
  EXPECT_EQ(matches("(?i:'s|'re)", "'S 'rE 'x"), (Strings{"'S", "'rE"}));
}

TEST(Regex, AnchorsMatchAtLinesAndDotsMatchNewlinesUnderM) {
  EXPECT_EQ(matches("^.", "a\nb"), (Strings{"a", "b"}));
  EXPECT_EQ(matches("(?m:.)+", "a\nb"), (Strings{"a\nb"}));
}

TEST(Regex, ScriptsAreNotTheirExtensions) { EXPECT_EQ(matches("\\p{Han}+", "\xe4\xb8\xad\xe3\x80\x81"), (Strings{"\xe4\xb8\xad"})); }

TEST(Regex, BracesThatBeginNoIntervalAreText) { EXPECT_EQ(matches("a{x}", "a{x}"), (Strings{"a{x}"})); }

TEST(Regex, SyntaxWithoutCounterpartIsRefused) {
  for (const char* pattern : {"(*FAIL)", "(?~a)", "\\xe3", "(?s)a", "\\p{No_Such_Script}", "a)", "[z-a]", "*a"}) {
    try {
      const Regex regex(pattern, "p");
      ADD_FAILURE() << pattern;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::unsupported) << pattern;
      EXPECT_NE(std::string(error.what()).find(std::string("p: the pattern `") + pattern), std::string::npos) << error.what();
    }
  }
}

TEST(Regex, PatternsThatEndTooEarlyAreCorrupt) {
  for (const char* pattern : {"[a", "a\\", "[\\"}) {
    try {
      const Regex regex(pattern, "p");
      ADD_FAILURE() << pattern;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::corrupt) << pattern << ": " << error.what();
    }
  }
}

TEST(Regex, DeepNestingIsRefused) { EXPECT_THROW(translate_oniguruma(std::string(10000, '(') + std::string(10000, ')'), "p"), Error); }

}  // namespace
}  // namespace lagoon
