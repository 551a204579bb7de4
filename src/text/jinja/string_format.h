// string_format.h: Python's str.format: "{}", "{0}", "{name.attribute[item]!r:>5}".
#pragma once

#include "text/jinja/limits.h"
#include "text/jinja/objects.h"

namespace lagoon::jinja {

/// The literal parts keep their origin, as do strings that are put in; all else is data.
/// @throws Raised (ValueError, IndexError, KeyError, TypeError, LimitError)
MarkedText string_format(const MarkedText& format, const Arguments& arguments, Budget& budget);

}  // namespace lagoon::jinja
