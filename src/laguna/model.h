// model.h: the seam between the engine and whoever does the arithmetic. Callers see sequences, token ids and logits, never
// tensors, so that other machines than this CPU can stand behind the same functions.
#pragma once

#include "base/matrix_view.h"
#include "checkpoint/model_config.h"

#include <cstdint>
#include <functional>
#include <span>

namespace lagoon {

/// A timeline of tokens whose keys and values the model keeps.
enum class SequenceId : int64_t {};

/// Tokens to append to one sequence.
struct TokenSpan {
  SequenceId sequence;
  std::span<const int32_t> tokens;  // at least one
  int64_t logit_rows = 1;           // logits are wanted of the last so many tokens, 0 to tokens.size()
};

/// Told before each layer of a step how many layers are done, on the thread that called; what it throws stops the step.
using LayerProgress = std::function<void(int done, int layers)>;

/// Used by one thread at a time.
class Model {
 public:
  virtual ~Model() = default;

  virtual const ModelConfig& config() const = 0;

  /// Most tokens of all spans of one forward() together.
  virtual int64_t step_rows() const = 0;

  /// Most positions of one sequence.
  virtual int64_t context() const = 0;

  /// An empty sequence of at most `positions` tokens, for which room is kept until it is dropped.
  /// @param positions  1 to context(). @throws Error(over_budget)
  virtual SequenceId create_sequence(int64_t positions) = 0;
  SequenceId create_sequence() { return create_sequence(context()); }

  /// A new sequence with the same past and as many positions. @throws as create_sequence
  virtual SequenceId fork(SequenceId sequence) = 0;

  /// Cuts a sequence to its first `position` tokens. False, and nothing changes, if what the next token would look at is
  /// gone (sliding layers keep little more than their window); drop the sequence then and build it again.
  virtual bool rewind(SequenceId sequence, int64_t position) = 0;

  virtual void drop(SequenceId sequence) = 0;

  virtual int64_t length(SequenceId sequence) const = 0;

  /// Appends each span to its sequence and computes the logits asked for. Logits of a token depend on the weights and on the
  /// tokens of its own sequence before it, on nothing else.
  /// @param batch   each sequence at most once; step_rows() tokens in all at most
  /// @param logits  [sum of logit_rows][vocabulary], in the order of the batch
  /// @throws Error(invalid) for ids outside the vocabulary or a full sequence, Error(io) if the system has no memory; no sequence has
  ///         changed then. Error(corrupt) if the numbers leave the range of floats: the model is of no use then, nor are its sequences
  virtual void forward(std::span<const TokenSpan> batch, MatrixView<float> logits, const LayerProgress& progress = {}) = 0;
};

}  // namespace lagoon
