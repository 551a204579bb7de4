// number_format.h: numbers as text by a format: the common part of `%` and of str.format.
#pragma once

#include "text/jinja/limits.h"
#include "text/jinja/value.h"

#include <string>
#include <string_view>

namespace lagoon::jinja {

/// [[fill]align][sign][#][0][width][grouping][.precision][type]
struct FormatSpec {
  std::string fill = " ";
  char align = '\0';  // < > ^ = or none
  char sign = '-';    // + - or space
  bool alternate = false;
  size_t width = 0;
  char grouping = '\0';  // , or _
  int precision = -1;    // -1: not given
  char type = '\0';
};

/// @throws Raised (ValueError) for what is no format, (LimitError) for a width or precision past the limits
FormatSpec parse_format_spec(std::string_view text, Budget& budget);

/// The digits of |value| with a sign as `spec.sign` says, without padding. Types: b o x X d c n, none means d.
std::string format_integer(const mpz_class& value, const FormatSpec& spec);
/// The same for a real. Types: e E f F g G % n, none means as repr.
std::string format_real(double value, const FormatSpec& spec);

/// Pads to the width: `=` puts the fill behind the sign. The padding is data.
MarkedText pad(const MarkedText& text, const FormatSpec& spec, char default_align);

/// The highest width and precision that a format may ask for in digits of a real number.
constexpr int precision_limit = 10000;

}  // namespace lagoon::jinja
