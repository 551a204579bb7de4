#include "commands/answer_printer.h"

#include "base/byte_size.h"
#include "commands/output.h"
#include "commands/terminal_modes.h"
#include "commands/terminal_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace lagoon {
namespace {

constexpr const char* dim = "\x1b[2m";
constexpr const char* plain = "\x1b[0m";

}  // namespace

AnswerPrinter::~AnswerPrinter() {
  if (thinking_ && style_.colour && style_.thinking == ThinkingView::shown) write_error(std::string(plain) + "\n");
}

void AnswerPrinter::write(const std::string& text) {
  if (text.empty()) return;
  write_output(style_.terminal ? visible(text) : text);
  last_ = text.back();
  printed_ = true;
}

std::string AnswerPrinter::fold_line(bool ended) const {
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  return fmt::format("{} {:.1f} s, {} {}", ended ? "thought for" : "thinking:", seconds, format_count(static_cast<uint64_t>(tokens_)),
                     tokens_ == 1 ? "token" : "tokens");
}

void AnswerPrinter::begin_thinking() {
  if (thinking_) return;
  thinking_ = true;
  start_ = Clock::now();
  if (style_.thinking == ThinkingView::shown) write_output(style_.colour ? dim : "<think>");
}

void AnswerPrinter::count_token() {
  ++tokens_;
  // The line is overwritten where a terminal knows how; elsewhere it comes once, at the end.
  if (!thinking_ || style_.thinking != ThinkingView::folded || !style_.colour) return;
  if (Clock::now() - shown_at_ < std::chrono::milliseconds(100)) return;
  shown_at_ = Clock::now();
  // Never as wide as the terminal: a line that wraps cannot be overwritten.
  const auto room = static_cast<size_t>(std::max(terminal_size().columns - 1, 0));
  write_output(fmt::format("\r\x1b[K{}{}{}", dim, fold_line(false).substr(0, room), plain));
  flush_output();
}

void AnswerPrinter::print(const GenerationPiece& piece) {
  if (!piece.reasoning.empty() && style_.thinking != ThinkingView::hidden) {
    begin_thinking();
    if (style_.thinking == ThinkingView::shown) write(piece.reasoning);
  }
  if (!piece.content.empty()) {
    end_thinking();
    write(piece.content);
  }
  flush_output();
}

void AnswerPrinter::end_thinking() {
  if (!thinking_) return;
  thinking_ = false;
  if (style_.thinking == ThinkingView::folded) {
    write_output(style_.colour ? fmt::format("\r\x1b[K{}{}{}\n", dim, fold_line(true), plain) : fold_line(true) + "\n");
  } else {
    write_output(style_.colour ? std::string(plain) + "\n" : "</think>\n");
  }
  last_ = '\n';
  printed_ = true;
}

void AnswerPrinter::finish() {
  end_thinking();
  if (last_ != '\n') write_output("\n");
  last_ = '\n';
  flush_output();
}

std::string thinking_text(const std::string& reasoning, const AnswerStyle& style) {
  const std::string text = style.terminal ? visible(reasoning) : reasoning;
  return style.colour ? dim + text + plain + "\n" : "<think>" + text + "</think>\n";
}

ThinkingView usual_thinking_view(bool terminal, bool asked_for) { return terminal || asked_for ? ThinkingView::shown : ThinkingView::hidden; }

}  // namespace lagoon
