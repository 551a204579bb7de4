// console.h: what the program says beside its output: notes, warnings and errors on standard error, details with --verbose, and all of
// it in the file of --log-file.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace lagoon {

enum class Verbosity {
  quiet,    // errors alone
  usual,    // also notes and warnings
  verbose,  // also what is opened, planned and chosen
};

/// A handle: copies speak for the same program. One made without arguments says the usual and keeps no log.
class Console {
 public:
  Console();

  /// @param log_file  lines are appended to it; empty: none. @throws Error(invalid) naming a file that cannot be written
  Console(Verbosity verbosity, const std::string& log_file);

  /// What is good to know, as a sentence without a full stop: "lagoon: SENTENCE".
  void note(std::string_view sentence) const;

  /// What may surprise whoever does not know it.
  void warning(std::string_view sentence) const;

  /// What was opened, planned or chosen; shown with --verbose.
  void detail(std::string_view sentence) const;

  /// Why the program ends; always shown.
  void error(std::string_view sentence) const;

  /// Text of several lines that a flag asked for, as it is; always shown.
  void report(std::string_view text) const;

  Verbosity verbosity() const;

 private:
  struct State;
  void say(bool shown, int level, std::string_view sentence) const;
  std::shared_ptr<State> state_;
};

}  // namespace lagoon
