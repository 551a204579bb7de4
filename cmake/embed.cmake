# Writes a C++ source that holds files as text: cmake -DFILES="a|b" -DNAME=function -DOUTPUT=x.cpp -P embed.cmake
string(REPLACE "|" ";" FILES "${FILES}")
set(entries "")
set(count 0)
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME)
  file(READ ${file} text HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" text "${text}")
  # Short literals in a row: compilers and readers choke on one long line.
  string(REGEX REPLACE "((\\\\x[0-9a-f][0-9a-f])(\\\\x[0-9a-f][0-9a-f])?(\\\\x[0-9a-f][0-9a-f])?(\\\\x[0-9a-f][0-9a-f])?(\\\\x[0-9a-f][0-9a-f])?(\\\\x[0-9a-f][0-9a-f])?(\\\\x[0-9a-f][0-9a-f])?(\\\\x[0-9a-f][0-9a-f])?)"
         "\"\\1\"\n" text "${text}")
  file(SIZE ${file} bytes)
  string(APPEND entries "    {\"${name}\", std::string_view(\"\" ${text}, ${bytes})},\n")
  math(EXPR count "${count} + 1")
endforeach()
file(WRITE ${OUTPUT} "#include \"base/embedded_file.h\"\n\n#include <array>\n\nnamespace lagoon {\n\n"
     "std::span<const EmbeddedFile> ${NAME}() {\n  static constexpr std::array<EmbeddedFile, ${count}> files{{\n${entries}  }};\n  return files;\n}\n\n"
     "}  // namespace lagoon\n")
