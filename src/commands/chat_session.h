// chat_session.h: a chat from its first message to its end: messages are answered, commands obeyed, and whatever goes wrong with one of them
// is said before the next.
#pragma once

#include "base/error.h"
#include "commands/answer_printer.h"
#include "commands/conversation.h"
#include "commands/environment.h"
#include "commands/message_source.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lagoon {

// Exit codes, as those of signals.
namespace chat_exit {
constexpr int hung_up = 128 + 1;
constexpr int interrupted = 128 + 2;
}  // namespace chat_exit

struct ChatSettings {
  AnswerOptions options;
  bool seed_given = false;  // each answer has the seed of the flags; else each its own
  ThinkingView view = ThinkingView::shown;
  int64_t context = 0;                                 // tokens
  int64_t max_context = 0;                             // of the checkpoint
  std::function<uint64_t(int64_t context)> memory_of;  // bytes that a context of so many tokens takes in all
  std::function<std::string()> memory_lines;           // for /stats
};

/// A name behind a slash.
struct ChatCommand {
  const char* name;
  const char* arguments;
  const char* help;
};

/// All of them, as /help lists them.
const std::vector<ChatCommand>& chat_commands();

/// "1,234"; what is below 0 counts as 0.
std::string format_tokens(int64_t number);

class ChatSession {
 public:
  /// All must outlive it.
  ChatSession(Conversation& conversation, MessageSource& source, ChatSettings settings, const Environment& environment)
      : conversation_(conversation), source_(source), settings_(std::move(settings)), environment_(environment) {}

  /// To the end. @return the exit code. @throws Error where standard output cannot be written
  int run();

  /// Reads a saved conversation. @throws Error
  void load(const std::string& file);

 private:
  using Answer = std::function<Turn(const AnswerOptions&, const GenerationEvents&)>;

  bool take(const EditedLine& line);
  void send(std::string text);
  /// @param text  the message, which is kept for /retry and /edit where no answer came; empty: that of the conversation
  void turn(const std::string& text, const Answer& answer);
  void report_turn(const Turn& turn);
  void note_room();
  std::string more_context() const;

  bool obey(const std::string& line);
  void help() const;
  void clear();
  void system(const std::string& text);
  void thinking(const std::string& word);
  void retry();
  void edit(const std::string& text);
  void save(const std::string& file, bool over);
  void stats() const;

  AnswerStyle style() const;
  void say(const std::string& text) const;
  void note(const std::string& sentence) const;
  /// What was asked for and not done.
  void complain(const std::string& sentence, ErrorKind kind);
  int end_code() const;
  /// Says the signal, and is its exit code.
  int end_by(int code) const;
  std::string advice_on(const std::string& text) const;
  std::string way_out_of_context() const;
  std::filesystem::path path_of(const std::string& file) const;

  Conversation& conversation_;
  MessageSource& source_;
  ChatSettings settings_;
  const Environment& environment_;

  std::string prefill_;         // for the editor's next line
  bool replaces_ = false;       // the next message takes the place of the last one
  std::string unanswered_;      // the message that got no answer
  std::filesystem::path file_;  // of the last /save or /load
  std::optional<Turn> last_;
  uint64_t last_seed_ = 0;
  int64_t last_cost_ = 0;   // tokens that the last turn added
  int failed_ = 0;          // the exit code of the first thing that was asked for and not done; 0: there was none
  bool told_room_ = false;  // that the context is nearly full
};

}  // namespace lagoon
