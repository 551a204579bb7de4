// template_error.h: how a template fails. Inside the interpreter a failure is a Raised, without a name and perhaps without
// a place; the border of the interpreter turns it into a TemplateError, an Error whose sentence begins with the place.
#pragma once

#include "base/error.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace lagoon::jinja {

/// A failure of a template, told apart from every other Error.
class TemplateError : public Error {
 public:
  TemplateError(ErrorKind kind, const std::string& sentence, std::string error_class, std::string message, size_t line, size_t column)
      : Error(kind, sentence), error_class_(std::move(error_class)), message_(std::move(message)), line_(line), column_(column) {}

  /// The class that Jinja2 under Python raises: TemplateSyntaxError, UndefinedError, TypeError, ...; "TemplateError" is the
  /// template's own raise_exception, "LimitError" a limit of limits.h.
  const std::string& error_class() const { return error_class_; }
  /// The text without the place; for raise_exception exactly what the template said.
  const std::string& message() const { return message_; }
  size_t line() const { return line_; }      // from 1
  size_t column() const { return column_; }  // from 1, in characters

 private:
  std::string error_class_;
  std::string message_;
  size_t line_;
  size_t column_;
};

/// Where in which template; line 0 while unknown.
struct Place {
  std::string template_name;
  size_t line = 0;
  size_t column = 0;
};

/// Travels inside the interpreter only.
struct Raised {
  std::string error_class;
  std::string message;
  Place place;
};

/// Throws Raised with the formatted message.
template <typename... Args>
[[noreturn]] void raise(const char* error_class, fmt::format_string<Args...> format, Args&&... args) {
  throw Raised{error_class, fmt::format(format, std::forward<Args>(args)...), {}};
}

/// The TemplateError that `raised` becomes for the caller.
TemplateError to_template_error(const Raised& raised);

/// The place of byte `offset` of `source`.
Place place_of(const std::string& template_name, std::string_view source, size_t offset);

}  // namespace lagoon::jinja
