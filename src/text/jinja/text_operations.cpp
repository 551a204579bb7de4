#include "text/jinja/text_operations.h"

#include "text/jinja/limits.h"
#include "text/jinja/python_repr.h"
#include "text/jinja/template_error.h"
#include "text/jinja/unicode.h"

#include <algorithm>
#include <cstring>

namespace lagoon::jinja {
namespace {

bool is_first_byte(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }

std::string reversed(std::string_view bytes) { return {bytes.rbegin(), bytes.rend()}; }

size_t last_character_begin(std::string_view text, size_t end) {
  size_t at = end - 1;
  while (at > 0 && !is_first_byte(text[at])) --at;
  return at;
}

void add_part(std::vector<MarkedText>& parts, MarkedText part) {
  static const size_t most = RenderLimits{}.list_items;
  if (parts.size() >= most) raise("LimitError", "a text is cut into more than {} parts", most);
  parts.push_back(std::move(part));
}

size_t skip_space(std::string_view text, size_t at) {
  while (at < text.size()) {
    const Character character = character_at(text, at);
    if (!is_space(character.code)) break;
    at += character.length;
  }
  return at;
}

size_t skip_space_back(std::string_view text, size_t end) {
  while (end > 0) {
    const size_t at = last_character_begin(text, end);
    if (!is_space(character_at(text, at).code)) break;
    end = at;
  }
  return end;
}

}  // namespace

size_t byte_of_character(const Text& text, size_t index) {
  if (text.ascii()) return index;
  const std::string& bytes = text.marked.text();
  size_t at = 0;
  for (; at < bytes.size(); ++at) {
    if (is_first_byte(bytes[at]) && index-- == 0) break;
  }
  return at;
}

size_t character_of_byte(const Text& text, size_t byte) {
  if (text.ascii()) return byte;
  const std::string& bytes = text.marked.text();
  return static_cast<size_t>(std::count_if(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(byte), is_first_byte));
}

size_t find_bytes(std::string_view text, std::string_view needle, size_t from) {
  if (from > text.size()) return std::string_view::npos;
  if (needle.empty()) return from;
  const void* found = memmem(text.data() + from, text.size() - from, needle.data(), needle.size());
  return found == nullptr ? std::string_view::npos : static_cast<size_t>(static_cast<const char*>(found) - text.data());
}

size_t find_bytes_last(std::string_view text, std::string_view needle) {
  if (needle.size() <= 16) return text.rfind(needle);
  const size_t found = find_bytes(reversed(text), reversed(needle));
  return found == std::string_view::npos ? found : text.size() - found - needle.size();
}

MarkedText character_of(const Text& text, size_t index) {
  const size_t begin = byte_of_character(text, index);
  return text.marked.slice(begin, character_at(text.marked.text(), begin).length);
}

MarkedText text_slice(const Text& text, int64_t first, int64_t step, int64_t count) {
  if (count <= 0) return {};
  if (step == 1) {
    const size_t begin = byte_of_character(text, static_cast<size_t>(first));
    const size_t end = byte_of_character(text, static_cast<size_t>(first + count));
    return text.marked.slice(begin, end - begin);
  }
  std::vector<size_t> begins;
  const std::string& bytes = text.marked.text();
  for (size_t at = 0; at < bytes.size(); ++at) {
    if (is_first_byte(bytes[at])) begins.push_back(at);
  }
  begins.push_back(bytes.size());
  MarkedText out;
  for (int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<size_t>(first + i * step);
    out.append(std::string_view(bytes).substr(begins[at], begins[at + 1] - begins[at]), text.marked.origin_at(begins[at]));
  }
  return out;
}

MarkedText repeat(const MarkedText& text, size_t count) {
  if (text.runs().size() == 1) {
    std::string bytes;
    bytes.reserve(text.size() * count);
    for (size_t i = 0; i < count; ++i) bytes += text.text();
    return MarkedText(bytes, text.runs()[0].origin);
  }
  MarkedText out;
  for (size_t i = 0; i < count; ++i) out.append(text);
  return out;
}

MarkedText strip(const MarkedText& text, Side side, const std::string* set) {
  const std::string_view bytes = text.text();
  size_t begin = 0;
  size_t end = bytes.size();
  std::vector<char32_t> dropped;
  for (size_t at = 0; set != nullptr && at < set->size(); at += character_at(*set, at).length) dropped.push_back(character_at(*set, at).code);
  std::sort(dropped.begin(), dropped.end());
  const auto drops = [&](size_t at) {
    const char32_t code = character_at(bytes, at).code;
    return set == nullptr ? is_space(code) : std::binary_search(dropped.begin(), dropped.end(), code);
  };
  if (side != Side::right) {
    while (begin < end && drops(begin)) begin += character_at(bytes, begin).length;
  }
  if (side != Side::left) {
    while (end > begin && drops(last_character_begin(bytes, end))) end = last_character_begin(bytes, end);
  }
  return text.slice(begin, end - begin);
}

std::vector<MarkedText> split(const MarkedText& text, std::string_view separator, int64_t limit) {
  std::vector<MarkedText> out;
  const std::string_view bytes = text.text();
  size_t begin = 0;
  while (limit < 0 || static_cast<int64_t>(out.size()) < limit) {
    const size_t found = find_bytes(bytes, separator, begin);
    if (found == std::string_view::npos) break;
    add_part(out, text.slice(begin, found - begin));
    begin = found + separator.size();
  }
  add_part(out, text.slice(begin, bytes.size() - begin));
  return out;
}

std::vector<MarkedText> split_right(const MarkedText& text, std::string_view separator, int64_t limit) {
  std::vector<MarkedText> out;
  const std::string_view bytes = text.text();
  const std::string backwards = reversed(bytes);
  const std::string wanted = reversed(separator);
  size_t at = 0;  // bytes from the end
  while (limit < 0 || static_cast<int64_t>(out.size()) < limit) {
    const size_t found = find_bytes(backwards, wanted, at);
    if (found == std::string_view::npos) break;
    add_part(out, text.slice(bytes.size() - found, found - at));
    at = found + separator.size();
  }
  add_part(out, text.slice(0, bytes.size() - at));
  std::reverse(out.begin(), out.end());
  return out;
}

std::vector<MarkedText> split_space(const MarkedText& text, int64_t limit) {
  std::vector<MarkedText> out;
  const std::string_view bytes = text.text();
  size_t at = skip_space(bytes, 0);
  while (at < bytes.size()) {
    size_t end = at;
    if (limit >= 0 && static_cast<int64_t>(out.size()) >= limit) {
      end = bytes.size();  // the rest as it is, white space at its end included
    } else {
      while (end < bytes.size() && !is_space(character_at(bytes, end).code)) end += character_at(bytes, end).length;
    }
    add_part(out, text.slice(at, end - at));
    at = skip_space(bytes, end);
  }
  return out;
}

std::vector<MarkedText> split_space_right(const MarkedText& text, int64_t limit) {
  std::vector<MarkedText> out;
  const std::string_view bytes = text.text();
  size_t end = skip_space_back(bytes, bytes.size());
  while (end > 0) {
    size_t begin = end;
    if (limit >= 0 && static_cast<int64_t>(out.size()) >= limit) {
      begin = 0;
    } else {
      while (begin > 0 && !is_space(character_at(bytes, last_character_begin(bytes, begin)).code)) begin = last_character_begin(bytes, begin);
    }
    add_part(out, text.slice(begin, end - begin));
    end = skip_space_back(bytes, begin);
  }
  std::reverse(out.begin(), out.end());
  return out;
}

std::vector<MarkedText> split_lines(const MarkedText& text, bool keep_ends) {
  std::vector<MarkedText> out;
  const std::string_view bytes = text.text();
  size_t begin = 0;
  for (size_t at = 0; at < bytes.size();) {
    const Character character = character_at(bytes, at);
    const size_t line_end = at;
    at += character.length;
    if (!is_line_break(character.code)) continue;
    if (character.code == '\r' && at < bytes.size() && bytes[at] == '\n') ++at;
    add_part(out, text.slice(begin, (keep_ends ? at : line_end) - begin));
    begin = at;
  }
  if (begin < bytes.size()) add_part(out, text.slice(begin, bytes.size() - begin));
  return out;
}

MarkedText replace(const MarkedText& text, std::string_view old, const MarkedText& with, int64_t limit, Budget& budget) {
  MarkedText out;
  const std::string_view bytes = text.text();
  size_t begin = 0;  // what is not yet copied
  size_t at = 0;     // where the search goes on
  for (int64_t count = 0; limit < 0 || count < limit; ++count) {
    const size_t found = find_bytes(bytes, old, at);
    if (found == std::string_view::npos) break;
    out.append(text.slice(begin, found - begin));
    out.append(with);
    budget.text(out.size());
    budget.step(2);
    begin = found + old.size();
    at = begin;
    if (old.empty()) {
      if (found >= bytes.size()) break;
      at = found + character_at(bytes, found).length;
    }
  }
  out.append(text.slice(begin, bytes.size() - begin));
  return out;
}

MarkedText map_characters(const MarkedText& text, const std::function<std::string(const std::string& bytes, size_t at)>& map) {
  const std::string& bytes = text.text();
  std::string mapped;
  MarkedText out;
  size_t at = 0;
  for (const MarkedText::Run& run : text.runs()) {
    mapped.clear();
    while (at < run.end) {
      mapped += map(bytes, at);
      at += character_at(bytes, at).length;
    }
    out.append(mapped, run.origin);
  }
  return out;
}

MarkedText upper(const MarkedText& text) {
  return map_characters(text, [](const std::string& bytes, size_t at) { return upper_of(character_at(bytes, at).code); });
}

MarkedText lower(const MarkedText& text) {
  return map_characters(text, [](const std::string& bytes, size_t at) { return lower_at(bytes, at); });
}

MarkedText capitalize(const MarkedText& text) {
  return map_characters(text,
                        [](const std::string& bytes, size_t at) { return at == 0 ? title_of(character_at(bytes, at).code) : lower_at(bytes, at); });
}

MarkedText swap_case(const MarkedText& text) {
  return map_characters(text, [](const std::string& bytes, size_t at) {
    const Character character = character_at(bytes, at);
    if (is_upper(character.code)) return lower_at(bytes, at);
    return is_lower(character.code) ? upper_of(character.code) : bytes.substr(at, character.length);
  });
}

MarkedText title(const MarkedText& text) {
  bool cased_before = false;
  return map_characters(text, [&](const std::string& bytes, size_t at) {
    const char32_t code = character_at(bytes, at).code;
    std::string out = cased_before ? lower_at(bytes, at) : title_of(code);
    cased_before = is_cased(code);
    return out;
  });
}

MarkedText padding(size_t count, std::string_view fill) { return repeat(MarkedText(fill, Origin::from_data), count); }

Value escape_markup(const Value& value, Budget& budget) {
  if (value.is_text() && value.as_text().markup) return value;
  const MarkedText escaped = map_characters(str(value, budget), [](const std::string& bytes, size_t at) -> std::string {
    switch (bytes[at]) {
      case '&':
        return "&amp;";
      case '<':
        return "&lt;";
      case '>':
        return "&gt;";
      case '\'':
        return "&#39;";
      case '"':
        return "&#34;";
      default:
        return bytes.substr(at, character_at(bytes, at).length);
    }
  });
  return Value::text(escaped, true);
}

Value joined_markup(const Value& left, const Value& right, Budget& budget) {
  budget.visit(left.bytes().size() + right.bytes().size());
  MarkedText text = escape_markup(left, budget).marked();
  text.append(escape_markup(right, budget).marked());
  return Value::text(std::move(text), true);
}

}  // namespace lagoon::jinja
