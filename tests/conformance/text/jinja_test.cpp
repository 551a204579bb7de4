// Every case of golden/templates/jinja_cases.jsonl (made by Jinja2 in transformers' environment): the rendered bytes, or
// the class of the error and, for raise_exception, its very words.
#include "support/json_lines.h"
#include "text/jinja/render.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

namespace lagoon {
namespace {

using jinja::Value;
using testing_support::member;
using testing_support::member_or_none;

// Refused by name rather than done almost right.
const std::map<std::string, std::string> unsupported = {
    {"{{ 'see http://a.bc now' | urlize }}", "urlize makes HTML links, which no chat template needs"},
    {"{{ 'aaa bbb ccc' | wordwrap(7) }}", "wordwrap needs Python's textwrap"},
    {"{{ lipsum(n=1, min=1, max=2) | length > 0 }}", "lipsum is random text"},
};

/// What Lagoon makes of a case, in one line that can be compared with what was expected.
std::string outcome_of(const Value& row) {
  const Value context = member_or_none(row, "context");
  try {
    const MarkedText text = jinja::render_template(member(row, "template").bytes(), "template", context.is_none() ? Value::dict({}) : context);
    return "rendered: " + text.text();
  } catch (const jinja::TemplateError& error) {
    return "error: " + error.error_class() + (error.error_class() == "TemplateError" ? ": " + error.message() : "");
  }
}

std::string expected_of(const Value& row) {
  if (const Value* rendered = row.as_dict().find("rendered")) return "rendered: " + rendered->bytes();
  const Value& error = member(row, "error");
  const std::string& error_class = member(error, "class").bytes();
  return "error: " + error_class + (error_class == "TemplateError" ? ": " + member(error, "message").bytes() : "");
}

std::vector<Value> cases() { return testing_support::read_json_lines(LAGOON_GOLDEN_DIR "/templates/jinja_cases.jsonl"); }

TEST(JinjaCases, EveryCoreAndCommonCaseIsEqual) {
  int count = 0;
  for (const Value& row : cases()) {
    if (member(row, "tag").bytes() == "rare") continue;
    ++count;
    EXPECT_EQ(outcome_of(row), expected_of(row)) << member(row, "group").bytes() << ": " << member(row, "template").bytes();
  }
  EXPECT_EQ(count, 1129);
}

TEST(JinjaCases, EveryRareCaseIsEqualButForTheNamedOnes) {
  int count = 0;
  std::set<std::string> different;
  for (const Value& row : cases()) {
    if (member(row, "tag").bytes() != "rare") continue;
    ++count;
    const std::string& source = member(row, "template").bytes();
    if (outcome_of(row) == expected_of(row)) continue;
    EXPECT_EQ(unsupported.count(source), 1U) << source << "\n  " << outcome_of(row);
    different.insert(source);
  }
  EXPECT_EQ(count, 90);
  EXPECT_EQ(different.size(), unsupported.size());
}

}  // namespace
}  // namespace lagoon
