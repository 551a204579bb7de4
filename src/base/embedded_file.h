// embedded_file.h: files of the source tree that the program carries inside (cmake/embed.cmake makes them).
#pragma once

#include <span>
#include <string_view>

namespace lagoon {

struct EmbeddedFile {
  std::string_view name;  // without folders
  std::string_view text;
};

}  // namespace lagoon
