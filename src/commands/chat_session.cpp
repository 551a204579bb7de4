#include "commands/chat_session.h"

#include "base/byte_size.h"
#include "base/error.h"
#include "base/utf8.h"
#include "commands/interrupt.h"
#include "commands/output.h"
#include "commands/progress.h"
#include "commands/sampling_flags.h"
#include "commands/terminal_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace lagoon {
namespace {

using chat_exit::hung_up;
using chat_exit::interrupted;

/// What is pasted is a message, unless it is one line that begins with the name of a command.
bool is_command(const EditedLine& line) {
  if (line.text.front() != '/') return false;
  if (!line.pasted) return !line.text.starts_with("//");
  const std::string name = line.text.substr(0, line.text.find_first_of(" \t"));
  const auto& known = chat_commands();
  return line.text.find('\n') == std::string::npos &&
         std::any_of(known.begin(), known.end(), [&](const ChatCommand& command) { return command.name == name; });
}

/// A slash that is doubled or stands behind a blank is text; what is pasted is sent as it is.
std::string message_of(const EditedLine& line) {
  const std::string& text = line.text;
  if (line.pasted) return text;
  const size_t slash = text.find_first_not_of(' ');
  return text.front() == '/' ? text.substr(1) : slash > 0 && text[slash] == '/' ? text.substr(slash) : text;
}

}  // namespace

std::string format_tokens(int64_t number) { return format_count(static_cast<uint64_t>(std::max<int64_t>(number, 0))); }

AnswerStyle ChatSession::style() const {
  const bool styled = environment_.colour && environment_.moves_cursor;
  return {.terminal = environment_.output_is_terminal, .colour = styled, .thinking = settings_.view};
}

void ChatSession::say(const std::string& text) const {
  write_output(environment_.output_is_terminal ? visible(text) : text);
  flush_output();
}

void ChatSession::note(const std::string& sentence) const {
  flush_output();
  environment_.console.note(visible(sentence));
}

void ChatSession::complain(const std::string& sentence, ErrorKind kind) {
  flush_output();
  environment_.console.error(visible(sentence));
  if (failed_ == 0) failed_ = exit_code_of(kind);
}

int ChatSession::run() {
  while (true) {
    const std::string text = std::exchange(prefill_, {});
    const EditedLine line = source_.next(text);
    switch (line.end) {
      case LineEnd::line:
        if (!take(line)) return end_code();
        break;
      case LineEnd::leave:
        return end_code();
      case LineEnd::interrupt:
        return end_by(interrupted);
      case LineEnd::signal:
        return end_by(interrupt_exit_code());
      case LineEnd::hang_up:
        return hung_up;
    }
    // Whatever was under way has seen the signal.
    const SignalNews news = take_news();
    if (news.leaving) return end_by(interrupt_exit_code());
    if (news.interrupted && !source_.edits() && !environment_.input_is_terminal) return end_by(interrupted);
  }
}

/// Nobody saw what failed where nobody types: the exit code says it.
int ChatSession::end_code() const { return environment_.input_is_terminal ? 0 : failed_; }

int ChatSession::end_by(int code) const {
  const bool seen = code != hung_up || !environment_.input_is_terminal;
  if (seen) {
    flush_output();
    environment_.console.error(stopped_by(code));
  }
  return code;
}

/// False: the chat is over.
bool ChatSession::take(const EditedLine& line) {
  const std::string& text = line.text;
  const bool replaces = std::exchange(replaces_, false) && !line.cleared;
  if (text.find_first_not_of(" \t\n") == std::string::npos) return true;
  if (!is_valid_utf8(text)) {
    complain("what was typed is not valid UTF-8 and was not sent; set the terminal or the file to that encoding", ErrorKind::invalid);
    prefill_ = replace_invalid_utf8(text);
    replaces_ = replaces;
    return true;
  }
  source_.remember(text);
  if (is_command(line)) return obey(text);
  std::string message = message_of(line);
  if (!replaces) {
    send(std::move(message));
  } else {
    turn(message, [&](const AnswerOptions& options, const GenerationEvents& events) { return conversation_.replace(message, options, events); });
  }
  return true;
}

void ChatSession::send(std::string text) {
  turn(text, [&](const AnswerOptions& options, const GenerationEvents& events) { return conversation_.answer(text, options, events); });
}

void ChatSession::turn(const std::string& text, const Answer& answer) {
  AnswerOptions options = settings_.options;
  if (!settings_.seed_given) options.sampling.seed = random_seed();
  const int64_t before = conversation_.tokens();
  AnswerPrinter printer(style());
  std::optional<ProgressLine> progress(std::in_place, environment_.error_is_terminal, "reading the prompt", "tokens");
  GenerationEvents events;
  events.piece = [&](const GenerationPiece& piece) { printer.print(piece); };
  events.before_step = [&] {
    progress.reset();
    check_interrupt();
    printer.count_token();
  };
  events.prompt_progress = [&](int64_t done, int64_t total) {
    check_interrupt();
    progress->update(static_cast<uint64_t>(done), static_cast<uint64_t>(total));
  };
  try {
    last_ = answer(options, events);
    last_seed_ = options.sampling.seed;
    last_cost_ = std::max<int64_t>(0, conversation_.tokens() - before);
    progress.reset();
    printer.finish();
    unanswered_.clear();
    report_turn(*last_);
  } catch (const Error& error) {
    progress.reset();
    if (output_failed()) throw;
    if (!text.empty()) unanswered_ = text;
    const bool stopped = error.kind() == ErrorKind::cancelled;
    if (stopped && interrupt_exit_code() != interrupted) return;  // SIGTERM or SIGHUP: run() leaves
    if (printer.printed()) printer.finish();
    source_.discard();
    const std::string said = stopped ? "stopped before the answer began" : error.what();
    complain(said + (dynamic_cast<const ContextExceeded*>(&error) != nullptr ? way_out_of_context() : advice_on(text)), error.kind());
    if (error.kind() == ErrorKind::bug) throw;
  }
}

std::string ChatSession::advice_on(const std::string& text) const {
  const bool has_advice = !text.empty() && environment_.input_is_terminal;
  return has_advice ? "; the message is not part of the conversation: /edit changes it, /retry sends it again" : "";
}

std::string ChatSession::way_out_of_context() const {
  return "; the message is not part of the conversation: /edit shortens it, /save FILE keeps what was said, /clear begins a new conversation" +
         more_context();
}

void ChatSession::report_turn(const Turn& turn) {
  if (turn.stopped) {
    source_.discard();
    if (interrupt_exit_code() == interrupted && environment_.input_is_terminal)
      note("stopped; what came stays in the conversation, /retry answers again");
  } else if (turn.result.stop_reason == StopReason::max_tokens) {
    note(fmt::format("the answer is cut at --max-tokens {}", format_tokens(settings_.options.max_tokens)));
  } else if (turn.result.stop_reason == StopReason::context_full) {
    note(
        fmt::format("the context of {} tokens is full: {} of the conversation before and {} of the answer, which is cut; /save FILE keeps it, "
                    "/clear begins a new one{}",
                    format_tokens(settings_.context), format_tokens(turn.result.prompt_tokens),
                    format_tokens(static_cast<int64_t>(turn.result.ids.size())), more_context()));
    return;
  }
  note_room();
}

/// Before the context is full: while there is room to do something about it.
void ChatSession::note_room() {
  const int64_t left = settings_.context - conversation_.tokens();
  // Another turn such as the last one would not fit, or little is left by itself.
  const bool near = left < last_cost_ || left < settings_.context / 10 || left < std::min<int64_t>(512, settings_.context / 4);
  if (!near) told_room_ = false;
  if (!near || (told_room_ && left > settings_.context / 20)) return;  // once, and again when little is left
  told_room_ = true;
  if (left <= 0) {
    note(
        fmt::format("the conversation has {} tokens, the context holds {}: another message does not fit; /edit changes the last one, /clear begins a "
                    "new conversation{}",
                    format_tokens(conversation_.tokens()), format_tokens(settings_.context), more_context()));
    return;
  }
  note(fmt::format("the context is nearly full: {} of {} tokens are left; /save FILE keeps the conversation, /clear begins a new one{}",
                   format_tokens(left), format_tokens(settings_.context), more_context()));
}

std::string ChatSession::more_context() const {
  const int64_t larger = std::min(2 * settings_.context, settings_.max_context);
  if (larger <= settings_.context) return " (the checkpoint is made for no more tokens)";
  const uint64_t more = settings_.memory_of(larger) - settings_.memory_of(settings_.context);
  return fmt::format(", and a start with --context {} --load FILE goes on with more ({} more memory)", larger, format_binary(more));
}

}  // namespace lagoon
