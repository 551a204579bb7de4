// percent_format.h: Python's `text % values`.
#pragma once

#include "text/jinja/limits.h"
#include "text/jinja/value.h"

namespace lagoon::jinja {

/// The literal parts keep their origin, as do strings that %s puts in; all else is data.
/// @throws Raised (TypeError, ValueError, KeyError, LimitError)
MarkedText percent_format(const MarkedText& format, const Value& values, Budget& budget);

}  // namespace lagoon::jinja
