#include "text/jinja/template_error.h"

#include "text/jinja/limits.h"

#include <algorithm>

namespace lagoon::jinja {

constexpr size_t foreign_text_limit = 300;  // bytes of a message, which may hold anything the template or the data say

TemplateError to_template_error(const Raised& raised) {
  const bool syntax =
      raised.error_class == "TemplateSyntaxError" || raised.error_class == "TemplateAssertionError" || raised.error_class == "SyntaxError";
  const bool own_words = raised.error_class == "TemplateError";
  std::string sentence = raised.place.template_name;
  if (raised.place.line > 0) sentence += fmt::format(", line {}, column {}", raised.place.line, raised.place.column);
  sentence += own_words ? ": the template refuses: " : ": " + raised.error_class + ": ";
  sentence += printable(raised.message, foreign_text_limit);
  return TemplateError(syntax ? ErrorKind::corrupt : ErrorKind::invalid, sentence, raised.error_class, raised.message, raised.place.line,
                       raised.place.column);
}

Place place_of(const std::string& template_name, std::string_view source, size_t offset) {
  const std::string_view before = source.substr(0, std::min(offset, source.size()));
  const size_t line_begin = before.rfind('\n') + 1;  // npos + 1 is 0
  const auto is_first_byte = [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; };
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const auto characters = std::count_if(before.begin() + static_cast<std::ptrdiff_t>(line_begin), before.end(), is_first_byte);
  return {template_name, static_cast<size_t>(lines) + 1, static_cast<size_t>(characters) + 1};
}

void Budget::refuse_steps() const { raise("LimitError", "the template takes more than {} steps", limits_.steps); }
void Budget::refuse_text(size_t bytes) const {
  raise("LimitError", "a text of {} bytes is longer than the limit of {}", bytes, limits_.output_bytes);
}
void Budget::refuse_list(size_t items) const { raise("LimitError", "a list of {} items is longer than the limit of {}", items, limits_.list_items); }
void Budget::refuse_integer() const { raise("LimitError", "an integer is longer than the limit of {} bits", limits_.integer_bits); }
void Budget::refuse_produced() const { raise("LimitError", "the values that the template makes take more than {} bytes", limits_.produced_bytes); }

}  // namespace lagoon::jinja
