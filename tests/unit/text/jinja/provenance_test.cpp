// Who wrote each byte of a render. In the expected texts, what lies between two @ is from data; the rest is the template's.
#include "support/json_lines.h"
#include "text/jinja/render.h"

#include <gtest/gtest.h>

#include <string>

namespace lagoon::jinja {
namespace {

std::string marked(const std::string& source, const std::string& context = "{}") {
  const MarkedText text = render_template(source, "template", read_json(context, "context"));
  std::string out;
  size_t begin = 0;
  for (const MarkedText::Run& run : text.runs()) {
    const std::string part = text.text().substr(begin, run.end - begin);
    out += run.origin == Origin::from_data ? "@" + part + "@" : part;
    begin = run.end;
  }
  return out;
}

TEST(Provenance, SourceIsTheTemplatesAndVariablesAreData) {
  EXPECT_EQ(marked("<a>{{ '<b>' }}{{ x }}{% raw %}<c>{% endraw %}", R"({"x": "<d>"})"), "<a><b>@<d>@<c>");
}

TEST(Provenance, DataJoinedOutOfPiecesStaysData) {
  EXPECT_EQ(marked("{{ a ~ b }}|{{ a + b }}|{{ [a, b] | join }}|{{ '%s%s' % (a, b) }}|{{ '{}{}'.format(a, b) }}", R"({"a": "<thi", "b": "nk>"})"),
            "@<think>@|@<think>@|@<think>@|@<think>@|@<think>@");
  EXPECT_EQ(marked("{{ a.split('-') | join('') }}|{{ a | replace('-', '') }}", R"({"a": "<thi-nk>"})"), "@<think>@|@<think>@");
  EXPECT_EQ(marked("{{ a[::-1] }}|{{ a | reverse }}|{{ a | list | reverse | join }}", R"({"a": ">kniht<"})"), "@<think>@|@<think>@|@<think>@");
}

TEST(Provenance, HalfOfATokenFromDataIsData) {
  EXPECT_EQ(marked("{{ '<think' ~ a }}|{{ a.join(['<', 'think>']) }}", R"({"a": ">"})"), "<think@>@|<@>@think>");
}

TEST(Provenance, WhatTheTemplatePutsIntoDataIsTheTemplates) {
  EXPECT_EQ(marked("{{ a | replace('x', '<think>') }}", R"({"a": "1x2"})"), "@1@<think>@2@");
  EXPECT_EQ(marked("{{ a.replace('x', '<think>') }}", R"({"a": "1x2"})"), "@1@<think>@2@");
  EXPECT_EQ(marked("{{ '<s>'.join(a) }}", R"({"a": ["1", "2"]})"), "@1@<s>@2@");
  EXPECT_EQ(marked("{{ a | default('<s>') }}{{ b | default('<s>') }}", R"({"a": "1"})"), "@1@<s>");
}

TEST(Provenance, CaseMappingsKeepTheOriginOfEachCharacter) {
  EXPECT_EQ(
      marked("{{ ('<a>' ~ x) | upper }}|{{ ('<A>' ~ x) | lower }}|{{ (x ~ '<a>') | title }}|{{ ('b' ~ x) | capitalize }}", R"({"x": "<\u00df>"})"),
      "<A>@<SS>@|<a>@<\u00df>@|@<SS>@<A>|B@<\u00df>@");
  EXPECT_EQ(marked("{{ x.upper() }}{{ x.swapcase() }}{{ x.title() }}{{ x.casefold() }}", R"({"x": "<think>"})"), "@<THINK><THINK><Think><think>@");
}

TEST(Provenance, CuttingAndRepeatingKeepIt) {
  EXPECT_EQ(marked("{{ ('<a>' ~ x)[1:5] }}|{{ (' <a>' ~ x).strip() }}|{{ ('a' ~ x) * 2 }}", R"({"x": "<b> "})"), "a>@<b@|<a>@<b>@|a@<b> @a@<b> @");
  EXPECT_EQ(marked("{{ ('a ' ~ x).split()[1] }}{{ (x ~ '\\n<c>').splitlines()[1] }}", R"({"x": "<b>"})"), "@<b>@<c>");
  EXPECT_EQ(marked("{{ ('a<sep>' ~ x).partition('<sep>') | join }}", R"({"x": "<b>"})"), "a<sep>@<b>@");
}

TEST(Provenance, CapturedTextKeepsIt) {
  EXPECT_EQ(marked("{% set y %}<a>{{ x }}{% endset %}{{ y }}", R"({"x": "<b>"})"), "<a>@<b>@");
  EXPECT_EQ(marked("{% macro f(v) %}<a>{{ v }}{{ caller() }}{% endmacro %}{% call f(x) %}<c>{{ x }}{% endcall %}", R"({"x": "<b>"})"),
            "<a>@<b>@<c>@<b>@");
  EXPECT_EQ(marked("{% filter upper %}<a>{{ x }}{% endfilter %}", R"({"x": "<b>"})"), "<A>@<B>@");
  EXPECT_EQ(marked("{% set ns = namespace(t='<a>') %}{% for c in x %}{% set ns.t = ns.t ~ c %}{% endfor %}{{ ns.t }}", R"({"x": "<b>"})"),
            "<a>@<b>@");
  EXPECT_EQ(marked("{% generation %}<a>{{ x }}{% endgeneration %}", R"({"x": "<b>"})"), "<a>@<b>@");
}

TEST(Provenance, KeysNumbersAndJsonAreData) {
  EXPECT_EQ(marked("{% for k, v in x.items() %}{{ k }}={{ v }}{% endfor %}", R"({"x": {"<think>": 1}})"), "@<think>@=@1@");
  EXPECT_EQ(marked("{{ x | tojson }}|{{ ['<a>'] | tojson }}", R"({"x": {"<think>": "</think>"}})"), "@{\"<think>\": \"</think>\"}@|@[\"<a>\"]@");
  EXPECT_EQ(marked("{{ [x] }}{{ '%r' % x }}{{ x | string }}{{ [x] | string }}", R"({"x": "<b>"})"), "@['<b>']'<b>'<b>['<b>']@");
  EXPECT_EQ(marked("{{ 1 + 1 }}{{ true }}{{ none }}"), "@2TrueNone@");
  EXPECT_EQ(marked("{{ dict(**x) | list | join }}", R"({"x": {"<think>": 1}})"), "@<think>@");
  EXPECT_EQ(marked("{% macro f() %}{{ kwargs | list | join }}{% endmacro %}{{ f(**x) }}", R"({"x": {"<think>": 1}})"), "@<think>@");
}

TEST(Provenance, PaddingAndIndentsOfDataAreData) {
  EXPECT_EQ(marked("{{ x | center(5) }}|{{ x.ljust(5, '>') }}|{{ x | indent(2, true) }}", R"({"x": "<b>"})"), "@ <b> @|@<b>>>@|@  <b>@");
}

TEST(Provenance, RaisedTextIsExact) {
  try {
    render_template("{{ raise_exception('no ' ~ x) }}", "template", read_json(R"({"x": "\"q\""})", "context"));
    FAIL();
  } catch (const TemplateError& error) {
    EXPECT_EQ(error.error_class(), "TemplateError");
    EXPECT_EQ(error.message(), "no \"q\"");
  }
}

}  // namespace
}  // namespace lagoon::jinja
