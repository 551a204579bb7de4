// facts_options.h: what the commands about facts share: the options of the KV cache, and where the answer goes.
#pragma once

#include "planning/kv_cost.h"

#include <initializer_list>
#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace lagoon {

struct KvFlags {
  std::string context;
  std::string storage = "bf16";
};

/// --context and --kv.
void add_kv_flags(CLI::App& parser, KvFlags& flags);

/// @throws Error(invalid) naming the flag
KvRequest kv_request_of(const KvFlags& flags);

/// @throws Error(invalid) if --format has none of these
void check_format(const std::string& format, std::initializer_list<std::string_view> formats);

/// To standard output, or to a file that appears when it is whole. @param path  empty: standard output. @throws Error(io), Error(invalid)
void write_answer(const std::string& text, const std::string& path);

}  // namespace lagoon
