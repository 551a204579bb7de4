// manual.h: manual pages (roff, man macros) and the reference in Markdown, made from the definitions of the command line.
#pragma once

#include "commands/command_line.h"

#include <string>

namespace lagoon {

/// The page of a command; nullptr: of the program. It depends on nothing but the definitions.
std::string manual_page(const CommandLine& line, const Command* command);

/// All pages as one Markdown document: docs/cli.md.
std::string manual_markdown(const CommandLine& line);

}  // namespace lagoon
