#include "base/impostor.h"

#include "base/error.h"

namespace lagoon {

std::optional<std::string> recognise_impostor(std::string_view first_bytes) {
  if (first_bytes.starts_with("version https://git-lfs")) return "a git-lfs pointer that stands for the file";
  if (first_bytes.starts_with("GGUF")) return "a GGUF file";
  if (first_bytes.starts_with("PK\x03\x04")) return "a PyTorch or zip archive";
  if (first_bytes.starts_with("\xef\xbb\xbf")) first_bytes.remove_prefix(3);  // a byte order mark
  const size_t text = first_bytes.find_first_not_of(" \t\r\n");
  if (text == std::string_view::npos) return std::nullopt;
  std::string opening(first_bytes.substr(text, 15));
  for (char& letter : opening) letter = letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  if (opening.starts_with("<!doctype") || opening.starts_with("<html") || opening.starts_with("<?xml")) return "a web page";
  return std::nullopt;
}

void refuse_impostor(std::string_view text, std::string_view what, std::string_view needed) {
  constexpr size_t opening = 64;
  if (const auto impostor = recognise_impostor(text.substr(0, opening))) {
    fail(ErrorKind::corrupt, "{}: this is {}, not {}; fetch the file itself", what, *impostor, needed);
  }
}

void refuse_other_encoding(std::string_view text, std::string_view what) {
  using namespace std::string_view_literals;
  const auto nul = [&](size_t at) { return at < text.size() && text[at] == '\0'; };
  const bool marked = text.starts_with("\xff\xfe"sv) || text.starts_with("\xfe\xff"sv) || text.starts_with("\0\0\xfe\xff"sv);
  const bool spaced = text.size() >= 4 && nul(0) + nul(1) == 1 && nul(0) == nul(2) && nul(1) == nul(3);
  const bool wide = text.size() >= 4 && ((!nul(0) && nul(1) && nul(2) && nul(3)) || (nul(0) && nul(1) && nul(2) && !nul(3)));
  if (!marked && !spaced && !wide) return;
  const bool four_bytes = wide || text.starts_with("\0\0\xfe\xff"sv) || text.starts_with("\xff\xfe\0\0"sv);
  fail(ErrorKind::corrupt, "{}: the text looks like {}, UTF-8 is needed; save it as UTF-8", what, four_bytes ? "UTF-32" : "UTF-16");
}

}  // namespace lagoon
