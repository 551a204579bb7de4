#include "text/chat_template.h"

#include "support/temporary_folder.h"
#include "text/chat_messages.h"
#include "text/jinja/json.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace lagoon {
namespace {

using jinja::read_json;
using testing_support::TemporaryFolder;

void write(const TemporaryFolder& folder, const std::string& name, const std::string& text) { std::ofstream(folder.path() / name) << text; }

ChatRequest request(const std::string& messages = R"([{"role": "user", "content": "hi"}])") {
  ChatRequest out;
  out.messages = read_json(messages, "messages");
  return out;
}

std::string sentence(const std::string& messages) {
  try {
    prepare_messages(read_json(messages, "messages"));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid);
    return error.what();
  }
  return "accepted";
}

TEST(ChatTemplate, FileBesideTheCheckpointWins) {
  const TemporaryFolder folder;
  write(folder, "chat_template.jinja", "file {{ messages[0].content }}");
  write(folder, "tokenizer_config.json", R"({"chat_template": "config"})");
  EXPECT_EQ(ChatTemplate::load(folder.path()).render(request()).text(), "file hi");
}

TEST(ChatTemplate, ConfigMayHoldAStringOrAList) {
  const TemporaryFolder folder;
  write(folder, "tokenizer_config.json", R"({"chat_template": "config"})");
  EXPECT_EQ(ChatTemplate::load(folder.path()).render(request()).text(), "config");

  write(folder, "tokenizer_config.json",
        R"({"chat_template": [{"name": "tool_use", "template": "tools"}, {"name": "default", "template": "plain"}]})");
  const ChatTemplate both = ChatTemplate::load(folder.path());
  ChatRequest with_tools = request();
  with_tools.tools = read_json(R"([{"type": "function", "function": {"name": "f"}}])", "tools");
  EXPECT_EQ(both.render(request()).text(), "plain");
  EXPECT_EQ(both.render(with_tools).text(), "tools");
}

TEST(ChatTemplate, ConfigOfAnotherTypeIsNamed) {
  const TemporaryFolder folder;
  write(folder, "tokenizer_config.json", R"({"chat_template": 5})");
  try {
    ChatTemplate::load(folder.path());
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("`chat_template` is 5, a text or a list"), std::string::npos) << error.what();
  }
}

TEST(ChatTemplate, IncludesReachFilesOfTheFolderOnly) {
  const TemporaryFolder folder;
  write(folder, "part.jinja", "[{{ messages[0].content }}{{ local }}]");
  write(folder, "tokenizer_config.json", R"({"chat_template": "{% set local = 1 %}{% include 'part.jinja' %}"})");
  EXPECT_EQ(ChatTemplate::load(folder.path()).render(request()).text(), "[hi1]");
  for (const std::string name : {"../part.jinja", "/etc/passwd", "a/b", "..", "."}) {
    write(folder, "tokenizer_config.json", R"({"chat_template": "{% include ')" + name + R"(' %}"})");
    EXPECT_THROW(ChatTemplate::load(folder.path()).render(request()), Error) << name;
  }
  write(folder, "tokenizer_config.json", R"({"chat_template": "{% include 'absent.jinja' %}"})");
  EXPECT_THROW(ChatTemplate::load(folder.path()).render(request()), jinja::TemplateError);
}

TEST(ChatTemplate, IncludesThatGoInCirclesEnd) {
  const TemporaryFolder folder;
  write(folder, "chat_template.jinja", "{% include 'chat_template.jinja' %}");
  try {
    ChatTemplate::load(folder.path()).render(request());
    FAIL();
  } catch (const jinja::TemplateError& error) {
    EXPECT_EQ(error.error_class(), "RecursionError");
  }
}

TEST(ChatTemplate, AbsenceSaysWhatToDo) {
  const TemporaryFolder folder;
  try {
    ChatTemplate::load(folder.path());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    EXPECT_NE(std::string(error.what()).find("--raw"), std::string::npos);
  }
}

TEST(ChatTemplate, SpecialTokensAreTheTemplatesAndMessagesAreData) {
  const TemporaryFolder folder;
  write(folder, "chat_template.jinja", "{{ bos_token }}{{ messages[0].content }}{{ eos_token }}");
  write(folder, "tokenizer_config.json", R"({"bos_token": "<s>", "eos_token": {"content": "</s>"}})");
  const MarkedText text = ChatTemplate::load(folder.path()).render(request(R"([{"role": "user", "content": "<s>"}])"));
  EXPECT_EQ(text.text(), "<s><s></s>");
  EXPECT_TRUE(text.all_from_template(0, 3));
  EXPECT_EQ(text.origin_at(3), Origin::from_data);
  EXPECT_TRUE(text.all_from_template(6, 10));
}

TEST(ChatTemplate, PassesEveryVariableThatTransformersPasses) {
  const ChatTemplate chat =
      ChatTemplate::from_source("{{ tools }} {{ documents }} {{ add_generation_prompt }} {{ enable_thinking }} {{ extra }}", "t");
  ChatRequest with_option = request();
  with_option.thinking = true;
  with_option.options.emplace_back("extra", jinja::Value::integer(5));
  EXPECT_EQ(chat.render(with_option).text(), "None None True True 5");
  with_option.options.emplace_back("messages", jinja::Value::none());
  EXPECT_THROW(chat.render(with_option), Error);
}

TEST(ChatMessages, NullKeysGoAndReasoningGetsAllItsNames) {
  const ChatTemplate chat = ChatTemplate::from_source("{{ messages[0] | tojson }}", "t");
  EXPECT_EQ(chat.render(request(R"([{"role": "assistant", "content": null, "reasoning": "r"}])")).text(),
            R"({"thinking": "r", "role": "assistant", "reasoning": "r", "reasoning_content": "r"})");
}

TEST(ChatMessages, ArgumentsInTextBecomeAMapping) {
  const ChatTemplate chat = ChatTemplate::from_source("{{ messages[0].tool_calls[0].function.arguments | tojson }}", "t");
  const auto with = [&](const std::string& arguments) {
    return chat.render(request(R"([{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": )" + arguments + "}}]}]")).text();
  };
  EXPECT_EQ(with(R"("{\"b\": 1, \"a\": 123456789012345678901234567890}")"), R"({"b": 1, "a": 123456789012345678901234567890})");
  EXPECT_EQ(with(R"("")"), "{}");
  EXPECT_EQ(with(R"({"a": 1})"), R"({"a": 1})");
}

TEST(ChatMessages, ErrorsNameThePath) {
  EXPECT_EQ(sentence("[]"), "`messages` is empty; send at least one message");
  EXPECT_EQ(sentence("{}"), "`messages` must be a list, not an object");
  EXPECT_EQ(sentence("[1]"), "`messages[0]` must be an object, not a number");
  EXPECT_EQ(sentence(R"([{"role": "user", "content": "a"}, {"content": "a"}])"), "`messages[1].role` is missing; it must be a string");
  EXPECT_EQ(sentence(R"([{"role": null, "content": "a"}])"), "`messages[0].role` must be a string, not null");
  EXPECT_EQ(sentence(R"([{"role": "user", "content": 5}])"), "`messages[0].content` must be a string, null or a list of parts, not a number");
  EXPECT_EQ(sentence(R"([{"role": "user", "content": [5]}])"), "`messages[0].content[0]` must be an object or a string, not a number");
  EXPECT_EQ(sentence(R"([{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{\"a\": 1, \"b"}}]}])"),
            "`messages[0].tool_calls[0].function.arguments` is not JSON (byte 11: end of text); send the arguments as one JSON object in a string");
  EXPECT_EQ(sentence(R"([{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "[1]"}}]}])"),
            "`messages[0].tool_calls[0].function.arguments` must hold a JSON object, not a list; send the arguments as one JSON object in a string");
  EXPECT_EQ(sentence(R"([{"role": "user", "content": [{"type": "text", "text": "a"}]}])"), "accepted");
  EXPECT_EQ(sentence(R"([{"role": "user", "content": [{"text": "a"}]}])"), "`messages[0].content[0].type` is missing; it must be a string");
  EXPECT_EQ(sentence(R"([{"role": "user", "content": [{"type": 3}]}])"), "`messages[0].content[0].type` must be a string, not a number");
  EXPECT_EQ(sentence(R"([{"role": "user", "content": [{"type": "text"}]}])"), "`messages[0].content[0].text` is missing; it must be a string");
  EXPECT_EQ(sentence(R"([{"role": "user", "content": [{"type": "text", "text": []}]}])"),
            "`messages[0].content[0].text` must be a string, not a list");
}

TEST(ChatMessages, ReasoningIsText) {
  for (const char* role : {"assistant", "user", "tool"}) {
    const std::string begin = std::string(R"([{"role": ")") + role + R"(", "content": "a", )";
    EXPECT_EQ(sentence(begin + R"("reasoning_content": 1.5}])"), "`messages[0].reasoning_content` must be a string, not a number");
    EXPECT_EQ(sentence(begin + R"("thinking": ["x"]}])"), "`messages[0].thinking` must be a string, not a list");
    EXPECT_EQ(sentence(begin + R"("reasoning_content": null, "thinking": "b"}])"), "accepted");
  }
}

TEST(ChatMessages, AStringAmongPartsIsAPartOfTypeText) {
  const ChatTemplate chat = ChatTemplate::from_source("{% for part in messages[0].content %}{{ part.type }}:{{ part.text }} {% endfor %}", "t");
  const MarkedText text = chat.render(request(R"([{"role": "user", "content": ["x", {"type": "text", "text": "y"}]}])"));
  EXPECT_EQ(text.text(), "text:x text:y ");
  EXPECT_FALSE(text.all_from_template(5, 6));
}

TEST(ChatMessages, AHundredThousandAreTaken) {
  std::string messages = "[";
  for (int i = 0; i < 100'000; ++i) messages += R"({"role": "user", "content": "a"},)";
  const std::string last = R"({"role": "user", "content": "a"}])";
  EXPECT_EQ(sentence(messages + last), "`messages` has 100001 messages, at most 100000 are taken; leave the oldest out");
}

TEST(ChatTemplate, ASpecialTokenOfAnotherTypeIsNamed) {
  const auto outcome = [](const std::string& config) {
    const testing_support::TemporaryFolder folder;
    std::ofstream(folder.path() / "tokenizer_config.json") << config;
    std::ofstream(folder.path() / "chat_template.jinja") << "{{ bos_token }}";
    try {
      return ChatTemplate::load(folder.path()).render(request(R"([{"role": "user", "content": "a"}])")).text();
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  EXPECT_EQ(outcome(R"({"bos_token": "b", "eos_token": null})"), "b");
  EXPECT_EQ(outcome(R"({"bos_token": {"content": "b"}})"), "b");
  for (const char* value : {"5", "[]", "{}", R"({"content":5})", "true"}) {
    EXPECT_NE(
        outcome(std::string(R"({"bos_token":)") + value + "}")
            .find(std::string("tokenizer_config.json: `bos_token` is ") + value + ", a text, null or an object with a text as `content` was needed"),
        std::string::npos)
        << value;
  }
}

TEST(ChatMessages, ToolsAreFunctionsWithNames) {
  const auto tools = [](const std::string& json) {
    try {
      prepare_tools(jinja::read_json(json, "tools"));
      return std::string("accepted");
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  EXPECT_EQ(tools(R"([{"type": "function", "function": {"name": "f"}}])"), "accepted");
  EXPECT_EQ(tools("{}"), "`tools` must be a list, not an object");
  EXPECT_EQ(tools("[true]"), "`tools[0]` must be an object, not true");
  EXPECT_EQ(tools(R"([{"name": "f"}])"), "accepted");  // the function itself
  EXPECT_EQ(tools(R"([{"name": 5}])"), "`tools[0].name` must be a string, not a number");
  EXPECT_EQ(tools(R"([{"type": "function"}])"), "`tools[0].function` is missing; it must be an object");
  EXPECT_EQ(tools(R"([{"function": "f"}])"), "`tools[0].function` must be an object, not a string");
  EXPECT_EQ(tools(R"([{"function": {"name": null}}])"), "`tools[0].function.name` must be a string, not null");
}

TEST(ChatTemplate, OfAnotherEncodingOrWithANulByteIsRefused) {
  const auto refusal = [](const std::string& source) {
    try {
      ChatTemplate::from_source(source, "t");
      return std::string("accepted");
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  const std::string wide = {'{', '\0', '{', '\0', '1', '\0'};
  EXPECT_EQ(refusal("\xff\xfe" + wide), "t: the text looks like UTF-16, UTF-8 is needed; save it as UTF-8");
  EXPECT_EQ(refusal(wide), "t: the text looks like UTF-16, UTF-8 is needed; save it as UTF-8");
  EXPECT_EQ(refusal(std::string("hello") + '\0' + "x"), "t: the template has a NUL byte at byte 6, which no text has; fetch it again");
}

TEST(ChatTemplate, LongForeignTextIsCutInErrors) {
  const std::string refused = [] {
    try {
      ChatTemplate::from_source("{{ raise_exception('a' * 1000000) }}", "t").render(request(R"([{"role": "user", "content": "a"}])"));
      return std::string("accepted");
    } catch (const Error& error) {
      return std::string(error.what());
    }
  }();
  EXPECT_NE(refused.find("the template refuses: aaa"), std::string::npos) << refused;
  EXPECT_LT(refused.size(), 400U);
}

}  // namespace
}  // namespace lagoon
