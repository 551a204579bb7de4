#include "commands/version.h"

namespace lagoon {

extern const char* const built_commit;  // the build writes it: cmake/commit.cmake

std::string version() { return LAGOON_VERSION; }

std::string commit() { return built_commit; }

}  // namespace lagoon
