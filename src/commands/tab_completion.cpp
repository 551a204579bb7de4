#include "commands/tab_completion.h"

#include "base/utf8.h"
#include "commands/chat_session.h"
#include "commands/terminal_text.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace lagoon {
namespace {

/// Of files that can be typed; those that begin with a dot only where it is asked for.
std::vector<std::string> names_in(const std::filesystem::path& folder, bool hidden) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::string name = at->path().filename().string();
    if (name.starts_with('.') != hidden || !is_valid_utf8(name) || visible_line(name) != name) continue;
    std::error_code unknown;
    if (at->is_directory(unknown)) name += '/';
    names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  return names;
}

TabCompletion files(const std::string& line, size_t begin, const std::filesystem::path& home) {
  const size_t slash = line.rfind('/');
  const size_t name = slash == std::string::npos || slash < begin ? begin : slash + 1;
  const std::string typed = line.substr(begin, name - begin);
  const bool at_home = typed.starts_with("~/") && !home.empty();
  const std::filesystem::path folder = at_home ? home / typed.substr(2) : std::filesystem::path(typed.empty() ? "." : typed);
  return {.begin = name, .words = names_in(folder, line.substr(name).starts_with('.'))};
}

}  // namespace

TabCompleter chat_completer(std::filesystem::path home) {
  return [home = std::move(home)](const std::string& line) -> TabCompletion {
    if (!line.starts_with('/')) return {};
    const std::string command = line.substr(0, line.find(' '));
    const size_t begin = line.find_first_not_of(' ', command.size());
    const size_t rest = begin == std::string::npos ? line.size() : begin;
    if (command == line) {
      TabCompletion names;
      for (const ChatCommand& known : chat_commands()) names.words.push_back(std::string(known.name) + " ");
      return names;
    }
    if (command == "/thinking") return {.begin = rest, .words = {"on", "off", "show", "fold"}};
    if (command == "/save" || command == "/save!" || command == "/load") return files(line, rest, home);
    return {};
  };
}

}  // namespace lagoon
