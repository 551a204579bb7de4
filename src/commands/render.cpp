// render: what a chat template makes of messages, exactly as a model would be fed.
#include "base/error.h"
#include "commands/chat_input.h"
#include "commands/command.h"
#include "commands/json_lines.h"
#include "commands/model_options.h"
#include "commands/option_checks.h"
#include "commands/output.h"
#include "text/tokenizer.h"

#include <CLI/CLI.hpp>

#include <fmt/ranges.h>

namespace lagoon {
namespace {

struct Flags {
  std::string model;
  std::string thinking;
  ChatInput chat;
  bool ids = false;
  bool json = false;
  std::string template_file;
  std::string context;
  std::string jsonl;
};

int render_model(const Flags& flags, const Environment& environment) {
  if (flags.chat.messages.empty()) fail(ErrorKind::invalid, "render MODEL needs --messages FILE.json with the conversation");
  const std::filesystem::path folder = find_model_folder(flags.model, environment.places);
  ChatInput input = flags.chat;
  input.thinking = thinking_of(flags.thinking, load_generation_config(folder, SystemFiles()));
  const MarkedText text = render_chat(folder, input);
  std::vector<int32_t> ids;
  if (flags.ids) ids = Tokenizer::load(folder / "tokenizer.json").encode(text);
  if (flags.json) {
    write_output(fmt::format("{{\"text\": {}", to_json(std::string_view(text.text()))));
    write_output(flags.ids ? fmt::format(", \"ids\": {}}}\n", to_json(ids)) : "}\n");
  } else if (flags.ids) {
    write_output(fmt::format("{}\n", fmt::join(ids, " ")));
  } else {
    write_output(text.text());
  }
  return 0;
}

int render_template_file(const Flags& flags) {
  const std::string source = read_named_text(flags.template_file);
  write_output(render_template(source, flags.template_file, read_named_json(flags.context)).text());
  return 0;
}

int render_lines(const Flags& flags, const Environment& environment) {
  std::string shared;
  if (!flags.template_file.empty()) shared = read_named_text(flags.template_file);
  return answer_json_lines(flags.jsonl, environment.error_is_terminal && !environment.output_is_terminal, [&](const jinja::Value& object) {
    const bool own = flags.template_file.empty() || object.as_dict().find("template");
    const std::string& source = own ? text_field_of(object, "template") : shared;
    const jinja::Value* context = object.as_dict().find("context");
    const jinja::Value nothing = jinja::Value::dict({});
    const MarkedText text = render_template(source, own ? "template" : flags.template_file, context ? *context : nothing);
    return fmt::format("{{\"rendered\": {}}}", to_json(std::string_view(text.text())));
  });
}

int run(const Flags& flags, const Environment& environment) {
  const int ways = (flags.model.empty() ? 0 : 1) + (flags.context.empty() ? 0 : 1) + (flags.jsonl.empty() ? 0 : 1);
  if (ways != 1) {
    fail(ErrorKind::invalid, "say what to render in one way: MODEL --messages FILE.json, or --template FILE --context FILE.json, or --jsonl FILE");
  }
  if (!flags.jsonl.empty()) return render_lines(flags, environment);
  if (flags.context.empty() && !flags.template_file.empty())
    fail(ErrorKind::invalid, "--template goes with --context or --jsonl; a MODEL has its own template");
  if (flags.context.empty()) return render_model(flags, environment);
  if (flags.template_file.empty()) fail(ErrorKind::invalid, "--context needs --template FILE");
  return render_template_file(flags);
}

}  // namespace

Command declare_render(CLI::App& program) {
  CLI::App* parser = program.add_subcommand("render", "Print what a chat template makes of messages");
  auto flags = std::make_shared<Flags>();
  parser->add_option("MODEL", flags->model, model_help);
  of_one_run(parser->add_option("--messages", flags->chat.messages, "JSON file with a list of OpenAI chat messages (- is standard input)"))
      ->check(not_empty())
      ->type_name("FILE");
  parser->add_option("--tools", flags->chat.tools, "JSON file with a list of OpenAI tools")->check(not_empty())->type_name("FILE");
  one_of(parser->add_option("--thinking", flags->thinking, "whether the model is to think first (what generation_config.json says, else on)"),
         {"on", "off"});
  parser->add_flag("--ids", flags->ids, "token ids instead of text; with --json both");
  parser->add_flag("--json", flags->json, "a JSON object");
  of_one_run(parser->add_option("--template", flags->template_file, "a template file, with --context or --jsonl"))
      ->check(not_empty())
      ->type_name("FILE");
  of_one_run(parser->add_option("--context", flags->context, "JSON file with the template's variables"))->check(not_empty())->type_name("FILE");
  of_one_run(parser->add_option("--jsonl", flags->jsonl, "one object a line, {\"template\": TEXT, \"context\": {...}} (- is standard input)"))
      ->check(not_empty())
      ->type_name("FILE");
  return {parser,
          [flags](const Environment& environment) { return run(*flags, environment); },
          {{"echo '[{\"role\": \"user\", \"content\": \"hi\"}]' | lagoon render nano --messages -", "what the model is fed for one message"},
           {"echo '[{\"role\": \"user\", \"content\": \"hi\"}]' | lagoon render nano --messages - --thinking off --ids --json",
            "with its token ids, as JSON"}}};
}

}  // namespace lagoon
