#include "commands/facts_options.h"

#include "base/error.h"
#include "commands/option_checks.h"
#include "commands/output.h"
#include "machine/file.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <span>

namespace lagoon {

void add_kv_flags(CLI::App& parser, KvFlags& flags) {
  parser
      .add_option("--context", flags.context,
                  "tokens of the KV cache, such as 131072, 128k or 1M (128k, or the checkpoint's context if that is less)")
      ->check(not_empty())
      ->type_name("TOKENS");
  one_of(parser.add_option("--kv", flags.storage, "storage of the KV cache"), {"bf16", "fp8", "q8", "q4"})->capture_default_str();
}

KvRequest kv_request_of(const KvFlags& flags) {
  KvRequest request;
  if (!flags.context.empty()) request.context = parse_context(flags.context, "--context");
  const auto storage = kv_storage_named(flags.storage);
  if (!storage) fail(ErrorKind::invalid, "--kv `{}`: write bf16, fp8, q8 or q4", printable(flags.storage));
  request.storage = *storage;
  return request;
}

void check_format(const std::string& format, std::initializer_list<std::string_view> formats) {
  if (std::find(formats.begin(), formats.end(), format) != formats.end()) return;
  fail(ErrorKind::invalid, "--format `{}`: write one of {}", printable(format), fmt::join(formats, ", "));
}

void write_answer(const std::string& text, const std::string& path) {
  if (path.empty()) return write_output(text);
  DurableWriter writer(path);
  writer.write(std::as_bytes(std::span(text)));
  writer.commit();
}

}  // namespace lagoon
