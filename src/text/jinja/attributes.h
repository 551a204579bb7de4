// attributes.h: object.name and object[item], as Jinja2's immutable sandbox gives them.
#pragma once

#include "text/jinja/objects.h"

#include <string>
#include <string_view>

namespace lagoon::jinja {

/// `object.name`: an attribute or method first, then the item of that name, else undefined.
/// @throws Raised (UndefinedError) where `object` itself is undefined
Value get_attribute(const Value& object, const std::string& name);

/// `object[item]`: the item first, then, for a string, the attribute of that name, else undefined.
Value get_item(const Value& object, const Value& item);

/// A method of a built-in type, called with the value that it belongs to.
using Method = Value (*)(Interpreter&, const Value& self, Arguments&);
struct MethodRow {
  std::string_view name;
  Method method;
};

/// The rows of each file of methods. Null where there is none of that name.
Method find_text_method(std::string_view name);       // text_methods.cpp
Method find_text_form_method(std::string_view name);  // text_form_methods.cpp
Method find_container_method(const Value& self, std::string_view name);
Method find_number_method(const Value& self, std::string_view name);

}  // namespace lagoon::jinja
