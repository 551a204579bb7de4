// answer_printer.h: shows an answer as it comes. What a model says is data from outside: on a terminal its control characters are shown, not
// obeyed.
#pragma once

#include "engine/generation.h"

#include <chrono>
#include <cstdint>
#include <string>

namespace lagoon {

enum class ThinkingView {
  hidden,  // the answer stands alone
  shown,   // as it comes: dimmed where there are styles, else between <think> and </think>
  folded,  // one line that says for how long
};

/// A terminal shows thinking; elsewhere the answer stands alone, unless thinking is asked for.
ThinkingView usual_thinking_view(bool terminal, bool asked_for);

struct AnswerStyle {
  bool terminal = false;  // the output is one
  bool colour = false;    // and has styles
  ThinkingView thinking = ThinkingView::hidden;
};

class AnswerPrinter {
 public:
  explicit AnswerPrinter(AnswerStyle style) : style_(style) {}

  /// However the answer ended, the terminal is left as it was.
  ~AnswerPrinter();
  AnswerPrinter(const AnswerPrinter&) = delete;
  AnswerPrinter& operator=(const AnswerPrinter&) = delete;

  /// A token is about to come.
  void count_token();

  void print(const GenerationPiece& piece);

  /// Ends the thinking and the line.
  void finish();

  /// Whether something is on the screen.
  bool printed() const { return printed_; }

 private:
  using Clock = std::chrono::steady_clock;

  void write(const std::string& text);
  void begin_thinking();
  void end_thinking();
  std::string fold_line(bool ended) const;

  AnswerStyle style_;
  bool thinking_ = false;
  bool printed_ = false;
  char last_ = '\n';
  int64_t tokens_ = 0;
  Clock::time_point start_;
  Clock::time_point shown_at_;
};

/// Thinking that has been there before, as the style shows it.
std::string thinking_text(const std::string& reasoning, const AnswerStyle& style);

}  // namespace lagoon
