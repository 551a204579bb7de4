// compare_page.h: the comparison as one page for a browser, which needs nothing else: the files of web/ with the data inside.
#pragma once

#include "planning/compare.h"

#include <string>
#include <vector>

namespace lagoon {

/// @param generator  "lagoon 0.1.0", which the page says of itself
std::string compare_page(const std::vector<ComparedModel>& models, const std::string& generator);

/// JSON that may stand inside a <script> element.
std::string script_json(const Json& data);

}  // namespace lagoon
