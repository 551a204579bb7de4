#include "text/tokenizer/pre_tokenizer.h"

#include "text/tokenizer/unicode_newer.h"

#include <utility>

namespace lagoon {
namespace {

/// Joins matches and the stretches between them as a behaviour says, and hands on what is not removed, in order.
template <typename Emit>
class Joiner {
 public:
  Joiner(SplitBehavior behavior, const Emit& emit) : behavior_(behavior), emit_(emit) {}

  void take(Match part, bool is_match) {
    if (behavior_ == SplitBehavior::isolated) return emit_(part);
    if (behavior_ == SplitBehavior::removed) {
      if (!is_match) emit_(part);
      return;
    }
    if (holds_ && joins(is_match)) {
      held_.end = part.end;
    } else {
      if (holds_) emit_(held_);
      held_ = part;
      holds_ = true;
    }
    held_is_match_ = is_match;
  }
  void finish() {
    if (holds_) emit_(held_);
  }

 private:
  bool joins(bool is_match) const {
    if (behavior_ == SplitBehavior::contiguous) return is_match == held_is_match_;
    if (behavior_ == SplitBehavior::merged_with_previous) return is_match && !held_is_match_;
    return !is_match && held_is_match_;
  }

  SplitBehavior behavior_;
  const Emit& emit_;
  Match held_{};  // joined so far, if holds_
  bool holds_ = false;
  bool held_is_match_ = false;  // of the part that was taken last
};

}  // namespace

void PreTokenizer::split(size_t step, Piece piece, RegexScratch& scratch, PieceSink& sink) const {
  const SplitStep& current = steps_[step];
  const auto emit = [&](Match part) {
    const size_t length = part.end - part.begin;
    if (length > 0) run(step + 1, {piece.text.substr(part.begin, length), piece.subject.substr(part.begin, length)}, scratch, sink);
  };
  Joiner joiner(current.behavior, emit);
  current.pattern.cut(piece.subject, scratch, [&](Match part, bool is_match) { joiner.take(part, is_match != current.invert); });
  joiner.finish();
}

void PreTokenizer::run(size_t step, Piece piece, RegexScratch& scratch, PieceSink& sink) const {
  std::string text;
  std::string subject;
  if (step == prefix_space_at_ && !piece.text.starts_with(' ')) {
    text.append(" ").append(piece.text);
    subject.append(" ").append(piece.subject);
    piece = {text, subject};
  }
  if (step < steps_.size()) {
    split(step, piece, scratch, sink);
  } else {
    sink.take(piece.text);
  }
}

void PreTokenizer::cut(std::string_view text, RegexScratch& scratch, PieceSink& sink) const {
  if (text.empty()) return;
  if (has_newer_character(text)) {
    const std::string subject = with_stand_ins(text);
    run(0, {text, subject}, scratch, sink);
  } else {
    run(0, {text, text}, scratch, sink);
  }
}

}  // namespace lagoon
