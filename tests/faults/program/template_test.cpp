// Chat templates that loop, recurse, fill memory or are wrong, and conversations of odd shapes.
#include "faults/program/hostile.h"

namespace lagoon {
namespace {

using namespace testing_support;

constexpr const char* file = "chat_template.jinja";

Spoiled source(const char* name, const std::string& text, const std::vector<std::string>& parts) {
  return {name, [text](HostileFolder& folder) { folder.put(file, text); }, parts};
}

std::string loop(const std::string& body) { return "{% for i in range(99999) %}" + body + "{% endfor %}"; }

TEST(HostileTemplate, EndlessWorkEnds) {
  expect_all_refuse(file,
                    {source("nested loops", loop(loop(loop(""))), {"line 1", "LimitError", "steps"}),
                     source("a filter in a loop", loop("{{ range(99999) | map('string') | list | length }}"), {"LimitError"}),
                     source("sorting in a loop", "{% set s = range(99999) | list %}" + loop("{% set t = s | sort %}"), {"LimitError"}),
                     source("texts in a loop", "{% set s = 'a' * 10 ** 7 %}" + loop("{% set t = s | upper %}"), {"LimitError"}),
                     source("numbers in a loop", "{% set a = 7 ** 90000 %}{% set b = 3 ** 40000 %}" + loop("{% set c = a % b %}"), {"LimitError"}),
                     source("numbers as texts", loop("{{ (7 ** 90000) | string | length }}"), {"LimitError"}),
                     source("a growing product", "{% set n = namespace(v=1) %}" + loop("{% set n.v = n.v * (i + 1) %}"), {"LimitError"}),
                     source("a last character", "{% set s = '\xc3\xa9' * 10 ** 6 %}" + loop(loop("{% set q = s | last %}")), {"LimitError", "steps"}),
                     source("numbers of texts", "{% set s = '9' * 10 ** 6 %}" + loop(loop("{% set q = s | int %}")), {"LimitError", "steps"}),
                     source("a list as text", "{% set l = [1] * 10 ** 6 %}" + loop("{% set q = l | string %}"), {"LimitError"}),
                     source("JSON of a list", "{% set l = [1] * 10 ** 6 %}" + loop("{% set q = l | tojson %}"), {"LimitError"}),
                     source("replacing", "{% set s = 'a' * 10 ** 6 %}" + loop("{% set q = s.replace('', '') %}"), {"LimitError"}),
                     source("formatting", "{% set s = '{{' * 500000 %}" + loop("{% set q = s.format(1) %}"), {"LimitError"}),
                     source("a macro", "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", {"RecursionError"}),
                     source("itself", "{% include 'chat_template.jinja' %}", {"RecursionError"})});
}

TEST(HostileTemplate, GigabytesAreRefusedBeforeTheyAreMade) {
  const auto grown = [](const std::string& first, const std::string& step) {
    return "{% set n = namespace(v=" + first + ") %}" + loop("{% set n.v = " + step + " %}");
  };
  expect_all_refuse(
      file,
      {source("repetition", "{{ 'a' * 10 ** 9 }}", {"a text of 1000000000 bytes"}), source("output", loop("{{ 'a' * 10 ** 5 }}"), {"LimitError"}),
       source("doubling", grown("'a'", "n.v ~ n.v"), {"LimitError"}), source("a list", "{{ [1] * 10 ** 9 }}", {"a list of 1000000000 items"}),
       source("a doubling list", grown("[1]", "n.v + n.v"), {"LimitError"}), source("a range", "{{ range(10 ** 12) | list }}", {"OverflowError"}),
       source("join", "{{ range(99999) | join('a' * 10 ** 5) }}", {"LimitError"}),
       source("replace", "{{ ('a' * 10 ** 6).replace('a', 'b' * 10 ** 6) }}", {"LimitError"}),
       source("format", "{{ '%1000000000d' % 1 }}", {"LimitError"}), source("indent", "{{ 'a\nb' | indent(10 ** 9) }}", {"LimitError"}),
       source("a power", "{{ 2 ** (2 ** 40) }}", {"LimitError"}),
       source("shared lists", "{% set n = namespace(v=[1]) %}{% for i in range(40) %}{% set n.v = [n.v, n.v] %}{% endfor %}{{ n.v | tojson }}",
              {"LimitError"}),
       source("escapes", "{% set s = '\\x01' * 20000000 %}{{ s | tojson }}", {"LimitError"}),
       source("Python's escapes", "{{ ('\\x01' * 20000000) | pprint }}", {"pprint"}),
       source("a macro", "{% macro f(s) %}{{ s }}{{ s }}{% endmacro %}{% set n = namespace(v='a') %}" + loop("{% set n.v = f(n.v) %}"),
              {"LimitError"})});
}

TEST(HostileTemplate, FaultsNameTheLine) {
  expect_all_refuse(
      file,
      {source("no expression", "hello\n{% if %}\n", {"line 2", "TemplateSyntaxError"}),
       source("no end", "a\nb\n{% for x in y %}", {"line 3", "endfor"}), source("open text", "{{ 'abc", {"line 1", "TemplateSyntaxError"}),
       source("unknown filter", "\n\n{{ 1 | nosuch }}", {"line 3", "nosuch"}),
       source("undefined", "\n{{ foo.bar.baz }}", {"line 2", "UndefinedError"}), source("division", "{{ 1 / 0 }}", {"line 1", "ZeroDivisionError"}),
       source("refusal of two lines", "{{ raise_exception('bad\\nthing') }}", {"the template refuses: bad\\x0athing"}),
       source("a file elsewhere", "{% include '../secret' %}", {"only a file beside it"}),
       source("deep", "{{ " + std::string(100'000, '('), {"line 1"}), source("no UTF-8", "a\xff", {"not valid UTF-8"}),
       source("UTF-16", "\xff\xfe{", {"looks like UTF-16"}), source("a NUL byte", std::string("hi\0hi", 5), {"a NUL byte at byte 3"}),
       source("a long file", "{% include 'a' * 10 ** 6 %}", {"only a file beside it"}),
       source("a long refusal", "{{ raise_exception('a' * 10 ** 7) }}", {"aaa..."}),
       source("long", std::string(2 << 20, 'x'), {"2,097,152 bytes, at most 1,048,576"}), source("blank", " \n", {"the chat template is empty"})});
}

TEST(HostileTemplate, OfTheTokenizersConfigAreRefusedToo) {
  const auto inlined = [](const Json& value) {
    return [value](HostileFolder& folder) {
      folder.remove(file);
      folder.set("tokenizer_config.json", "chat_template", value);
    };
  };
  expect_all_refuse("tokenizer_config.json",
                    {{"a number", inlined(5), {"`chat_template` is 5, a text or a list"}},
                     {"a list without a default", inlined(Json::array({{{"name", "x"}}})), {"without a template called `default`"}},
                     {"a fault", inlined("\n{% if %}"), {"tokenizer_config.json", "line 2"}}});
}

ProgramRun render(const std::string& messages) { return run_limited({"render", "nano", "--messages", "-"}, {.input = messages}); }

TEST(HostileMessages, OfEveryWrongShapeAreNamed) {
  const auto message = [](const std::string& rest) { return R"([{"role": "user", )" + rest + "}]"; };
  const auto call = [](const std::string& rest) { return R"([{"role": "assistant", "tool_calls": )" + rest + "}]"; };
  for (const auto& [text, said] : std::vector<std::pair<std::string, std::string>>{
           {"", "is not JSON"},
           {"5", "`messages` must be a list"},
           {"{}", "`messages` must be a list"},
           {"null", "`messages` must be a list"},
           {"[]", "`messages` is empty"},
           {"[5]", "`messages[0]` must be an object"},
           {R"([{"content": "hi"}])", "`messages[0].role` is missing; it must be a string"},
           {R"([{"role": 5, "content": "hi"}])", "`messages[0].role` must be a string, not a number"},
           {message(R"("content": [{"text": "hi"}])"), "`messages[0].content[0].type` is missing"},
           {message(R"("content": 5)"), "`messages[0].content` must be a string, null or a list"},
           {message(R"("content": true)"), "`messages[0].content` must be"},
           {message(R"("content": {"a": 1})"), "`messages[0].content` must be"},
           {message(R"("content": [5])"), "`messages[0].content[0]` must be an object or a string"},
           {message(R"("content": "a", "reasoning_content": 1.5)"), "`messages[0].reasoning_content` must be a string, not a number"},
           {call("5"), "`messages[0].tool_calls` must be a list"},
           {call("[5]"), "`messages[0].tool_calls[0]` must be an object"},
           {call("[{}]"), "`messages[0].tool_calls[0].function` is missing"},
           {call(R"([{"function": {}}])"), "function.name` is missing; it must be a string"},
           {call(R"([{"function": {"name": "f", "arguments": "[1]"}}])"), "must hold a JSON object"},
           {call(R"([{"function": {"name": "f", "arguments": "{"}}])"), "send the arguments as one JSON object"},
           {message(R"("content": "\ud800")"), "is not JSON"},
           {message(R"("content": "a)" + std::string("\0", 1) + "\""), "is not JSON"},
           {message("\"content\": \"\xff\""), "is not valid UTF-8"},
           {message(R"("content": "a", "content": "b")"), "stands twice"},
           {std::string(100'000, '['), "nested more than 512 deep"}}) {
    SCOPED_TRACE(text.substr(0, 200));
    expect_refused(render(text), said);
  }
}

TEST(HostileMessages, BeyondTheLimitAreRefusedByTheirSize) {
  const HostileFolder folder;
  folder.put("messages.json", "");
  std::filesystem::resize_file(folder.at("messages.json"), (256 << 20) + 1);
  const ProgramRun run = run_limited({"render", "nano", "--messages", folder.at("messages.json")});
  expect_refused(run, "messages.json: the file has 268,435,457 bytes, at most 268,435,456");
}

TEST(HostileMessages, TextThatIsASpecialTokenStaysText) {
  const ProgramRun run = render(R"([{"role": "user", "content": "a\u0000b </assistant>\u001b[31m"}])");
  EXPECT_EQ(run.exit_code, 0) << run.error;  // what a person says is said to the model as it is
}

}  // namespace
}  // namespace lagoon
