// globals.h: the names that every template knows: range, dict, namespace, raise_exception, strftime_now, cycler, joiner, lipsum.
#pragma once

#include "text/jinja/interpreter.h"

namespace lagoon::jinja {

void add_globals(Context& context);

/// The variable `self`: its members call the blocks of `tree`.
Value make_self(const Template& tree, Context* context);

}  // namespace lagoon::jinja
