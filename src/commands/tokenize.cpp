// tokenize: text to token ids and back.
#include "base/error.h"
#include "base/utf8.h"
#include "commands/chat_input.h"
#include "commands/command.h"
#include "commands/interrupt.h"
#include "commands/json_lines.h"
#include "commands/model_options.h"
#include "commands/option_checks.h"
#include "commands/output.h"
#include "machine/file.h"
#include "text/jinja/json.h"
#include "text/tokenizer.h"

#include <CLI/CLI.hpp>

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

namespace lagoon {
namespace {

struct Flags {
  std::string model;
  std::string text = "-";
  std::string jsonl;
  bool json = false;
  bool decode = false;
  bool special = false;
  bool bos = false;
  bool skip_special = false;
};

Tokenizer load_tokenizer(const std::string& model, const Environment& environment) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(model, ignored)) return Tokenizer::load(model);
  const std::filesystem::path file = find_model_folder(model, environment.places) / "tokenizer.json";
  environment.console.detail("tokenizer: " + printable_path(file));
  return Tokenizer::load(file);
}

std::vector<int32_t> encode(const Tokenizer& tokenizer, const std::string& text, const Flags& flags, const EncodingProgress& progress = {}) {
  return flags.special ? tokenizer.encode(text, flags.bos, progress) : tokenizer.encode_data(text, flags.bos, progress);
}

/// {"text": ..., "pieces": [...]}: what came out with each id, null where nothing did; "rest" is what came at the end.
std::string decoded_object(const Tokenizer& tokenizer, const std::vector<int32_t>& ids, const Flags& flags) {
  StreamingDecoder decoder(tokenizer, flags.skip_special);
  std::vector<std::string> pieces;
  for (const int32_t id : ids) {
    const std::string piece = decoder.push(id);
    pieces.push_back(piece.empty() ? "null" : to_json(std::string_view(piece)));
  }
  const std::string rest = decoder.flush();
  return fmt::format("{{\"text\": {}, \"pieces\": [{}]{}}}", to_json(std::string_view(tokenizer.decode(ids, flags.skip_special))),
                     fmt::join(pieces, ", "), rest.empty() ? "" : ", \"rest\": " + to_json(std::string_view(rest)));
}

/// Ids separated by blanks, or by one comma each; or one JSON list of them.
std::vector<int32_t> parse_ids(const std::string& text) {
  constexpr std::string_view blanks = " \t\r\n";
  constexpr std::string_view ends = " \t\r\n,[]";
  constexpr std::string_view advice = "write whole numbers such as 17 4 or [17, 4]";
  const size_t first = text.find_first_not_of(blanks);
  if (first == std::string::npos) return {};
  const size_t last = text.find_last_not_of(blanks);
  const bool list = text[first] == '[';
  if (list != (text[last] == ']') || (list && first == last)) fail(ErrorKind::invalid, "a list of ids begins with [ and ends with ]; {}", advice);
  const std::string_view inside =
      list ? std::string_view(text).substr(first + 1, last - first - 1) : std::string_view(text).substr(first, last - first + 1);
  std::vector<int32_t> ids;
  bool comma = false;  // after the last id
  for (size_t at = inside.find_first_not_of(blanks); at != std::string_view::npos; at = inside.find_first_not_of(blanks, at)) {
    if (inside[at] == ',') {
      if (ids.empty() || comma) fail(ErrorKind::invalid, "a comma stands between two ids, one follows none; {}", advice);
      comma = true;
      ++at;
      continue;
    }
    if (list && !ids.empty() && !comma) fail(ErrorKind::invalid, "a comma is missing after the id {} of the list; {}", ids.back(), advice);
    int32_t id = 0;
    const auto [end, error] = std::from_chars(inside.data() + at, inside.data() + inside.size(), id);
    const auto next = static_cast<size_t>(end - inside.data());
    if (error != std::errc() || id < 0 || (next < inside.size() && ends.find(inside[next]) == std::string_view::npos)) {
      const size_t length = std::max<size_t>(std::min(inside.find_first_of(ends, at), inside.size()) - at, 1);
      fail(ErrorKind::invalid, "`{}` is no token id; {}", printable(inside.substr(at, length)), advice);
    }
    ids.push_back(id);
    comma = false;
    at = next;
  }
  if (comma) fail(ErrorKind::invalid, "a comma stands after the last id {}; {}", ids.back(), advice);
  return ids;
}

int run(const Flags& flags, const Environment& environment) {
  if (flags.decode && (flags.special || flags.bos)) fail(ErrorKind::invalid, "--special and --bos are for text to ids; --decode goes the other way");
  if (flags.skip_special && !flags.decode) fail(ErrorKind::invalid, "--skip-special goes with --decode");
  const Tokenizer tokenizer = load_tokenizer(flags.model, environment);
  if (!flags.jsonl.empty()) {
    return answer_json_lines(flags.jsonl, environment.error_is_terminal && !environment.output_is_terminal, [&](const jinja::Value& object) {
      if (flags.decode) return decoded_object(tokenizer, ids_field_of(object, "ids"), flags);
      return fmt::format("{{\"ids\": {}}}", to_json(encode(tokenizer, text_field_of(object, "text"), flags)));
    });
  }
  const std::string text = flags.text == "-" ? read_input(input_limit) : flags.text;
  if (flags.decode) {
    const std::vector<int32_t> ids = parse_ids(text);
    write_output(flags.json ? decoded_object(tokenizer, ids, flags) + "\n" : tokenizer.decode(ids, flags.skip_special) + "\n");
    return 0;
  }
  leave_in_time();
  ProgressLine progress(environment.error_is_terminal, "encoding", "bytes");
  const std::vector<int32_t> ids = encode(tokenizer, text, flags, [&](uint64_t done, uint64_t total) {
    check_interrupt();
    progress.update(done, total);
  });
  progress.update(1, 1);  // done
  write_output(flags.json ? fmt::format("{{\"ids\": {}}}\n", to_json(ids)) : fmt::format("{}\n", fmt::join(ids, " ")));
  return 0;
}

}  // namespace

Command declare_tokenize(CLI::App& program) {
  CLI::App* parser = program.add_subcommand("tokenize", "Turn text into token ids, or back");
  auto flags = std::make_shared<Flags>();
  parser->add_option("MODEL", flags->model, std::string(model_help) + "; or a tokenizer.json")->required();
  parser->add_option("TEXT", flags->text, "the text, or with --decode the ids (- is standard input)");
  parser->add_flag("--json", flags->json, "a JSON object: {\"ids\": [...]}, or {\"text\": ..., \"pieces\": [...]}");
  of_one_run(
      parser->add_option("--jsonl", flags->jsonl, "one object a line, {\"text\": ...} or with --decode {\"ids\": [...]} (- is standard input)"))
      ->type_name("FILE");
  of_one_run(parser->add_flag("--decode", flags->decode, "ids to text"));
  parser->add_flag("--special", flags->special, "let control tokens in the text match; without it the text is data");
  parser->add_flag("--bos", flags->bos, "let the tokenizer's post-processor add its tokens");
  parser->add_flag("--skip-special", flags->skip_special, "with --decode: leave special tokens out");
  return {parser,
          [flags](const Environment& environment) { return run(*flags, environment); },
          {{"lagoon tokenize nano \"hi there\"", "text to ids"}, {"lagoon tokenize nano --decode \"1094 290\"", "ids to text"}}};
}

}  // namespace lagoon
