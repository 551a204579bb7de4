#include "text/jinja/number_format.h"

#include "text/jinja/python_repr.h"
#include "text/jinja/template_error.h"
#include "text/jinja/text_operations.h"
#include "text/jinja/unicode.h"

#include <cmath>
#include <cstdio>

namespace lagoon::jinja {
namespace {

bool is_align(char byte) { return byte == '<' || byte == '>' || byte == '^' || byte == '='; }

std::string grouped(const std::string& digits, char separator, size_t group) {
  std::string out;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % group == 0) out += separator;
    out += digits[i];
  }
  return out;
}

std::string sign_of(bool negative, char sign) {
  if (negative) return "-";
  return sign == '-' ? std::string() : std::string(1, sign);
}

std::string print_real(double value, char type, int precision, bool alternate) {
  char format[8] = {'%', '.', '*', type, '\0'};
  if (alternate) std::snprintf(format, sizeof(format), "%%#.*%c", type);
  const int size = std::snprintf(nullptr, 0, format, precision, value);  // NOLINT(clang-diagnostic-format-nonliteral)
  std::string out(static_cast<size_t>(size) + 1, '\0');
  std::snprintf(out.data(), out.size(), format, precision, value);  // NOLINT(clang-diagnostic-format-nonliteral)
  out.pop_back();
  return out;
}

/// |value| without type: the shortest digits, or `precision` of them, always with a point or an exponent.
std::string print_plain(double value, int precision) {
  if (precision < 0) return repr_of_real(value);
  std::string out = print_real(value, 'g', precision == 0 ? 1 : precision, false);
  if (out.find_first_of(".en") == std::string::npos) out += ".0";
  return out;
}

size_t parse_number(std::string_view text, size_t& at) {
  size_t value = 0;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
    value = std::min<size_t>(value * 10 + static_cast<size_t>(text[at] - '0'), SIZE_MAX / 20);
  }
  return value;
}

}  // namespace

FormatSpec parse_format_spec(std::string_view text, Budget& budget) {
  FormatSpec spec;
  size_t at = 0;
  const auto byte = [&](size_t where) { return where < text.size() ? text[where] : '\0'; };
  const size_t fill = text.empty() ? 0 : character_at(text, 0).length;
  if (is_align(byte(fill))) {
    spec.fill = std::string(text.substr(0, fill));
    spec.align = byte(fill);
    at = fill + 1;
  } else if (is_align(byte(0))) {
    spec.align = byte(at++);
  }
  if (byte(at) == '+' || byte(at) == '-' || byte(at) == ' ') spec.sign = byte(at++);
  if (byte(at) == '#') spec.alternate = true, ++at;
  if (byte(at) == '0') {
    ++at;
    if (spec.align == '\0') spec.fill = "0", spec.align = '=';
  }
  spec.width = parse_number(text, at);
  budget.text(spec.width);
  if (byte(at) == ',' || byte(at) == '_') spec.grouping = byte(at++);
  if (byte(at) == '.') {
    const size_t first = ++at;
    const size_t precision = parse_number(text, at);
    if (at == first) raise("ValueError", "Format specifier missing precision");
    budget.text(precision);
    spec.precision = static_cast<int>(std::min<size_t>(precision, INT32_MAX));
  }
  if (at < text.size()) spec.type = text[at++];
  if (at < text.size()) raise("ValueError", "Invalid format specifier");
  return spec;
}

std::string format_integer(const mpz_class& value, const FormatSpec& spec) {
  const mpz_class magnitude = abs(value);
  std::string digits;
  std::string prefix;
  size_t group = 4;
  switch (spec.type) {
    case 'b':
      digits = magnitude.get_str(2), prefix = "0b";
      break;
    case 'o':
      digits = magnitude.get_str(8), prefix = "0o";
      break;
    case 'x':
      digits = magnitude.get_str(16), prefix = "0x";
      break;
    case 'X':
      digits = magnitude.get_str(-16), prefix = "0X";
      break;
    default:
      digits = magnitude.get_str(), group = 3;
      break;
  }
  if (spec.grouping != '\0') digits = grouped(digits, spec.grouping, group);
  return sign_of(value < 0, spec.sign) + (spec.alternate ? prefix : "") + digits;
}

std::string format_real(double value, const FormatSpec& spec) {
  if (spec.precision > precision_limit) raise("LimitError", "a precision of {} is above the limit of {}", spec.precision, precision_limit);
  const bool percent = spec.type == '%';
  const double magnitude = std::fabs(value) * (percent ? 100 : 1);
  const bool negative = std::signbit(value) && !std::isnan(value);
  const char type = percent ? 'f' : spec.type == 'n' ? 'g' : spec.type;
  const int precision = spec.precision < 0 ? 6 : spec.precision;
  std::string digits = type == '\0' ? print_plain(magnitude, spec.precision) : print_real(magnitude, type, precision, spec.alternate);
  if (spec.grouping != '\0' && std::isfinite(value)) {
    const size_t whole = std::min(digits.find_first_of(".e"), digits.size());
    digits = grouped(digits.substr(0, whole), spec.grouping, 3) + digits.substr(whole);
  }
  return sign_of(negative, spec.sign) + digits + (percent ? "%" : "");
}

MarkedText pad(const MarkedText& text, const FormatSpec& spec, char default_align) {
  const Value measured = Value::text(text);
  const size_t characters = measured.as_text().characters;
  if (characters >= spec.width) return text;
  const size_t missing = spec.width - characters;
  const char align = spec.align == '\0' ? default_align : spec.align;
  size_t before = align == '>' ? missing : align == '^' ? missing / 2 : 0;
  MarkedText out;
  if (align == '=') {
    const std::string& bytes = text.text();
    size_t sign = !bytes.empty() && (bytes[0] == '-' || bytes[0] == '+' || bytes[0] == ' ') ? 1 : 0;
    if (bytes.size() > sign + 1 && bytes[sign] == '0' && std::isalpha(static_cast<unsigned char>(bytes[sign + 1])) != 0) sign += 2;
    out = text.slice(0, sign);
    out.append(padding(missing, spec.fill));
    out.append(text.slice(sign, text.size() - sign));
    return out;
  }
  out = padding(before, spec.fill);
  out.append(text);
  out.append(padding(missing - before, spec.fill));
  return out;
}

}  // namespace lagoon::jinja
