// filters.h: the filters of the template language, by name: Jinja2's own, with transformers' `tojson`.
#pragma once

#include "text/jinja/objects.h"

#include <string_view>
#include <vector>

namespace lagoon::jinja {

/// A filter gets its operand as the first argument.
using Filter = Value (*)(Interpreter&, Arguments&);

struct FilterRow {
  std::string_view name;
  Filter filter;
};

/// The rows of each file of filters.
std::vector<FilterRow> text_filters();
std::vector<FilterRow> value_filters();
std::vector<FilterRow> sequence_filters();
std::vector<FilterRow> selection_filters();
std::vector<FilterRow> markup_filters();

/// Null where there is none.
Filter find_filter(std::string_view name);
bool filter_exists(std::string_view name);

}  // namespace lagoon::jinja
