// tests.h: what may follow `is` in a template: Jinja2's tests, by name.
#pragma once

#include "text/jinja/objects.h"

#include <string_view>

namespace lagoon::jinja {

/// A test gets its operand as the first argument.
using Test = bool (*)(Interpreter&, Arguments&);

/// Null where there is none.
Test find_test(std::string_view name);
bool test_exists(std::string_view name);

}  // namespace lagoon::jinja
