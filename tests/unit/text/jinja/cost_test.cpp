// Every filter, test, method, operator and function takes steps for what it costs: a loop around any of them, with any big
// value, ends soon. Measured in processor time of this thread, with much room: what is not charged takes many times more.
#include "text/jinja/filters.h"
#include "text/jinja/render.h"
#include "text/jinja/template_error.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace lagoon::jinja {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr double most_seconds = 20;
#elif defined(__OPTIMIZE__)
constexpr double most_seconds = 0.7;
#else
constexpr double most_seconds = 4;
#endif

double processor_seconds() {
  std::timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

std::string repeated(std::string_view text, size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i) out += text;
  return out;
}

/// The big values, by the names that the expressions below use.
Value big_values() {
  constexpr size_t size = 50'000;
  Dict values;
  const auto text = [&](const char* name, const std::string& bytes) { values.set(name, Value::text(bytes, Origin::from_data)); };
  text("s", repeated("a", size));
  text("U", repeated("A", size));
  text("S", repeated("\xc3\xa9", size));
  text("D", repeated("9", size));
  text("d4", repeated("9", 4299));
  text("sp", repeated(" ", size));
  text("NL", repeated("\n", size));
  text("w", repeated("a ", size / 2));
  text("br", repeated("{{", size / 2));
  text("pc", repeated("%%", size / 2));
  text("dots", repeated("a.", size / 2));
  text("html", repeated("<a>", size / 3));
  values.set("l", Value::list(std::vector<Value>(size, Value::integer(1))));
  values.set("t", Value::tuple(std::vector<Value>(size, Value::integer(1))));
  values.set("texts", Value::list(std::vector<Value>(size, Value::text("ab", Origin::from_data))));
  values.set("pairs", Value::list(std::vector<Value>(size, Value::tuple({Value::text("k", Origin::from_data), Value::integer(1)}))));
  Dict mapping;
  for (size_t i = 0; i < size; ++i) mapping.set("key" + std::to_string(i), Value::integer(static_cast<int64_t>(i)));
  values.set("m", Value::dict(std::move(mapping)));
  mpz_class integer;
  mpz_ui_pow_ui(integer.get_mpz_t(), 3, 10'000);
  values.set("n", Value::integer(integer));
  values.set("x", Value::real(1e300));
  return Value::dict(std::move(values));
}

// Cases, with `;` between them. The names are those of big_values.
constexpr std::string_view big_names = R"(
s ; U ; S ; D ; d4 ; sp ; NL ; w ; br ; pc ; dots ; html ; l ; t ; texts ; pairs ; m ; n ; x ; range(100000) ; m.items() ; m.keys()
[s, l]
)";

constexpr std::string_view filters = R"(
abs ; attr(s) ; attr('a') ; batch(2)|list ; batch(100000, 0)|list ; capitalize ; center ; center(200000) ; count ; d ; default(l)
dictsort ; dictsort(by='value') ; e ; escape ; filesizeformat ; first ; float ; forceescape ; format ; format(1) ; groupby(0)|length
indent ; indent(1) ; int ; int(base=16) ; int(base=36) ; items|list ; items|first ; join ; join(s) ; last ; length ; list|length ; lower
map('string')|first ; map('upper')|list ; map(attribute=dots)|first ; max ; min ; pprint ; random ; reject|list ; reject('odd')|list
rejectattr('a')|list ; replace('a', '') ; replace('', '') ; replace(s, s) ; reverse|first ; round ; round(300) ; round(-4000)
round(-4000, 'floor') ; safe ; select|list ; select('odd')|first ; selectattr('a')|list ; selectattr(dots)|first ; slice(2)|list
slice(100000)|list ; sort ; sort(attribute=dots) ; string ; striptags ; sum ; sum(start=[]) ; title ; tojson ; tojson(indent=2)
tojson(ensure_ascii=true) ; tojson(sort_keys=true) ; trim ; trim(s) ; trim('a') ; truncate ; truncate(50000) ; unique|list ; upper
urlencode ; urlize ; wordcount ; wordwrap ; xmlattr
)";

constexpr std::string_view tests = R"(
odd ; even ; divisibleby(3) ; divisibleby(n) ; defined ; undefined ; filter ; test ; none ; boolean ; false ; true ; integer ; float
lower ; upper ; string ; mapping ; number ; sequence ; iterable ; callable ; sameas(s ~ '') ; escaped ; in(l) ; in(m) ; in(s) ; in([s, l])
eq(s ~ '') ; eq(l + []) ; ne(l) ; gt(s) ; ge(l) ; lt(n) ; le(t)
)";

constexpr std::string_view text_methods = R"(
capitalize() ; casefold() ; center(200000) ; count('a') ; count('') ; count(s) ; encode() ; endswith(s) ; expandtabs() ; find('b')
find(s, 5) ; format() ; format(1) ; format_map(m) ; format(**m) ; index('z') ; isalnum() ; isalpha() ; isascii() ; isdecimal() ; isdigit()
isidentifier() ; islower() ; isnumeric() ; isprintable() ; isspace() ; istitle() ; isupper() ; join(texts) ; join(l) ; ljust(200000)
lower() ; lstrip() ; lstrip(s) ; partition('b') ; partition(s) ; removeprefix(s) ; removesuffix(s) ; replace('a', '') ; replace('', '')
replace('a', 'bb') ; rfind('b') ; rindex('z') ; rjust(200000) ; rpartition('b') ; rsplit() ; rsplit('a') ; rstrip() ; rstrip('a') ; split()
split('a') ; split('b', 1) ; splitlines() ; startswith(s) ; startswith(t) ; strip() ; strip('a9 ') ; swapcase() ; title()
translate({}) ; translate(m) ; translate({97: none}) ; upper() ; zfill(200000)
)";

constexpr std::string_view expressions = R"(
m.get(s) ; m.items()|first ; m.keys()|last ; m.values()|list ; m.copy() ; {}.fromkeys(l) ; dict.fromkeys(texts) ; l.index(2) ; l.index(1)
l.count(1) ; t.count(2) ; t.index(1) ; range(100000).index(99999) ; range(100000).count(3) ; n.bit_length() ; n.bit_count()
x.is_integer() ; dict(m) ; dict(pairs) ; dict(**m) ; namespace(m) ; namespace(**m) ; cycler(*l) ; joiner(s) ; strftime_now(s) ; range(n)
'{}{:d}{:,}'.format(n, n, n) ; '%s %d %x' % (n, n, n) ; '%.9000f' % x ; '{:.9000f}'.format(x) ; '%s' % l ; '%r' % [s] ; '%(a)s' % m ; s % 1
pc % () ; s + s ; l + l ; t + t ; l * 2 ; s * 2 ; n * 1 ; n + n ; n - 1 ; n * 3 // n ; n % 7 ; n / n ; n ** 0 ; 3 ** 10000 ; 2 ** -n ; -n
+n ; not l ; s ~ s ; l ~ '' ; m ~ '' ; n ~ '' ; S[49999] ; S[-1] ; l[n] ; l[s] ; l[t] ; m[s] ; s[n] ; m[t] ; n[s] ; S[1:] ; S[::-1]
s[::2] ; l[::-1] ; t[1:] ; S[:n] ; s == s ~ '' ; l == l + [] ; m == dict(m) ; s < s ~ 'b' ; l < l + [1] ; n < n + 1 ; n == n + 1 ; n < x
'b' in s ; s in s ~ 'b' ; 2 in l ; n in m ; t in m ; s in m ; 7 in m.values() ; s in m.keys() ; s.upper ; l.append ; (s, l) in m
l if l else s ; l and m ; l|map('replace', *l)|first ; range(*l[:3]) ; m.values()|string ; m.items()|tojson ; [l, l, l]|string
range(100000)|string ; s.nothing ; m|attr(s) ; s|attr(s)
)";

constexpr std::string_view statements = R"(
{% for a in m.items() %}{% break %}{% endfor %} ; {% for a in m|items %}{% break %}{% endfor %}
{% for a in l %}{{ loop.length }}{% break %}{% endfor %} ; {% set q %}{{ l }}{% endset %} ; {% set q %}{{ s }}{% endset %}
{% filter upper %}{{ s }}{% endfilter %} ; {% if l %}{% endif %} ; {% macro f() %}{{ n }}{% endmacro %}{% set q = f() %}
{% macro f(a=1) %}{{ kwargs|length }}{% endmacro %}{% set q = f(**m) %}
{% macro f(a=1) %}{{ varargs|length }}{% endmacro %}{% set q = f(*l) %} ; {% with a = l %}{% endwith %}
{% autoescape true %}{% set q %}{{ html }}{{ l }}{% endset %}{% endautoescape %}
)";

std::vector<std::string> cases_of(std::string_view list) {
  std::vector<std::string> out;
  std::istringstream words{std::string(list)};
  for (std::string line; std::getline(words, line);) {
    size_t at = 0;
    while (at < line.size()) {
      const size_t end = std::min(line.find(" ; ", at), line.size());
      out.push_back(line.substr(at, end - at));
      at = end + 3;
    }
  }
  return out;
}

/// A body runs at most so often, and with so few steps, that an honest charge ends within hundredths of a second.
void expect_charged(const std::string& body, const Value& values) {
  RenderLimits limits;
  limits.steps = 100'000;
  const std::string source = "{% for i in range(8000) %}" + body + "{% endfor %}";
  const double before = processor_seconds();
  try {
    render_template(source, "template", values, limits);
  } catch (const TemplateError&) {  // a limit, or what the value does not allow
  }
  EXPECT_LT(processor_seconds() - before, most_seconds) << body;
}

void expect_expression_charged(const std::string& expression, const Value& values) { expect_charged("{% set q = " + expression + " %}", values); }

TEST(Cost, OfEveryFilterIsCharged) {
  const Value values = big_values();
  for (const std::string& value : cases_of(big_names)) {
    for (const std::string& filter : cases_of(filters)) expect_expression_charged(value + "|" + filter, values);
  }
}

TEST(Cost, OfEveryTestIsCharged) {
  const Value values = big_values();
  for (const std::string& value : cases_of(big_names)) {
    for (const std::string& test : cases_of(tests)) expect_expression_charged(value + " is " + test, values);
  }
}

TEST(Cost, OfEveryMethodOfTextIsCharged) {
  const Value values = big_values();
  for (const std::string& value : cases_of(big_names)) {
    if (value == "l") break;  // the names before are texts
    for (const std::string& method : cases_of(text_methods)) expect_expression_charged(value + "." + method, values);
  }
}

TEST(Cost, OfMethodsOperatorsAndFunctionsIsCharged) {
  const Value values = big_values();
  for (const std::string& expression : cases_of(expressions)) expect_expression_charged(expression, values);
}

TEST(Cost, OfStatementsIsCharged) {
  const Value values = big_values();
  for (const std::string& statement : cases_of(statements)) expect_charged(statement, values);
}

// A filter that the list does not name would go unseen.
TEST(Cost, ListNamesAllFilters) {
  const auto named = [](std::string_view list, std::string_view name) {
    const std::vector<std::string> cases = cases_of(list);
    return std::any_of(cases.begin(), cases.end(), [&](const std::string& text) { return text.substr(0, text.find_first_of("(|")) == name; });
  };
  for (const auto& rows : {text_filters(), value_filters(), sequence_filters(), selection_filters(), markup_filters()}) {
    for (const FilterRow& row : rows) EXPECT_TRUE(named(filters, row.name)) << row.name;
  }
}

TEST(Cost, LoopWithTheDefaultLimitEndsSoon) {
  for (const char* expression : {"S|last", "s is upper", "D|int", "s.translate({})", "l|last", "l|string", "NL|indent(1)", "s|attr(s)"}) {
    const std::string source =
        "{% for i in range(100000) %}{% for j in range(100) %}{% set q = " + std::string(expression) + " %}{% endfor %}{% endfor %}";
    try {
      render_template(source, "template", big_values());
      FAIL() << expression;
    } catch (const TemplateError& error) {
      EXPECT_EQ(error.error_class(), "LimitError") << expression;
    }
  }
}

}  // namespace
}  // namespace lagoon::jinja
