# Writes the commit that is built into OUTPUT, a C++ source; run before every build, so that it is never an old one.
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND git -C ${SOURCE} rev-parse --short=12 HEAD OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "namespace lagoon {\nextern const char* const built_commit;\nconst char* const built_commit = \"${commit}\";\n}  // namespace lagoon\n" @ONLY)
