// resolver.h: decides, before a template runs, which slot each name means, and refuses what Jinja2 refuses when it compiles.
//
// The rules are Jinja2's (idtracking.py): a scope owns the names that are assigned in it and those that no scope around it
// knows. `if` opens no scope. So a name that a scope assigns anywhere means that scope's slot everywhere in the scopes
// inside: {% for x in l %}{{ n }}{% endfor %}{% set n = 1 %} prints nothing, even where the context has an `n`.
#pragma once

#include "text/jinja/ast.h"

namespace lagoon::jinja {

/// Fills the slots and layouts of a parsed template. @throws Raised (TemplateAssertionError, SyntaxError) with the place
void resolve(Template& tree);

}  // namespace lagoon::jinja
