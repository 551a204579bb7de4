// Patterns as Oniguruma means them. Expected values: tokenizers 0.23.3, pre_tokenizers.Split(Regex(pattern), "removed") on each character.
#include "text/tokenizer/regex.h"

#include "base/error.h"
#include "text/tokenizer/regex_syntax.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <string>
#include <utility>
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

std::string refusal(const std::string& pattern, const std::string& text) {
  const Regex regex(pattern, "p");
  RegexScratch scratch(text.size());
  Match match{};
  try {
    for (size_t at = 0; at < text.size() && regex.find(text, at, scratch, match);) at = std::max(match.end, at + 1);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(Regex, ATextEndsWhateverThePatternDoesWithIt) {
  const auto a = [](size_t count) { return std::string(count, 'a'); };
  for (const auto& [pattern, text] : std::vector<std::pair<std::string, std::string>>{{"(?:a|a){22}[bc]", a(300)},
                                                                                      {"(?:a+)+[bc]", a(30)},
                                                                                      {"(?=.*[bc])x|a", a(100'000)},
                                                                                      {"(?=.*b)a", a(100'000)},
                                                                                      {"(?=a*b)a|b?a", a(200'000) + "\n"}}) {
    const std::clock_t begin = std::clock();
    EXPECT_EQ(refusal(pattern, text), "p: the pattern `" + pattern + "` cannot be matched against a text of " + std::to_string(text.size()) +
                                          " bytes: it goes over the same characters again and again; fetch the file again");
    EXPECT_LT(std::clock() - begin, 8 * CLOCKS_PER_SEC) << pattern;
  }
}

TEST(Regex, LongRunsEnd) {
  const std::string run(1'000'000, 'a');
  EXPECT_EQ(matches("(?:ab?)+", run), Strings{run});
  EXPECT_EQ(matches("[a-b]*[A-Z]|[^x]+", run), Strings{run});
  EXPECT_EQ(refusal("a+[bc]", std::string(100'000, 'a')), "none");
}

TEST(Regex, MatchesFarAheadAreFound) {
  std::string text(1000, 'a');
  for (size_t i = 0; i < 500; ++i) text += "\xc3\xa9";
  EXPECT_EQ(matches("b|(?<=\\x{e9})c", text + "xbc\xc3\xa9" + "c"), (Strings{"b", "c"}));
  EXPECT_EQ(matches("\\Gb|c", text + "bc"), Strings{"c"});
}

TEST(Regex, DeepNestingIsRefused) { EXPECT_THROW(translate_oniguruma(std::string(10000, '(') + std::string(10000, ')'), "p"), Error); }

}  // namespace
}  // namespace lagoon
