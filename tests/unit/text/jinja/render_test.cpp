// Values by Python 3.11 and Jinja2 3.1.6; what jinja_cases.jsonl covers is not repeated here.
#include "text/jinja/render.h"
#include "support/json_lines.h"

#include <gtest/gtest.h>

#include <string>

namespace lagoon::jinja {
namespace {

std::string rendered(const std::string& source, const std::string& context = "{}") {
  return render_template(source, "template", read_json(context, "context")).text();
}

TemplateError error_of(const std::string& source, const std::string& context = "{}") {
  try {
    rendered(source, context);
  } catch (const TemplateError& error) {
    return error;
  }
  throw std::runtime_error("no error: " + source);
}

TEST(RenderErrors, NameLineAndColumn) {
  const TemplateError error = error_of("one\n  \xc3\xa9{{ 1 + missing }}");
  EXPECT_EQ(error.error_class(), "UndefinedError");
  EXPECT_EQ(error.line(), 2U);
  EXPECT_EQ(error.column(), 9U);  // of the operator, in characters
  EXPECT_STREQ(error.what(), "template, line 2, column 9: UndefinedError: 'missing' is undefined");
}

TEST(RenderErrors, SyntaxErrorsPointAtTheTokenThatDoesNotFit) {
  const TemplateError error = error_of("a\n{% if x %}\n{{ 1 + }}");
  EXPECT_EQ(error.error_class(), "TemplateSyntaxError");
  EXPECT_EQ(error.kind(), ErrorKind::corrupt);
  EXPECT_EQ(error.line(), 3U);
  EXPECT_EQ(error.column(), 8U);
}

TEST(RenderErrors, AnErrorInsideAMacroPointsIntoTheMacro) {
  const TemplateError error = error_of("{% macro f(x) %}\n{{ x.y.z }}{% endmacro %}\n\n{{ f({}) }}");
  EXPECT_EQ(error.line(), 2U);
}

TEST(RenderErrors, RaiseExceptionSaysItsOwnWords) {
  const TemplateError error = error_of("{{ raise_exception('roles must alternate') }}");
  EXPECT_EQ(error.message(), "roles must alternate");
  EXPECT_STREQ(error.what(), "template, line 1, column 19: the template refuses: roles must alternate");
}

TEST(RenderScopes, ANameAssignedLaterIsUnsetInsideScopesBefore) {
  EXPECT_EQ(rendered("{% for x in [1] %}[{{ n }}]{% endfor %}{% set n = 1 %}{{ n }}", R"({"n": 7})"), "[]1");
  EXPECT_EQ(rendered("{% if true %}{% for x in [1] %}[{{ n }}]{% endfor %}{% else %}{% set n = 1 %}{% endif %}", R"({"n": 7})"), "[7]");
}

TEST(RenderLoops, ADroppedItemAtTheEndIsNoRound) {
  EXPECT_EQ(rendered("{% for x in [1, 2, 0] if x %}{{ x }}{{ loop.last }}{{ loop.nextitem }} {% endfor %}"), "1False2 2True ");
}

TEST(RenderNumbers, FloatsRoundAsInPython) {
  EXPECT_EQ(
      rendered("{{ 2.675 | round(2) }} {{ 0.5 | round }} {{ 1.5 | round }} {{ -2.5 | round }} {{ 12345.678 | round(-2) }} {{ 15 | round(-1) }}"),
      "2.67 0.0 2.0 -2.0 12300.0 20");
  EXPECT_EQ(rendered("{{ 10 ** 30 / 3 }} {{ (2 ** 53 + 1) / 1 }} {{ 2 ** 70 * 1.0 }} {{ 7 // -2 }} {{ 7 % -3 }} {{ 5.5 // -2 }}"),
            "3.333333333333333e+29 9007199254740992.0 1.1805916207174113e+21 -4 -2 -3.0");
}

TEST(RenderNumbers, IntegersFromJsonHaveNoLimit) {
  EXPECT_EQ(rendered("{{ x }} {{ x + 1 }} {{ y }} {{ z }}", R"({"x": 123456789012345678901234567890, "y": -18446744073709551616, "z": 1e2})"),
            "123456789012345678901234567890 123456789012345678901234567891 -18446744073709551616 100.0");
}

TEST(RenderContext, MustBeAnObject) {
  EXPECT_THROW(render_template("x", "template", read_json("[1]", "context")), Error);
  EXPECT_THROW(read_json("{\"a\": 1, \"a\": 2}", "context"), Error);
  EXPECT_THROW(read_json("[1", "context"), Error);
}

}  // namespace
}  // namespace lagoon::jinja
