// json_lines.h: one JSON object a line in, one out. A line that fails does not stop the others.
#pragma once

#include "text/jinja/value.h"

#include <functional>
#include <string>

namespace lagoon {

/// Reads `name` (a file, or "-") by newlines and prints answer(object) for each line that is not blank; where it throws an
/// Error, prints {"error": ...} instead. @return 0, or 2 if a line failed
/// @param shows_progress  while it works, on standard error
int answer_json_lines(const std::string& name, bool shows_progress, const std::function<std::string(const jinja::Value& object)>& answer);

/// The value of a key of the line's object. @throws Error(invalid) if it is absent
const jinja::Value& field_of(const jinja::Value& object, std::string_view key);

/// The same as text. @throws Error(invalid)
const std::string& text_field_of(const jinja::Value& object, std::string_view key);

/// The same as token ids. @throws Error(invalid)
std::vector<int32_t> ids_field_of(const jinja::Value& object, std::string_view key);

}  // namespace lagoon
