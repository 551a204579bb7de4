// table.h: rows of short texts as a table: aligned for a terminal, Markdown, or comma-separated values.
#pragma once

#include <string>
#include <vector>

namespace lagoon {

enum class TableForm { aligned, markdown, csv };

struct Table {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;  // each as long as the header

  /// Columns of numbers stand to the right, columns of text to the left. Ends with a newline.
  std::string format(TableForm form) const;
};

}  // namespace lagoon
