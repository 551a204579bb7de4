// chat_on_terminal.h: `lagoon chat nano` on a pseudo-terminal, with a home of its own.
#pragma once

#include "support/temporary_folder.h"
#include "support/terminal.h"

#include <string>
#include <vector>

namespace lagoon::testing_support {

class ChatOnTerminal {
 public:
  explicit ChatOnTerminal(std::vector<std::string> flags = {}, TerminalSetup setup = {}) : terminal(with(flags), in_home(setup)) {}

  Terminal& operator*() { return terminal; }
  Terminal* operator->() { return &terminal; }

  /// Sends a line and waits for what comes of it, and for the next prompt.
  bool say(const std::string& line, const std::string& answer) {
    terminal.mark();
    terminal.type(line + "\r");
    return terminal.wait_for_output(answer) && terminal.wait_for_prompt();
  }

  TemporaryFolder home;
  Terminal terminal;

 private:
  static std::vector<std::string> with(const std::vector<std::string>& flags) {
    std::vector<std::string> all = {LAGOON_PROGRAM, "chat", "nano"};
    all.insert(all.end(), flags.begin(), flags.end());
    return all;
  }
  TerminalSetup in_home(TerminalSetup setup) const {
    setup.environment.insert(setup.environment.begin(), {"HOME=" + home.path().string(), "XDG_STATE_HOME", "NO_COLOR", "LC_ALL", "LANG"});
    return setup;
  }
};

/// An answer that goes on until it is stopped: the tokens that end one are forbidden, and plain kernels take their time.
inline std::vector<std::string> endless() { return {"--logit-bias", "2=-1000", "--logit-bias", "24=-1000", "--kernels", "scalar", "--threads", "1"}; }

/// Steps of one token and plain kernels: a long prompt takes seconds.
inline std::vector<std::string> slow() { return {"--chunk", "1", "--kernels", "scalar", "--threads", "1"}; }

}  // namespace lagoon::testing_support
