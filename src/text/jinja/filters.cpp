#include "text/jinja/filters.h"

#include <map>

namespace lagoon::jinja {
namespace {

std::map<std::string_view, Filter> all_filters() {
  std::map<std::string_view, Filter> filters;
  for (const auto& rows : {text_filters(), value_filters(), sequence_filters(), selection_filters(), markup_filters()}) {
    for (const FilterRow& row : rows) filters[row.name] = row.filter;
  }
  return filters;
}

}  // namespace

Filter find_filter(std::string_view name) {
  static const std::map<std::string_view, Filter> filters = all_filters();
  const auto found = filters.find(name);
  return found == filters.end() ? nullptr : found->second;
}

bool filter_exists(std::string_view name) { return find_filter(name) != nullptr; }

}  // namespace lagoon::jinja
