// reasoning_splitter.h: parts a model's output, as it arrives, into the reasoning before the first </think> and the content
// after it. The result does not depend on how the text was cut.
#pragma once

#include <string>
#include <string_view>

namespace lagoon {

class ReasoningSplitter {
 public:
  struct Parts {
    std::string reasoning;
    std::string content;
  };

  /// @param thinking  the prompt ended inside <think>: the text begins as reasoning, a <think> at its very front is dropped,
  ///                  and without </think> all of it is reasoning. Otherwise everything is content.
  explicit ReasoningSplitter(bool thinking) : state_(thinking ? State::front : State::content) {}

  Parts push(std::string_view piece);
  /// What was held back because it could have become a tag.
  Parts finish();

 private:
  enum class State { front, reasoning, content };
  State state_;
  std::string held_;
};

}  // namespace lagoon
