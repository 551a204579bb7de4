#include "benchmark/table.h"

#include "base/error.h"

#include <algorithm>

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

}  // namespace

std::string Table::format(TableForm form) const {
  std::vector<size_t> widths;
  for (const std::string& cell : header) widths.push_back(cell.size());
  for (const std::vector<std::string>& row : rows) {
    require(row.size() == header.size(), "a table's rows are as long as its header");
    for (size_t at = 0; at < row.size(); ++at) widths[at] = std::max(widths[at], row[at].size());
  }
  const auto line = [&](std::vector<std::string> cells) {
    for (size_t at = 0; at < cells.size(); ++at) {
      if (form == TableForm::csv) {
        cells[at] = csv_field(cells[at]);
      } else {
        cells[at].insert(0, widths[at] - cells[at].size(), ' ');
      }
    }
    if (form == TableForm::csv) return join(cells, "", ",", "");
    if (form == TableForm::markdown) return join(cells, "| ", " | ", " |");
    return join(cells, "", "  ", "");
  };
  std::string text = line(header);
  if (form == TableForm::markdown) {
    text += "|";
    for (const size_t width : widths) text += std::string(width + 1, '-') + ":|";
    text += "\n";
  }
  for (const std::vector<std::string>& row : rows) text += line(row);
  return text;
}

}  // namespace lagoon
