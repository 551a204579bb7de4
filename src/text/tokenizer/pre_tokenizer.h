// pre_tokenizer.h: how a text is cut into the pieces that are encoded each by itself.
// Every step cuts each piece of the step before, which it sees as a whole subject: `$` and lookaheads end with the piece.
// The byte mapping of ByteLevel is no step here: the encoder (bpe.h) works on bytes.
#pragma once

#include "text/tokenizer/pattern.h"

#include <string>
#include <string_view>
#include <vector>

namespace lagoon {

/// What becomes of the matches of a Split. `the-final--countdown`, cut at "-":
enum class SplitBehavior : unsigned char {
  removed,               // the final countdown
  isolated,              // the - final - - countdown
  merged_with_previous,  // the- final- - countdown
  merged_with_next,      // the -final - -countdown
  contiguous,            // the - final -- countdown
};

struct SplitStep {
  Pattern pattern;
  SplitBehavior behavior;
  bool invert;  // the stretches between the matches are what `behavior` is about
};

class PieceSink {
 public:
  virtual void take(std::string_view piece) = 0;  // never empty; valid during the call

 protected:
  ~PieceSink() = default;
};

class PreTokenizer {
 public:
  void add_split(SplitStep step) { steps_.push_back(std::move(step)); }
  /// A space before each piece that does not begin with one; steps that are added later see it.
  void add_prefix_space() { prefix_space_at_ = steps_.size(); }

  /// @pre valid UTF-8
  void cut(std::string_view text, RegexScratch& scratch, PieceSink& sink) const;

 private:
  /// A piece, and the same bytes with stand-ins for characters that PCRE2 does not know (unicode_newer.h).
  struct Piece {
    std::string_view text;
    std::string_view subject;
  };
  void run(size_t step, Piece piece, RegexScratch& scratch, PieceSink& sink) const;
  void split(size_t step, Piece piece, RegexScratch& scratch, PieceSink& sink) const;

  std::vector<SplitStep> steps_;
  size_t prefix_space_at_ = static_cast<size_t>(-1);  // the step before which the space is set
};

}  // namespace lagoon
