// Which chat format a template writes, told from what it renders.
#include "planning/template_generation.h"

#include "planning/inspection.h"
#include "support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace lagoon {
namespace {

using testing::HasSubstr;
using testing_support::file_text;

/// A template of the compact form, or of the form with newlines, in other words than the publisher's.
std::string own_template(const std::string& newline, const std::string& thinking) {
  return "{%- for m in messages -%}"
         "{%- if m.role == 'assistant' -%}{{- '<assistant>" +
         newline +
         "' + (('<think>' + m.reasoning + '</think>') if preserve_thinking else '</think>') + m.content -}}"
         "{%- for c in m.tool_calls or [] -%}{{- '<tool_call>' + c.function.name + '" +
         newline +
         "' -}}"
         "{%- for k, v in c.function.arguments.items() -%}{{- '<arg_key>' + k + '</arg_key>" +
         newline + "<arg_value>' + v + '</arg_value>" + newline +
         "' -}}{%- endfor -%}"
         "{{- '</tool_call>' -}}{%- endfor -%}{{- '</assistant>' -}}"
         "{%- else -%}{{- '<' + m.role + '>" +
         newline + "' + m.content + '" + newline +
         "</' + m.role + '>' -}}{%- endif -%}"
         "{%- endfor -%}{{- '<assistant>' + ('<think>' if enable_thinking | default(" +
         thinking + ") else '</think>') -}}";
}

TEST(TemplateGeneration, LayoutIsToldFromWhatIsWritten) {
  const TemplateGeneration compact = recognise_template(own_template("", "true"));
  EXPECT_EQ(compact.layout, TemplateLayout::compact);
  EXPECT_EQ(compact.generation, "v8");
  EXPECT_EQ(compact.thinks_by_default, true);
  EXPECT_TRUE(compact.preserves_thinking);
  EXPECT_FALSE(compact.default_system_message);
  const TemplateGeneration spaced = recognise_template(own_template("\\n", "false"));
  EXPECT_EQ(spaced.layout, TemplateLayout::newlines);
  EXPECT_EQ(spaced.generation, "v4 or v5");
  EXPECT_EQ(spaced.thinks_by_default, false);
  EXPECT_THAT(describe(spaced), HasSubstr("thinking off by default"));
}

TEST(TemplateGeneration, NanoWritesTheCompactForm) {
  const TemplateGeneration nano = recognise_template(file_text(std::filesystem::path(LAGOON_SOURCE_DIR) / "models/nano/chat_template.jinja"));
  EXPECT_EQ(nano.generation, "v8");
  EXPECT_EQ(nano.thinks_by_default, true);
  EXPECT_FALSE(nano.preserves_thinking);
  EXPECT_TRUE(nano.default_system_message);
}

TEST(TemplateGeneration, PublishersTemplatesHaveTheirNumbers) {
  const std::filesystem::path folder = LAGOON_PUBLISHER_TEMPLATES;
  if (!std::filesystem::exists(folder / "laguna_v8.jinja")) GTEST_SKIP() << "no publisher templates in " << folder;
  const TemplateGeneration v8 = recognise_template(file_text(folder / "laguna_v8.jinja"));
  EXPECT_EQ(v8.generation, "v8");
  EXPECT_EQ(v8.thinks_by_default, false);
  EXPECT_FALSE(v8.preserves_thinking);
  const TemplateGeneration later = recognise_template(file_text(folder / "laguna_v8_preserve.jinja"));
  EXPECT_EQ(later.generation, "v8");
  EXPECT_EQ(later.thinks_by_default, true);
  EXPECT_TRUE(later.preserves_thinking);
  const TemplateGeneration v5 = recognise_template(file_text(folder / "laguna_v2.jinja"));
  EXPECT_EQ(v5.generation, "v5");
  EXPECT_EQ(v5.layout, TemplateLayout::newlines);
  EXPECT_EQ(v5.thinks_by_default, false);
  EXPECT_TRUE(v5.default_system_message);
}

TEST(TemplateGeneration, StubsAreNoTemplates) {
  for (const char* text : {"{% include 'chat_template.jinja' %}", "{%- include \"chat_template.jinja\" -%}\n"}) {
    EXPECT_TRUE(is_template_stub(text)) << text;
    EXPECT_EQ(recognise_template(text).layout, TemplateLayout::stub);
  }
  EXPECT_FALSE(is_template_stub("{% include 'other.jinja' %}"));
  EXPECT_FALSE(is_template_stub("x{% include 'chat_template.jinja' %}"));
}

TEST(TemplateGeneration, OtherTemplatesAreNotRecognised) {
  for (const std::string& text :
       {std::string(), std::string("{% for %}"), std::string("{{ raise_exception('no') }}"), std::string("{{ messages[9].x.y }}"),
        std::string("{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"), std::string("\xff\xfe"),
        std::string("{% include 'x' %}"), std::string("<user>u</user>"),
        std::string("{% for i in range(99999) %}{% for j in range(99999) %}x{% endfor %}{% endfor %}")}) {
    const TemplateGeneration generation = recognise_template(text);
    EXPECT_EQ(generation.layout, TemplateLayout::other) << text;
    EXPECT_EQ(generation.generation, "not recognised");
    EXPECT_THAT(describe(generation), HasSubstr("not recognised"));
  }
}

TEST(TemplateGeneration, KnownHashesAreNamed) {
  const std::filesystem::path folder = LAGOON_PUBLISHER_TEMPLATES;
  if (!std::filesystem::exists(folder / "laguna_v8.jinja")) GTEST_SKIP() << "no publisher templates in " << folder;
  EXPECT_EQ(sha256(file_text(folder / "laguna_v8.jinja")), "2d3c724b3c2e9eb71fe9ccc5423ff268a370a8bfa89e9238b6de14fe000825c8");
}

}  // namespace
}  // namespace lagoon
