// tab_completion.h: what Tab completes in a chat: commands, and what stands behind some of them.
#pragma once

#include "commands/line_editor.h"

#include <filesystem>

namespace lagoon {

/// Names of commands; files behind /save and /load, folders with a slash; the words of /thinking.
/// @param home  for ~/; empty: unknown
TabCompleter chat_completer(std::filesystem::path home);

}  // namespace lagoon
