#include "checkpoint/edit_distance.h"

#include <algorithm>
#include <array>

namespace lagoon {

std::vector<size_t> edit_distances(std::string_view typed, std::string_view name) {
  std::array<std::vector<size_t>, 3> rows;  // two back, one back, now
  for (std::vector<size_t>& row : rows) row.resize(name.size() + 1);
  for (size_t at = 0; at <= name.size(); ++at) rows[2][at] = at;
  for (size_t i = 1; i <= typed.size(); ++i) {
    std::rotate(rows.begin(), rows.begin() + 1, rows.end());
    std::vector<size_t>& now = rows[2];
    now[0] = i;
    for (size_t j = 1; j <= name.size(); ++j) {
      const bool same = typed[i - 1] == name[j - 1];
      now[j] = std::min({rows[1][j] + 1, now[j - 1] + 1, rows[1][j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && typed[i - 1] == name[j - 2] && typed[i - 2] == name[j - 1];
      if (swapped) now[j] = std::min(now[j], rows[0][j - 2] + 1);
    }
  }
  return rows[2];
}

}  // namespace lagoon
