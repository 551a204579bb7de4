#include "benchmark/table.h"

#include "base/error.h"

#include <algorithm>
#include <string_view>

namespace lagoon {
namespace {

/// Quoted as RFC 4180 says, where it must be.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::string join(const std::vector<std::string>& cells, const std::string& before, const std::string& between, const std::string& after) {
  std::string line = before;
  for (size_t at = 0; at < cells.size(); ++at) line += (at > 0 ? between : "") + cells[at];
  return line + after + "\n";
}

/// Whether a column is to be read as text: some cell begins with neither a digit nor what stands for a number.
bool is_text(const std::vector<std::vector<std::string>>& rows, size_t column) {
  return std::any_of(rows.begin(), rows.end(), [column](const std::vector<std::string>& row) {
    const std::string& cell = row[column];
    return !cell.empty() && std::string_view("0123456789+-. (<>=~").find(cell.front()) == std::string_view::npos;
  });
}

/// What stands for itself inside a cell of the form.
std::string cell_of(const std::string& text, TableForm form) {
  if (form == TableForm::csv) return csv_field(text);
  if (form == TableForm::aligned) return text;
  std::string cell;
  for (const char c : text) {
    if (c == '|') cell += '\\';
    cell += c;
  }
  return cell;
}

/// Padded to its column's width; nothing is added behind the last column.
std::string padded(const std::string& cell, size_t width, bool text, bool last) {
  const std::string spaces(width - std::min(width, cell.size()), ' ');
  if (!text) return spaces + cell;
  return last ? cell : cell + spaces;
}

}  // namespace

std::string Table::format(TableForm form) const {
  std::vector<std::vector<std::string>> lines = {header};
  lines.insert(lines.end(), rows.begin(), rows.end());
  std::vector<size_t> widths(header.size(), 0);
  for (std::vector<std::string>& line : lines) {
    require(line.size() == header.size(), "a table's rows are as long as its header");
    for (size_t at = 0; at < line.size(); ++at) {
      line[at] = cell_of(line[at], form);
      widths[at] = std::max(widths[at], line[at].size());
    }
  }
  std::string text;
  for (size_t number = 0; number < lines.size(); ++number) {
    std::vector<std::string>& line = lines[number];
    for (size_t at = 0; form != TableForm::csv && at < line.size(); ++at)
      line[at] = padded(line[at], widths[at], is_text(rows, at), form == TableForm::aligned && at + 1 == line.size());
    if (form == TableForm::csv) text += join(line, "", ",", "");
    if (form == TableForm::markdown) text += join(line, "| ", " | ", " |");
    if (form == TableForm::aligned) text += join(line, "", "  ", "");
    if (form != TableForm::markdown || number > 0) continue;
    text += "|";
    for (size_t at = 0; at < widths.size(); ++at) text += std::string(widths[at] + 1, '-') + (is_text(rows, at) ? "-|" : ":|");
    text += "\n";
  }
  return text;
}

}  // namespace lagoon
