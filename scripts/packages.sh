# Sourced by the other scripts: installs what is missing from Debian, as root or through sudo.

# need PACKAGE...
need() {
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  [ "${#missing[@]}" -gt 0 ] || return 0
  local root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "These packages are missing, and there is neither root nor sudo to install them: ${missing[*]}" >&2; return 1; }
    root=(sudo)
  fi
  echo "Installing from Debian: ${missing[*]}"
  # The lists of a fresh machine are empty or old: fetch them once, when the first try fails.
  local install=("${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}")
  "${install[@]}" >/dev/null 2>&1 || { "${root[@]}" apt-get update -qq && "${install[@]}" >/dev/null; }
}

# need_command PACKAGE COMMAND...: one of the commands is enough, wherever it comes from; else the package.
need_command() {
  local package=$1 command
  shift
  for command in "$@"; do
    if command -v "$command" >/dev/null; then return 0; fi
  done
  need "$package"
}

# For tests in a real browser.
need_web_packages() {
  need_command nodejs node
  need_command npm npm
  need_command chromium chromium chromium-browser google-chrome google-chrome-stable
  need fonts-dejavu-core
}

build_packages=(cmake ninja-build g++ pkg-config libfmt-dev nlohmann-json3-dev libcli11-dev libpcre2-dev libicu-dev libgmp-dev libcairo2-dev
                libssl-dev libspdlog-dev libtomlplusplus-dev)
test_packages=(libgtest-dev libgmock-dev libbenchmark-dev libvterm-dev binutils zsh fish groff-base man-db)
package_packages=(dpkg-dev file)
fresh_system_packages=(debootstrap eatmydata)  # for tests/package
fuzz_packages=(clang-14 libclang-rt-14-dev)
lint_packages=(clang-14 clang-format-14 clang-tidy-14)
