// impostor.h: what a file is that has the name of another: the usual accidents of a download.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lagoon {

/// Judged by the first bytes: a git-lfs pointer, a web page, a GGUF file, an archive; nullopt if nothing is recognised.
std::optional<std::string> recognise_impostor(std::string_view first_bytes);

/// @param what    the file, which begins the sentence
/// @param needed  what it should be: "JSON", "a chat template"
/// @throws Error(corrupt) if an impostor is recognised
void refuse_impostor(std::string_view text, std::string_view what, std::string_view needed);

/// @throws Error(corrupt) if the text looks like UTF-16 or UTF-32 rather than UTF-8: a byte order mark, or NUL bytes between its first characters
void refuse_other_encoding(std::string_view text, std::string_view what);

}  // namespace lagoon
