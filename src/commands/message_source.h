// message_source.h: where a chat's messages come from: an editor on a terminal, or lines of any input.
#pragma once

#include "commands/console.h"
#include "commands/key_reader.h"
#include "commands/line_editor.h"
#include "commands/line_history.h"
#include "commands/terminal_modes.h"

#include <string>
#include <utility>

namespace lagoon {

class MessageSource {
 public:
  virtual ~MessageSource() = default;
  /// The next message or command. @param text  stands in the editor already, where there is one
  virtual EditedLine next(const std::string& text) = 0;
  /// Whether `text` of next() is shown and can be changed.
  virtual bool edits() const = 0;
  /// A message was sent: what is to be remembered.
  virtual void remember(const std::string& text) = 0;
  /// What was typed ahead is not to be sent any more.
  virtual void discard() = 0;
};

/// Keys on a terminal, with history.
class EditorSource final : public MessageSource {
 public:
  /// @param modes, history  must outlive it
  EditorSource(TerminalModes& modes, LineHistory& history, bool colour, TabCompleter completer, Console console);
  EditedLine next(const std::string& text) override;
  bool edits() const override { return true; }
  void remember(const std::string& text) override;
  void discard() override { keys_.discard(); }

 private:
  TerminalModes& modes_;
  LineHistory& history_;
  KeyReader keys_;
  LineEditor editor_;
  Console console_;
  bool keeps_history_ = true;
};

/// Each line is a message; one that ends in a backslash goes on in the next.
class LineSource final : public MessageSource {
 public:
  /// @param prompt  written to standard error before each; empty: none. @param typed  by somebody, whom Ctrl-C does not send away at once
  LineSource(std::string prompt, bool typed) : prompt_(std::move(prompt)), typed_(typed) {}
  EditedLine next(const std::string& text) override;
  bool edits() const override { return false; }
  void remember(const std::string&) override {}
  void discard() override;

 private:
  bool take_line(std::string& line, bool ended);

  std::string prompt_;
  bool typed_;
  std::string bytes_;
  bool interrupted_ = false;
};

}  // namespace lagoon
