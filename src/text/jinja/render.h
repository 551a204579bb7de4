// render.h: the border of the interpreter: from a source, or a template parsed before, and a context to the rendered text.
#pragma once

#include "text/jinja/interpreter.h"
#include "text/jinja/limits.h"
#include "text/jinja/template_error.h"
#include "text/jinja/value.h"
#include "text/marked_text.h"

#include <memory>
#include <string>
#include <string_view>

namespace lagoon::jinja {

/// Parses a template. @param name  begins the sentence of an error, such as "chat_template.jinja"
/// @throws TemplateError
std::shared_ptr<const Template> compile(std::string_view source, const std::string& name);

/// Renders a parsed template; thread-safe. @param context  a mapping with string keys
/// @param loader  gives what the template includes; without one an include is an error
/// @throws TemplateError, and Error from the loader; Error(invalid) where the context is no such mapping
MarkedText render(const Template& tree, const Value& context, const RenderLimits& limits = {}, const Loader& loader = {});

/// Both in one: any template with any context, in the environment that chat templates have (tojson, raise_exception,
/// loop controls, trim_blocks, lstrip_blocks, a sandbox without side effects).
MarkedText render_template(std::string_view source, const std::string& name, const Value& context, const RenderLimits& limits = {});

}  // namespace lagoon::jinja
