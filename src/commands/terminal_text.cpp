#include "commands/terminal_text.h"

#include "base/utf8.h"

#include <fmt/format.h>
#include <unicode/ubrk.h>
#include <unicode/uchar.h>
#include <unicode/utext.h>

#include <algorithm>
#include <memory>

namespace lagoon {
namespace {

bool is_control(char32_t code) { return code < 0x20 || (code >= 0x7f && code < 0xa0); }

int width_of(char32_t code) {
  const auto character = static_cast<UChar32>(code);
  constexpr char32_t soft_hyphen = 0xad;
  if (code == soft_hyphen) return 1;
  const auto category = u_charType(character);
  if (category == U_NON_SPACING_MARK || category == U_ENCLOSING_MARK || category == U_FORMAT_CHAR) return 0;
  if (code >= 0x1160 && code <= 0x11ff) return 0;  // vowels and finals of Hangul stand in the syllable of their initial
  const int width = u_getIntPropertyValue(character, UCHAR_EAST_ASIAN_WIDTH);
  return width == U_EA_WIDE || width == U_EA_FULLWIDTH ? 2 : 1;
}

std::string escaped(std::string_view text, bool keeps_lines) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const size_t length = valid_utf8_length(text.substr(at));
    const char byte = text[at];
    if (length == 0) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
      ++at;
      continue;
    }
    const char32_t code = decode_utf8(text.substr(at), length);
    if (code == '\n' || code == '\t') {
      out += keeps_lines ? std::string(1, byte) : code == '\n' ? "\\n" : "\\t";
    } else if (is_control(code)) {
      out += fmt::format("\\x{:02x}", static_cast<uint32_t>(code));
    } else {
      out.append(text.substr(at, length));
    }
    at += length;
  }
  return out;
}

struct CloseBreaks {
  void operator()(UBreakIterator* breaks) const { ubrk_close(breaks); }
};
struct CloseText {
  void operator()(UText* text) const { utext_close(text); }
};

/// Ends of characters in valid text without controls.
void append_characters(std::string_view text, std::vector<std::string>& out) {
  if (text.empty()) return;
  UErrorCode status = U_ZERO_ERROR;
  const std::unique_ptr<UText, CloseText> units(utext_openUTF8(nullptr, text.data(), static_cast<int64_t>(text.size()), &status));
  const std::unique_ptr<UBreakIterator, CloseBreaks> breaks(ubrk_open(UBRK_CHARACTER, "", nullptr, 0, &status));
  if (U_SUCCESS(status)) ubrk_setUText(breaks.get(), units.get(), &status);
  size_t begin = 0;
  while (begin < text.size()) {
    const int32_t end = U_SUCCESS(status) ? ubrk_next(breaks.get()) : UBRK_DONE;
    const size_t stop = end == UBRK_DONE ? begin + std::max<size_t>(valid_utf8_length(text.substr(begin)), 1) : static_cast<size_t>(end);
    out.emplace_back(text.substr(begin, stop - begin));
    begin = stop;
  }
}

}  // namespace

std::string visible(std::string_view text) { return escaped(text, true); }

std::string visible_line(std::string_view text) { return escaped(text, false); }

std::vector<std::string> characters_of(std::string_view text) {
  std::vector<std::string> out;
  size_t begin = 0;  // of a stretch that ICU cuts
  for (size_t at = 0; at < text.size();) {
    const size_t length = valid_utf8_length(text.substr(at));
    if (length != 0 && !is_control(decode_utf8(text.substr(at), length))) {
      at += length;
      continue;
    }
    append_characters(text.substr(begin, at - begin), out);
    out.emplace_back(text.substr(at, std::max<size_t>(length, 1)));
    at += std::max<size_t>(length, 1);
    begin = at;
  }
  append_characters(text.substr(begin), out);
  return out;
}

int columns_of(std::string_view text) {
  int columns = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t length = valid_utf8_length(text.substr(at));
    columns += length == 0 ? 1 : width_of(decode_utf8(text.substr(at), length));
    at += std::max<size_t>(length, 1);
  }
  return columns;
}

}  // namespace lagoon
