// parser.h: from a template's source to its tree.
#pragma once

#include "text/jinja/ast.h"

#include <memory>
#include <string>
#include <string_view>

namespace lagoon::jinja {

/// Parses and resolves a template. What is raised carries its place.
/// @param name  how messages call the template
/// @throws Raised (TemplateSyntaxError, TemplateAssertionError, SyntaxError)
std::shared_ptr<const Template> parse_template(std::string_view source, std::string name);

}  // namespace lagoon::jinja
