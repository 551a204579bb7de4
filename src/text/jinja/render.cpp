#include "text/jinja/render.h"

#include "text/jinja/parser.h"

namespace lagoon::jinja {

std::shared_ptr<const Template> compile(std::string_view source, const std::string& name) {
  try {
    return parse_template(source, name);
  } catch (const Raised& raised) {
    throw to_template_error(raised);
  }
}

MarkedText render(const Template& tree, const Value& context, const RenderLimits& limits, const Loader& loader) {
  if (!context.is_dict()) fail(ErrorKind::invalid, "{}: the context must be an object, not {}", tree.name, type_name(context));
  for (const auto& entry : context.as_dict().entries()) {
    if (!entry.first.is_text()) fail(ErrorKind::invalid, "{}: the names of a context must be strings", tree.name);
  }
  try {
    Interpreter interpreter(limits, loader);
    return interpreter.render(tree, context.as_dict());
  } catch (const Raised& raised) {
    throw to_template_error(raised);
  }
}

MarkedText render_template(std::string_view source, const std::string& name, const Value& context, const RenderLimits& limits) {
  return render(*compile(source, name), context, limits);
}

}  // namespace lagoon::jinja
