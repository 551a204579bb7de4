#include "faults/shim/fault_plan.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace fault_shim {
namespace {

constexpr unsigned deadline_seconds = 30;  // of a forked process

enum class Action { error, one_byte, interrupted, shrink, signals };

struct Plan {
  const char* operation = nullptr;
  const char* path = nullptr;
  const char* report = nullptr;
  uint64_t least = uint64_t{1} << 20;
  int64_t at = 0;
  bool each = false;
  bool onward = false;
  Action action = Action::error;
  int error = 0;
  int signals[2] = {0, 0};

  Plan() {
    operation = std::getenv("FAULT_OPERATION");
    path = std::getenv("FAULT_PATH");
    report = std::getenv("FAULT_REPORT");
    if (const char* bytes = std::getenv("FAULT_LEAST"); bytes != nullptr) least = std::strtoull(bytes, nullptr, 10);
    const char* place = std::getenv("FAULT_AT");
    if (place != nullptr) {
      each = std::strcmp(place, "each") == 0;
      onward = std::strncmp(place, "from ", 5) == 0;
      at = std::atoll(onward ? place + 5 : place);
    }
    const char* kind = std::getenv("FAULT_KIND");
    if (kind == nullptr) return;
    if (std::strcmp(kind, "short") == 0) {
      action = Action::one_byte;
    } else if (std::strcmp(kind, "interrupted") == 0) {
      action = Action::interrupted;
    } else if (std::strcmp(kind, "shrink") == 0) {
      action = Action::shrink;
    } else if (std::strncmp(kind, "signal", 6) == 0) {
      action = Action::signals;
      (void)std::sscanf(kind, "signal%*[s ]%d %d", &signals[0], &signals[1]);
    } else {
      error = std::atoi(kind);
    }
  }
};

std::atomic<bool> ready = false;    // memory is asked for before the program begins
std::atomic<bool> closing = false;  // the report is being written, or a process forked
std::atomic<int64_t> operations = 0;
std::atomic<int64_t> fired = 0;
std::atomic<int64_t> live = 0;
bool is_forked = false;
int told_live = -1;  // where a forked process tells its live bytes

const Plan& plan() {
  static const Plan read;
  return read;
}

bool path_of(int descriptor, char (&path)[4096]) {
  char link[64];
  (void)std::snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  path[std::max<ssize_t>(length, 0)] = '\0';
  return length > 0;
}

void append(int descriptor, const char* text, size_t bytes) {
  if (::write(descriptor, text, bytes) != static_cast<ssize_t>(bytes)) return;
}

void append_line(const char* text) {
  const int file = open(plan().report, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return;
  append(file, text, std::strlen(text));
  ::close(file);
}

/// What the forked process left.
void tell(int64_t at, int status, int output, int error, int live_bytes) {
  struct stat written = {};
  fstat(output, &written);
  char sentence[2048] = "";
  const ssize_t length = pread(error, sentence, sizeof sentence - 1, 0);
  sentence[std::max<ssize_t>(length, 0)] = '\0';
  for (char* letter = sentence; *letter != '\0'; ++letter) {
    if (*letter == '\n') *letter = letter[1] == '\0' ? '\0' : '|';
  }
  int64_t left = -1;
  (void)pread(live_bytes, &left, sizeof left, 0);
  char line[4096];
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  (void)std::snprintf(line, sizeof line, "at %lld exit %d output %lld live %lld error %s\n", static_cast<long long>(at), code,
                      static_cast<long long>(written.st_size), static_cast<long long>(left), sentence);
  append_line(line);
}

/// True in the process in which the operation fails.
bool fork_for(int64_t at) {
  closing = true;
  const int output = memfd_create("output", 0);
  const int error = memfd_create("error", 0);
  const int live_bytes = memfd_create("live", 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(output, STDOUT_FILENO);
    dup2(error, STDERR_FILENO);
    told_live = live_bytes;
    is_forked = true;
    alarm(deadline_seconds);
    closing = false;
    return true;
  }
  int status = 0;
  waitpid(child, &status, 0);
  tell(at, status, output, error, live_bytes);
  for (const int descriptor : {output, error, live_bytes}) ::close(descriptor);
  closing = false;
  return false;
}

Fault carry_out(int descriptor) {
  ++fired;
  switch (plan().action) {
    case Action::one_byte:
      return {Fault::Kind::one_byte, 0};
    case Action::interrupted:
      return {Fault::Kind::error, EINTR};
    case Action::error:
      return {Fault::Kind::error, plan().error};
    case Action::shrink: {
      struct stat status = {};
      char path[4096];
      if (fstat(descriptor, &status) == 0 && path_of(descriptor, path)) (void)!truncate(path, status.st_size / 2);
      return {};
    }
    case Action::signals:
      for (const int signal : plan().signals) {
        if (signal != 0) kill(getpid(), signal);
      }
      return {};
  }
  return {};
}

__attribute__((constructor)) void begin() {
  (void)plan();
  ready = plan().operation != nullptr;
}

__attribute__((destructor)) void end() {
  closing = true;
  const int64_t left = live;
  if (told_live >= 0) append(told_live, reinterpret_cast<const char*>(&left), sizeof left);
  if (is_forked || plan().report == nullptr) return;
  char line[200];
  (void)std::snprintf(line, sizeof line, "operations %lld fired %lld live %lld\n", static_cast<long long>(operations.load()),
                      static_cast<long long>(fired.load()), static_cast<long long>(left));
  append_line(line);
}

}  // namespace

Fault fault_of(const char* operation, int descriptor) {
  if (!ready || closing || is_forked || std::strcmp(operation, plan().operation) != 0) return {};
  char path[4096];
  if (plan().path != nullptr && descriptor >= 0 && (!path_of(descriptor, path) || std::strstr(path, plan().path) == nullptr)) return {};
  const int64_t number = ++operations;
  if (plan().each) return fork_for(number) ? carry_out(descriptor) : Fault{};
  if (plan().action == Action::interrupted) return number % 2 == 1 ? carry_out(descriptor) : Fault{};
  if (plan().action == Action::one_byte && plan().at == 0) return carry_out(descriptor);
  const bool now = plan().at > 0 && (number == plan().at || (plan().onward && number > plan().at));
  return now ? carry_out(descriptor) : Fault{};
}

uint64_t least_bytes() { return ready ? plan().least : UINT64_MAX; }

void add_live(int64_t bytes) { live += bytes; }

}  // namespace fault_shim
