// string_literal.h: the escapes of a string literal, as Python's unicode-escape reads them.
#pragma once

#include <string>
#include <string_view>

namespace lagoon::jinja {

/// The value of what stands between the quotes. Unknown escapes stay as they are. On failure `error` says what is wrong.
std::string unescape_literal(std::string_view literal, std::string& error);

}  // namespace lagoon::jinja
