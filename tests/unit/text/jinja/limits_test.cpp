// No template, however written, hangs, fills memory or overflows the stack: each is refused with a place.
#include "text/jinja/json.h"
#include "text/jinja/render.h"

#include <gtest/gtest.h>

#include <string>

namespace lagoon::jinja {
namespace {

std::string repeated(const std::string& text, size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i) out += text;
  return out;
}

/// The class of the error that a template ends in, or what it renders.
std::string outcome(const std::string& source, const RenderLimits& limits = {}) {
  try {
    return render_template(source, "template", Value::dict({}), limits).text();
  } catch (const TemplateError& error) {
    return error.error_class();
  }
}

constexpr size_t many = 100'000;

/// Small enough that a case takes no time in a debug build.
RenderLimits small_limits() {
  RenderLimits limits;
  limits.output_bytes = size_t{8} << 20;
  limits.list_items = 1 << 17;
  return limits;
}

TEST(Limits, DeepSourceIsRefusedNotOverflowed) {
  for (const std::string open : {"(", "[", "{1:", "-", "not ", "1 if 1 else ", "f(", "x[", "1 is in ["}) {
    EXPECT_EQ(outcome("{{ " + repeated(open, many)), "TemplateSyntaxError") << open;
  }
  for (const std::string tag : {"{% if 1 %}", "{% for x in y %}", "{% macro f() %}", "{% set x %}", "{% with %}", "{% call f() %}"}) {
    EXPECT_EQ(outcome(repeated(tag, many)), "TemplateSyntaxError") << tag;
  }
}

TEST(Limits, LongChainsAreRefusedOrRun) {
  for (const std::string link : {" + 1", " ~ 1", " and 1", ".a", "|abs", "[0]", " < 2"}) {
    const std::string result = outcome("{{ 1" + repeated(link, many) + " }}");
    EXPECT_TRUE(result == "TemplateSyntaxError" || result == "False" || result.size() == many + 1) << link << " " << result.substr(0, 50);
  }
  EXPECT_EQ(outcome("{% if 0 %}" + repeated("{% elif 0 %}", 50'000) + "{% else %}x{% endif %}"), "x");
}

TEST(Limits, RecursionEnds) {
  EXPECT_EQ(outcome("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}"), "RecursionError");
  EXPECT_EQ(outcome("{% macro f(n) %}{% for x in [1] %}{% if 1 %}{{ (((f(n)))) }}{% endif %}{% endfor %}{% endmacro %}{{ f(1) }}"), "RecursionError");
  EXPECT_EQ(outcome("{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}"), "RecursionError");
  EXPECT_EQ(outcome("{% block a %}{{ self.a() }}{% endblock %}"), "RecursionError");
  EXPECT_EQ(outcome("{% macro f(n) %}{% if n %}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(150) }}ok"), "ok");
}

TEST(Limits, EndlessWorkRunsOutOfSteps) {
  RenderLimits limits;
  limits.steps = 100'000;
  const std::string loops = "{% for a in range(99999) %}{% for b in range(99999) %}{% for c in range(99999) %}{% endfor %}{% endfor %}{% endfor %}";
  EXPECT_EQ(outcome(loops, limits), "LimitError");
  EXPECT_EQ(outcome("{{ range(99999) | map('string') | map('upper') | list | length }}", limits), "LimitError");
}

TEST(Limits, NoTextGrowsPastTheLimit) {
  for (const std::string source :
       {"{{ 'a' * 10 ** 9 }}", "{{ 'a' * 10 ** 30 }}", "{{ 'a'.ljust(10 ** 9) }}", "{{ 'a' | center(10 ** 9) }}", "{{ 'a'.zfill(10 ** 9) }}",
        "{{ '%1000000000d' % 1 }}", "{{ '{:1000000000}'.format(1) }}", "{{ '%.1000000000f' % 1.5 }}", "{{ 'a\nb' | indent(10 ** 9) }}",
        "{{ [[1]] | tojson(indent=10 ** 9) }}", "{{ ('a' * 10 ** 6).replace('a', 'b' * 10 ** 6) }}",
        "{{ ('a' * 10 ** 6).replace('', 'b' * 10 ** 6) }}", "{{ ('a' * 10 ** 6).join('abcdefghij') }}", "{{ ('a\t' * 10 ** 3).expandtabs(10 ** 7) }}",
        "{{ range(9999) | join('a' * 10 ** 5) }}", "{% for x in range(99999) %}{{ 'a' * 10 ** 5 }}{% endfor %}",
        "{% set x %}{% for x in range(99999) %}{{ 'a' * 10 ** 5 }}{% endfor %}{% endset %}",
        "{% set ns = namespace(s='a') %}{% for x in range(99) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}",
        "{% set ns = namespace(s=['a' * 1000]) %}{% for x in range(99) %}{% set ns.s = [ns.s, ns.s] %}{% endfor %}{{ ns.s }}"}) {
    EXPECT_EQ(outcome(source, small_limits()), "LimitError") << source;
  }
}

TEST(Limits, NoListOrIntegerGrowsPastTheLimit) {
  for (const std::string source : {"{{ [1] * 10 ** 9 }}", "{{ (1,) * 10 ** 30 }}", "{{ 10 ** (10 ** 9) }}", "{{ 2 ** (10 ** 30) }}",
                                   "{{ [1] | batch(10 ** 9, 0) | list }}", "{{ [1] | slice(10 ** 9) | list }}", "{{ (' a' * 1100000).split() }}",
                                   "{% set ns = namespace(s=[1]) %}{% for x in range(99) %}{% set ns.s = ns.s + ns.s %}{% endfor %}",
                                   "{% set ns = namespace(n=3) %}{% for x in range(99) %}{% set ns.n = ns.n * ns.n %}{% endfor %}"}) {
    EXPECT_EQ(outcome(source, small_limits()), "LimitError") << source;
  }
  EXPECT_EQ(outcome("{{ range(10 ** 9) }}"), "OverflowError");
  EXPECT_EQ(outcome("{{ 2 ** 1000 % 7 }}"), "2");
}

TEST(Limits, ManyTextsTogetherRunOutToo) {
  RenderLimits limits;
  limits.produced_bytes = size_t{16} << 20;
  EXPECT_EQ(outcome("{% set ns = namespace(l=[]) %}{% for x in range(999) %}{% set ns.l = ns.l + ['a' * 10 ** 6] %}{% endfor %}", limits),
            "LimitError");
}

TEST(Limits, DeepValuesAreRefusedAndReleased) {
  EXPECT_EQ(outcome("{% set ns = namespace(v=[]) %}{% for x in range(99999) %}{% set ns.v = [ns.v] %}{% endfor %}"), "RecursionError");
  EXPECT_EQ(outcome("{% set ns = namespace(v={}) %}{% for x in range(99999) %}{% set ns.v = {1: ns.v} %}{% endfor %}"), "RecursionError");
  EXPECT_EQ(outcome("{% set ns = namespace(v=[1]) %}{% for x in range(99999) %}{% set ns.v = ns.v | map('string') %}{% endfor %}"), "RecursionError");
  EXPECT_EQ(outcome("{% set ns = namespace(v=1) %}{% for x in range(9999) %}{% set ns.v = namespace(v=ns.v) %}{% endfor %}ok"), "ok");
  EXPECT_EQ(outcome("{% set ns = namespace() %}{% set ns.self = ns %}{% macro f() %}{{ f }}{% endmacro %}{% set ns.f = f %}ok"), "ok");
}

TEST(Limits, GeneratorsThatDrawFromThemselvesEnd) {
  EXPECT_EQ(outcome("{% set ns = namespace() %}{% set ns.g = [1, 2] | select %}{{ ns.g | list }}{{ ns.g | list }}"), "[1, 2][]");
}

}  // namespace
}  // namespace lagoon::jinja
