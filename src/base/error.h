// error.h: the one way in which Lagoon fails. A library function that cannot do what its contract says throws Error.
//
// The sentence names what was found, what was needed and what to do; it starts with the file, tensor, key or flag that it
// is about, and ends without a full stop, since it may be printed after "lagoon: ". Errors are caught in three places only:
// commands/, the border of a request, and the engine thread. Kernels neither throw nor allocate.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace lagoon {

/// Kinds by what the reader can do about it.
enum class ErrorKind {
  invalid,      // the request is wrong: a flag, a path, a message; change it
  unsupported,  // the input is sound, but Lagoon does not run it; use another one
  corrupt,      // a file contradicts itself or its format; fetch it again
  over_budget,  // memory does not suffice; ask for less or give more
  io,           // the operating system refused a read, a write or an allocation
  cancelled,    // the user asked to stop
  bug,          // Lagoon contradicts itself; report it
};

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& sentence) : std::runtime_error(sentence), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

/// The kind as it is spelled in logs and JSON, such as "over_budget".
const char* name_of(ErrorKind kind);

/// The exit code of the program: 2 for bad usage or input, 130 for a cancelled run, 1 for every other failure.
int exit_code_of(ErrorKind kind);

/// Throws Error(kind) with the formatted sentence.
template <typename... Args>
[[noreturn]] void fail(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(kind, fmt::format(format, std::forward<Args>(args)...));
}

/// For conditions that only a mistake in Lagoon can break. Throws Error(bug).
inline void require(bool condition, const char* statement) {
  if (!condition) throw Error(ErrorKind::bug, std::string("internal contradiction: ") + statement);
}

/// Text from outside made fit for an error sentence: control characters and invalid UTF-8 escaped as \xNN, cut after
/// `limit` bytes with "...".
std::string printable(std::string_view text, size_t limit = 120);

}  // namespace lagoon
