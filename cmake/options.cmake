# Flags that every translation unit gets. Rule 2 of docs/architecture.md (same prefix, same bits) rests on the first two:
# no contraction of a*b+c by the compiler, and never -ffast-math. tests/hygiene checks both.
add_compile_options(-ffp-contract=off -fno-math-errno -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wold-style-cast
                    -Wcast-qual -Wunused -Woverloaded-virtual -Werror)

# Designated initialisers leave fields to their defaults on purpose.
add_compile_options(-Wno-missing-field-initializers)
# g++ 12 reports overlaps inside its own std::string (gcc bug 105651), overflows inside fmt 9 and unset members of a moved
# std::variant, none of which can happen.
foreach(warning restrict stringop-overflow maybe-uninitialized)
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-${warning}>)
endforeach()

if(LAGOON_SANITIZE)
  add_compile_options(-fsanitize=${LAGOON_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${LAGOON_SANITIZE})
endif()
if(LAGOON_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(spdlog REQUIRED)
find_package(ICU REQUIRED COMPONENTS uc i18n)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(PkgConfig REQUIRED)
pkg_check_modules(PCRE2 REQUIRED IMPORTED_TARGET libpcre2-8)
pkg_check_modules(GMPXX REQUIRED IMPORTED_TARGET gmpxx)
pkg_check_modules(CAIRO REQUIRED IMPORTED_TARGET cairo)
pkg_check_modules(TOMLPLUSPLUS REQUIRED IMPORTED_TARGET tomlplusplus)
