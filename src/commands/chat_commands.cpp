// What stands behind a slash.
#include "base/byte_size.h"
#include "base/error.h"
#include "commands/chat_input.h"
#include "commands/chat_session.h"
#include "commands/output.h"
#include "commands/terminal_text.h"
#include "machine/file.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <system_error>

namespace lagoon {
namespace {

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\n");
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" \t\n") + 1 - begin);
}

std::string speed(int64_t tokens, double seconds) {
  return seconds > 0.0 ? fmt::format("{:.2f} s, {:.1f} tokens/s", seconds, static_cast<double>(tokens) / seconds) : fmt::format("{:.2f} s", seconds);
}

bool takes_nothing(const std::string& name) {
  const auto& known = chat_commands();
  return name == "/exit" ||
         std::any_of(known.begin(), known.end(), [&](const ChatCommand& command) { return command.name == name && *command.arguments == '\0'; });
}

/// A name as a shell would take it: quotes around it are not part of it.
std::string unquoted(const std::string& text) {
  const bool quoted = text.size() >= 2 && text.front() == text.back() && (text.front() == '"' || text.front() == '\'');
  return quoted ? text.substr(1, text.size() - 2) : text;
}

}  // namespace

const std::vector<ChatCommand>& chat_commands() {
  static const std::vector<ChatCommand> commands = {
      {"/help", "", "this list"},
      {"/clear", "", "forget the messages; the system message stays"},
      {"/system", "[TEXT]", "show the system message, or set it; - takes it away"},
      {"/thinking", "[on|off|show|fold]", "the last answer's thinking; think or not; show it or one line"},
      {"/retry", "", "answer the last message anew, with a new seed unless --seed was given"},
      {"/edit", "[TEXT]", "change the last message and send it again"},
      {"/save", "[FILE]", "write the conversation as JSON messages; /save! FILE overwrites another file"},
      {"/load", "FILE", "go on with a saved conversation"},
      {"/stats", "", "tokens, speeds, memory and seed"},
      {"/quit", "", "leave; so does Ctrl-D on an empty line"},
  };
  return commands;
}

bool ChatSession::obey(const std::string& line) {
  const size_t end = std::min(line.find_first_of(" \t\n"), line.size());
  const std::string name = line.substr(0, end);
  const std::string rest = trimmed(line.substr(end));
  try {
    if (!rest.empty() && takes_nothing(name))
      fail(ErrorKind::invalid, "{} takes nothing behind it, `{}` was found; leave it out", name, printable(rest, 40));
    if (name == "/quit" || name == "/exit") return false;
    if (name == "/help") {
      help();
    } else if (name == "/clear") {
      clear();
    } else if (name == "/system") {
      system(rest);
    } else if (name == "/thinking") {
      thinking(rest);
    } else if (name == "/retry") {
      retry();
    } else if (name == "/edit") {
      edit(rest);
    } else if (name == "/save" || name == "/save!") {
      save(unquoted(rest), name.back() == '!');
    } else if (name == "/load") {
      if (rest.empty()) fail(ErrorKind::invalid, "/load: name the FILE");
      load(unquoted(rest));
    } else if (name == "/stats") {
      stats();
    } else {
      std::string names;
      for (const ChatCommand& command : chat_commands()) names += std::string(" ") + command.name;
      complain(fmt::format("`{}` is no command; there are{}; //text sends a message that begins with a slash", printable(name, 40), names),
               ErrorKind::invalid);
    }
  } catch (const Error& error) {
    complain(error.what(), error.kind());
  }
  return true;
}

void ChatSession::help() const {
  std::string text;
  for (const ChatCommand& command : chat_commands()) {
    const std::string usage = fmt::format("{} {}", command.name, command.arguments);
    text += fmt::format("{:<31}{}\n", usage, command.help);
  }
  text +=
      "A line that ends in a backslash goes on in the next; so does Alt-Enter. A paste is one message, sent by Enter.\n"
      "Up and Down bring back what was sent, Ctrl-R searches it. Ctrl-C stops an answer or clears the line.\n"
      "//text or a blank before it sends a message that begins with a slash.\n";
  say(text);
}

void ChatSession::clear() {
  conversation_.clear();
  last_.reset();
  last_cost_ = 0;
  unanswered_.clear();
  file_.clear();
  told_room_ = false;
  say("a new conversation begins\n");
}

void ChatSession::system(const std::string& text) {
  if (text.empty()) {
    const std::optional<std::string> current = conversation_.system();
    say(current ? "the system message: " + *current + "\n" : "there is no system message; the template's own counts\n");
    return;
  }
  conversation_.set_system(text == "-" ? std::optional<std::string>() : text);
  say(text == "-" ? "the system message is gone; the template's own counts\n"
                  : "the system message is set; the whole conversation is read again with it\n");
}

void ChatSession::thinking(const std::string& word) {
  if (word == "on" || word == "off") {
    settings_.options.thinking = word == "on";
    say(word == "on" ? "answers begin with thinking\n" : "answers come without thinking\n");
    return;
  }
  if (!word.empty() && word != "show" && word != "fold")
    fail(ErrorKind::invalid, "/thinking `{}`: write on, off, show, fold, or nothing", printable(word));
  const bool was_folded = settings_.view != ThinkingView::shown;
  if (word == "show") settings_.view = ThinkingView::shown;
  if (word == "fold") settings_.view = ThinkingView::folded;
  if (word == "fold") return say("thinking is folded into one line; /thinking shows the last one\n");
  if (word == "show" && !was_folded) return say("thinking is shown as it comes\n");
  const std::string last = conversation_.last_thinking();
  if (!last.empty()) write_output(thinking_text(last, style()));
  say(fmt::format("thinking is {} and {}\n", settings_.options.thinking ? "on" : "off",
                  settings_.view == ThinkingView::shown    ? "shown"
                  : settings_.view == ThinkingView::folded ? "folded"
                                                           : "hidden"));
}

void ChatSession::retry() {
  if (!unanswered_.empty()) return send(unanswered_);
  turn({}, [&](const AnswerOptions& options, const GenerationEvents& events) { return conversation_.retry(options, events); });
}

void ChatSession::edit(const std::string& text) {
  const std::optional<std::string> last = unanswered_.empty() ? conversation_.last_user() : unanswered_;
  if (!last) fail(ErrorKind::invalid, "there is no message of text yet to change");
  const bool replaces = unanswered_.empty();
  if (!text.empty()) {
    if (!replaces) return send(text);
    turn(text, [&](const AnswerOptions& options, const GenerationEvents& events) { return conversation_.replace(text, options, events); });
    return;
  }
  if (!source_.edits()) fail(ErrorKind::invalid, "/edit: there is no editor here; write /edit TEXT to replace the last message by TEXT");
  replaces_ = replaces;
  // A message that looks like a command goes the way that a message of that kind is typed.
  prefill_ = last->starts_with('/') ? "/" + *last : *last;
}

std::filesystem::path ChatSession::path_of(const std::string& file) const {
  const bool of_home = file == "~" || file.starts_with("~/");
  if (of_home && !environment_.home.empty()) return file == "~" ? environment_.home : environment_.home / file.substr(2);
  return file;
}

void ChatSession::save(const std::string& file, bool over) {
  const std::filesystem::path path = file.empty() ? file_ : path_of(file);
  if (path.empty()) fail(ErrorKind::invalid, "/save: name the FILE; there is none yet that this conversation was saved to");
  if (conversation_.messages().empty()) fail(ErrorKind::invalid, "/save: there are no messages yet");
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    fail(ErrorKind::invalid, "{}: this is a folder; name a file, such as {}", printable_path(path), printable_path(path / "talk.json"));
  const bool own = !file_.empty() && std::filesystem::equivalent(path, file_, error);
  if (!over && !own && std::filesystem::exists(path, error))
    fail(ErrorKind::invalid, "{}: there is such a file already; /save! {} overwrites it", printable_path(path), printable(file, 4096));
  const std::string text = conversation_.messages().dump(2) + "\n";
  DurableWriter writer(path);
  writer.write(std::as_bytes(std::span(text.data(), text.size())));
  writer.commit();
  file_ = path;
  const size_t messages = conversation_.messages().size();
  say(fmt::format("{} {} saved in {}\n", messages, messages == 1 ? "message" : "messages", path.string()));
}

void ChatSession::load(const std::string& file) {
  const std::filesystem::path path = path_of(file);
  const std::string name = printable_path(path);
  conversation_.load(parse_json(read_text(SystemFiles(), path, input_limit), name), name, settings_.options.thinking);
  file_ = path;
  unanswered_.clear();
  last_.reset();
  last_cost_ = 0;
  const Json& messages = conversation_.messages();
  const std::string last = messages.empty() ? "" : messages.back().value("role", "");
  const bool asks = last == "user" || last == "tool";
  say(fmt::format("{} {} loaded{}\n", messages.size(), messages.size() == 1 ? "message" : "messages",
                  asks ? "; the last one has no answer yet: /retry answers it" : ""));
  told_room_ = false;
  note_room();
}

void ChatSession::stats() const {
  std::string text = fmt::format("context          {} of {} tokens\n", format_tokens(conversation_.tokens()), format_tokens(settings_.context));
  if (last_) {
    const GenerationResult& result = last_->result;
    const int64_t processed = result.prompt_tokens - result.reused_tokens;
    const auto generated = static_cast<int64_t>(result.ids.size());
    text += fmt::format("last prompt      {} tokens reused, {} processed ({})\n", format_tokens(result.reused_tokens), format_tokens(processed),
                        speed(processed, result.prompt_seconds));
    text += fmt::format("last answer      {} tokens ({})\n", format_tokens(generated), speed(generated, result.generate_seconds));
    text += fmt::format("seed             {}\n", last_seed_);
  }
  say(text + settings_.memory_lines());
}

}  // namespace lagoon
