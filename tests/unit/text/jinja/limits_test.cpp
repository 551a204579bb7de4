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

/// Two equal values of 2 ** 60 elements each, in ns.a and ns.b, without a common part.
std::string two_trees(const std::string& pair_of_a, const std::string& pair_of_b) {
  return "{% set ns = namespace(a=[1], b=[1]) %}{% for i in range(60) %}{% set ns.a = " + pair_of_a + " %}{% set ns.b = " + pair_of_b +
         " %}{% endfor %}";
}

TEST(Limits, ComparingSharedTreesRunsOutOfSteps) {
  RenderLimits limits;
  limits.steps = 1'000'000;
  const std::string lists = two_trees("[ns.a, ns.a]", "[ns.b, ns.b]");
  for (const std::string use :
       {"ns.a == ns.b", "ns.a != ns.b", "ns.a < ns.b", "ns.a in [ns.b]", "ns.a is eq ns.b", "[ns.a, ns.b] | sort", "[ns.a, ns.b] | min",
        "[ns.a, ns.b] | groupby(0) | list", "[ns.a].index(ns.b)", "[ns.a].count(ns.b)", "[ns.a] | select('in', [ns.b]) | list"}) {
    EXPECT_EQ(outcome(lists + "{{ " + use + " }}", limits), "LimitError") << use;
  }
  EXPECT_EQ(outcome(lists + "{% for x in [ns.a, ns.b] %}{{ loop.changed(x) }}{% endfor %}", limits), "LimitError");
  const std::string dicts = two_trees("{1: ns.a, 2: ns.a}", "{1: ns.b, 2: ns.b}");
  EXPECT_EQ(outcome(dicts + "{{ ns.a == ns.b }}", limits), "LimitError");
  EXPECT_EQ(outcome(dicts + "{{ ns.a.items() == ns.b.items() }}", limits), "LimitError");
  const std::string tuples = two_trees("(ns.a, ns.a)", "(ns.b, ns.b)");
  EXPECT_EQ(outcome(tuples + "{{ ns.a <= ns.b }}", limits), "LimitError");
}

TEST(Limits, HashingASharedTreeRunsOutOfSteps) {
  RenderLimits limits;
  limits.steps = 1'000'000;
  const std::string tuples = "{% set ns = namespace(a=()) %}{% for i in range(60) %}{% set ns.a = (ns.a, ns.a) %}{% endfor %}";
  for (const std::string use : {"{ns.a: 1}", "{}[ns.a]", "{}.get(ns.a)", "ns.a in {}", "{}.fromkeys([ns.a])", "[ns.a] | unique | list"}) {
    EXPECT_EQ(outcome(tuples + "{{ " + use + " }}", limits), "LimitError") << use;
  }
}

TEST(Limits, ComparingLongListsAgainAndAgainRunsOutOfSteps) {
  RenderLimits limits;
  limits.steps = 1'000'000;
  const std::string lists = "{% set a = [1] * 100000 %}{% set b = [1] * 100000 %}";
  for (const std::string use : {"a == b", "a < b", "2 in a", "a.index(1)"}) {
    EXPECT_EQ(outcome(lists + "{% for i in range(1000) %}{% set x = " + use + " %}{% endfor %}", limits), "LimitError") << use;
  }
  EXPECT_EQ(outcome("{{ range(99999) == range(99999) }} {{ range(0, 9, 9) == range(0, 5, 7) }} {{ range(3) == range(0, 6, 2) }}", limits),
            "True True False");
}

TEST(Limits, SearchingLongTextsAgainAndAgainRunsOutOfSteps) {
  RenderLimits limits;
  limits.steps = 200'000;
  const std::string texts = "{% set s = 'a' * 2 ** 20 %}{% set t = 'a' * 2 ** 20 %}{% set u = '\u00e9' * 2 ** 19 %}";
  for (const std::string use : {"'b' in s",
                                "s == t",
                                "s < t",
                                "s in {}",
                                "{}[s]",
                                "s.find('b')",
                                "s.rfind('b')",
                                "s.count('b')",
                                "s.startswith(t)",
                                "s.endswith(t)",
                                "s.removesuffix(t)",
                                "s.removeprefix(t)",
                                "s.replace('b', '')",
                                "s | replace('b', '')",
                                "s.split('b')",
                                "s.rsplit('b')",
                                "s.split()",
                                "s.splitlines()",
                                "s.partition('b')",
                                "s.rpartition('b')",
                                "s.strip('a')",
                                "s | trim('a')",
                                "s.isalpha()",
                                "s.islower()",
                                "s | wordcount",
                                "u[1]",
                                "u[1:2]",
                                "u.find('a', 9)"}) {
    EXPECT_EQ(outcome(texts + "{% for i in range(1000) %}{% set x = " + use + " %}{% endfor %}", limits), "LimitError") << use;
  }
}

TEST(Limits, SearchingALongTextForALongTextTakesNoProduct) {
  const std::string texts = "{% set s = 'a' * 2 ** 20 %}{% set t = 'b' ~ 'a' * 2 ** 19 %}{% set u = 'a' * 2 ** 19 ~ 'b' %}";
  EXPECT_EQ(outcome(texts + "{{ t in s }} {{ u in s }} {{ s.find(u) }} {{ s.rfind(t) }} {{ s.count(u) }} {{ s.replace(u, 'c') == s }}"),
            "False False -1 -1 0 True");
  EXPECT_EQ(outcome(texts + "{{ s.split(u) | length }} {{ s.rsplit(t) | length }} {{ s.rpartition(t)[0] | length }} {{ s.strip(t) | length }}"),
            "1 1 0 0");
  EXPECT_EQ(outcome("{{ ('x-' * 20).rfind('-x-x-x-x-x-x-x-x-x-') }} {{ 'a--b---c'.rsplit('--', 1) }} {{ 'aaaaa'.rsplit('aa') }}"),
            "21 ['a--b-', 'c'] ['a', '', '']");
}

TEST(Limits, NestedListsCompareAsBefore) {
  EXPECT_EQ(outcome("{{ [[1, 2], [3]] < [[1, 2], [4]] }} {{ [[1], 9] < [[1, 0]] }} {{ [[1, 0]] > [[1], 9] }} {{ [(1, [2])] <= [(1, [2])] }} "
                    "{{ [[], 1] < [[], 1, 0] }} {{ ['b', 1] > ['a', 2] }}"),
            "True True True True True True");
  EXPECT_EQ(outcome("{{ [[1], [2]] < [[1], (2,)] }}"), "TypeError");
  EXPECT_EQ(outcome("{{ [1, none] < [1, 2] }}"), "TypeError");
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
