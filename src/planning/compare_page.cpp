#include "planning/compare_page.h"

#include "base/embedded_file.h"
#include "base/error.h"

#include <span>
#include <string_view>

namespace lagoon {

std::span<const EmbeddedFile> page_files();  // web/*

namespace {

constexpr std::string_view page_name = "compare.html";

/// All files with this ending, in the order of their names.
std::string joined_files(std::string_view ending) {
  std::string text;
  for (const EmbeddedFile& file : page_files()) {
    if (file.name.ends_with(ending)) text += file.text;
  }
  return text;
}

std::string_view page_template() {
  for (const EmbeddedFile& file : page_files()) {
    if (file.name == page_name) return file.text;
  }
  fail(ErrorKind::bug, "web/{}: this program was built without it", page_name);
}

}  // namespace

std::string script_json(const Json& data) {
  std::string text;
  for (const char c : data.dump(-1, ' ', false, Json::error_handler_t::replace)) {
    if (c == '<') {
      text += "\\u003c";  // in JSON it stands in strings only
    } else {
      text += c;
    }
  }
  return text;
}

std::string compare_page(const std::vector<ComparedModel>& models, const std::string& generator) {
  // In one pass: what was put in is not looked at again, whatever braces a name holds.
  std::string page;
  std::string_view rest = page_template();
  for (size_t open = rest.find("{{"); open != std::string_view::npos; open = rest.find("{{")) {
    const size_t close = rest.find("}}", open);
    require(close != std::string_view::npos, "every {{ of the page's template has its }}");
    const std::string_view name = rest.substr(open + 2, close - open - 2);
    page += rest.substr(0, open);
    if (name == "style") {
      page += joined_files(".css");
    } else if (name == "script") {
      page += joined_files(".js");
    } else {
      require(name == "data", "the page's template asks for style, script and data");
      page += script_json(comparison_json(models, generator));
    }
    rest.remove_prefix(close + 2);
  }
  return page.append(rest);
}

}  // namespace lagoon
