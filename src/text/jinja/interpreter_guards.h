// interpreter_guards.h: what the interpreter changes for a while and restores however it leaves.
#pragma once

#include "text/jinja/interpreter.h"

namespace lagoon::jinja {

class Interpreter::Depth {
 public:
  explicit Depth(Interpreter& interpreter) : interpreter_(interpreter) {
    if (++interpreter_.depth_ > interpreter_.budget_.limits().evaluation_depth) {
      --interpreter_.depth_;
      raise("RecursionError", "maximum recursion depth exceeded");
    }
  }
  ~Depth() { --interpreter_.depth_; }
  Depth(const Depth&) = delete;
  Depth& operator=(const Depth&) = delete;

 private:
  Interpreter& interpreter_;
};

class Interpreter::Sink {
 public:
  explicit Sink(Interpreter& interpreter) : interpreter_(interpreter), before_(interpreter.out_) { interpreter.out_ = &text_; }
  ~Sink() { interpreter_.out_ = before_; }
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  MarkedText take() { return std::move(text_); }

 private:
  Interpreter& interpreter_;
  MarkedText* before_;
  MarkedText text_;
};

class Interpreter::Inside {
 public:
  Inside(Interpreter& interpreter, const Template& tree, Context* context)
      : interpreter_(interpreter), tree_(interpreter.tree_), context_(interpreter.context_), autoescape_(interpreter.autoescape_) {
    if (++interpreter_.macro_depth_ > interpreter_.budget_.limits().macro_depth) {
      --interpreter_.macro_depth_;
      raise("RecursionError", "maximum recursion depth exceeded");
    }
    interpreter_.tree_ = &tree;
    interpreter_.context_ = context;
  }
  ~Inside() {
    --interpreter_.macro_depth_;
    interpreter_.tree_ = tree_;
    interpreter_.context_ = context_;
    interpreter_.autoescape_ = autoescape_;
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  Interpreter& interpreter_;
  const Template* tree_;
  Context* context_;
  bool autoescape_;
};

}  // namespace lagoon::jinja
