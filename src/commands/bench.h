// bench.h: the flags of `lagoon bench`, and its parts.
#pragma once

#include "commands/environment.h"
#include "commands/model_runner.h"

#include <string>
#include <vector>

namespace lagoon {

struct BenchFlags {
  std::string model;
  std::string synthetic;  // a spec of checkpoint/synthetic.h
  bool machine = false;
  std::string disk;                  // a file
  std::vector<std::string> compare;  // two files
  std::string prompts;               // empty: the usual ones
  std::string batches = "1,2,4,8";
  int64_t generate = 128;
  int repeats = 3;
  std::string format = "text";
  std::string plot;  // a file: .svg or .png
  bool profile = false;
  RunnerFlags runner;
};

/// `bench --machine`. @return the exit code
int run_machine(const BenchFlags& flags, const Environment& environment);

}  // namespace lagoon
