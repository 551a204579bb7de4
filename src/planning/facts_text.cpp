#include "planning/facts_text.h"

#include "base/byte_size.h"
#include "base/utf8.h"
#include "planning/facts_counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lagoon {
namespace {

constexpr size_t line_width = 100;
constexpr size_t note_indent = 4;

/// Columns that a text takes, if each character takes one.
size_t width_of(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

/// Bytes of the first `width` characters.
size_t bytes_of(std::string_view text, size_t width) {
  size_t at = 0;
  for (size_t taken = 0; taken < width && at < text.size(); ++taken) at += std::max<size_t>(1, valid_utf8_length(text.substr(at)));
  return std::min(at, text.size());
}

/// Lines of at most `width` characters, broken at blanks, in long words behind a slash, else anywhere.
std::vector<std::string> wrap(std::string_view text, size_t width) {
  std::vector<std::string> lines;
  while (width_of(text) > width) {
    const size_t most = bytes_of(text, width);
    size_t cut = text.find_last_of(' ', most);
    if (cut == std::string_view::npos || cut == 0) {
      const size_t slash = text.find_last_of('/', most - 1);
      cut = slash == std::string_view::npos || slash == 0 ? most : slash;
    }
    lines.emplace_back(text.substr(0, cut));
    text.remove_prefix(cut);
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  }
  if (!text.empty() || lines.empty()) lines.emplace_back(text);
  return lines;
}

std::string number_text(const Json& value) {
  if (value.is_number_integer() && value.get<int64_t>() >= 0) return format_count(value.get<uint64_t>());
  return fmt::format("{:.6g}", value.get<double>());
}

std::string parameters_text(const Fact& fact) {
  std::string number = number_text(fact.value);
  const std::string brief = short_count(fact.value.get<double>());
  if (fact.value.get<double>() < 1e6) return number;
  // A stated figure is as coarse as its short form.
  return fact.source.kind == "published" ? brief : number + " (" + brief + ")";
}

std::string indented(std::string_view text, size_t indent) {
  std::string lines;
  for (const std::string& line : wrap(text, line_width - indent)) lines += std::string(indent, ' ') + line + "\n";
  return lines;
}

}  // namespace

std::string exact_text(const Json& number) {
  if (number.is_number_integer()) return format_count(number.get<uint64_t>());
  const auto hundredths = static_cast<uint64_t>(std::llround(number.get<double>() * 100.0));
  return fmt::format("{}.{:02}", format_count(hundredths / 100), hundredths % 100);
}

std::string shown_value(const Fact& fact) {
  if (fact.value.is_null()) return fact.source.kind == "not disclosed" ? "Not disclosed" : "-";
  if (fact.value.is_boolean()) return fact.value.get<bool>() ? "yes" : "no";
  if (!fact.value.is_number()) return fact.value.get<std::string>();
  if (fact.unit == "parameters") return parameters_text(fact);
  if (fact.unit == "bytes") return exact_text(fact.value) + " bytes (" + format_gib(static_cast<uint64_t>(fact.value.get<double>())) + ")";
  if (fact.unit == "bytes per token") return exact_text(fact.value) + " bytes";
  return number_text(fact.value) + (fact.unit.empty() ? "" : " " + fact.unit);
}

std::string shown_source(const Fact& fact) {
  const FactSource& source = fact.source;
  if (source.kind == "config") return "config " + source.place;
  if (source.kind == "calc" && !source.excerpt.empty()) return "calc: " + source.excerpt;
  return source.place.empty() ? source.kind == "not disclosed" ? "" : source.kind : source.kind + ": " + source.place;
}

std::string wrapped_cells(std::string_view mark, const std::vector<std::string>& cells, const std::vector<size_t>& widths) {
  std::vector<std::vector<std::string>> columns;
  size_t height = 0;
  for (size_t at = 0; at < cells.size(); ++at) {
    columns.push_back(wrap(cells[at], widths[at]));
    height = std::max(height, columns.back().size());
  }
  std::string text;
  for (size_t row = 0; row < height; ++row) {
    std::string line = row == 0 ? std::string(mark) : std::string(mark.size(), ' ');
    for (size_t at = 0; at < columns.size(); ++at) {
      const std::string cell = row < columns[at].size() ? columns[at][row] : "";
      line += (at > 0 ? "  " : "") + cell + std::string(widths[at] - std::min(width_of(cell), widths[at]), ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string facts_table(std::span<const Fact> facts, bool definitions) {
  const std::vector<size_t> widths{29, 31, 34};
  std::string text;
  std::string group;
  for (const Fact& fact : facts) {
    if (fact.group != group) text += (text.empty() ? "" : "\n") + fact.group + "\n";
    group = fact.group;
    text += wrapped_cells("  ", {fact.label, shown_value(fact), shown_source(fact)}, widths);
    if (!fact.note.empty()) text += indented("note: " + fact.note, note_indent);
    if (definitions && !fact.definition.empty()) text += indented("counts: " + fact.definition, note_indent);
  }
  return text;
}

std::string facts_markdown(std::span<const Fact> facts, bool definitions) {
  std::string text;
  std::string group;
  for (const Fact& fact : facts) {
    if (fact.group != group) {
      text += (text.empty() ? "" : "\n") + std::string("## ") + escape_markdown(fact.group) + "\n\n| fact | key | value | source | note |";
      text += definitions ? " definition |\n|---|---|---|---|---|---|\n" : "\n|---|---|---|---|---|\n";
    }
    group = fact.group;
    text += fmt::format("| {} | `{}` | {} | {} | {} |", escape_markdown(fact.label), fact.key, escape_markdown(shown_value(fact)),
                        escape_markdown(shown_source(fact)), escape_markdown(fact.note));
    text += definitions ? " " + escape_markdown(fact.definition) + " |\n" : "\n";
  }
  return text;
}

std::string escape_markdown(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 32 || byte == 127) {
      escaped += ' ';
    } else if (c == '<') {
      escaped += "&lt;";
    } else if (c == '>') {
      escaped += "&gt;";
    } else if (c == '&') {
      escaped += "&amp;";
    } else {
      if (std::string_view("\\`*_[]|~").find(c) != std::string_view::npos) escaped += '\\';
      escaped += c;
    }
  }
  return replace_invalid_utf8(escaped);
}

}  // namespace lagoon
