// run_program.h: runs the lagoon program as a user would and keeps what it says.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

extern char** environ;

namespace lagoon::testing_support {

struct ProgramRun {
  int exit_code = -1;  // 128 + signal if one ended it
  std::string output;
  std::string error;
  uint64_t peak_bytes = 0;  // resident, at most; what this process had when it started the program counts too
};

struct ProgramInput {
  std::string input;                     // standard input
  std::vector<std::string> environment;  // "NAME=value", added
  std::string output_path;               // standard output goes to this file instead
  uint64_t file_limit = 0;               // bytes, as ulimit -f; 0: none
  uint64_t address_limit = 0;            // bytes, as ulimit -v; 0: none
  uint64_t cpu_limit = 0;                // seconds of processor time, as ulimit -t; 0: none
};

/// Starts the program, feeds it, waits for its end.
inline ProgramRun run_lagoon(const std::vector<std::string>& arguments, const ProgramInput& given = {}) {
  int in[2];
  int out[2];
  int err[2];
  if (pipe(in) != 0 || pipe(out) != 0 || pipe(err) != 0) throw std::runtime_error("no pipes");
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no process");
  if (child == 0) {
    dup2(in[0], 0);
    dup2(given.output_path.empty() ? out[1] : open(given.output_path.c_str(), O_WRONLY | O_CREAT, 0600), 1);
    dup2(err[1], 2);
    for (const int descriptor : {in[0], in[1], out[0], out[1], err[0], err[1]}) close(descriptor);
    for (const std::string& variable : given.environment) putenv(strdup(variable.c_str()));
    if (given.file_limit > 0) {
      const struct rlimit limit = {.rlim_cur = given.file_limit, .rlim_max = given.file_limit};
      setrlimit(RLIMIT_FSIZE, &limit);
    }
    if (given.address_limit > 0) {
      const struct rlimit limit = {.rlim_cur = given.address_limit, .rlim_max = given.address_limit};
      setrlimit(RLIMIT_AS, &limit);
    }
    if (given.cpu_limit > 0) {
      const struct rlimit limit = {.rlim_cur = given.cpu_limit, .rlim_max = given.cpu_limit + 1};
      setrlimit(RLIMIT_CPU, &limit);
    }
    std::vector<char*> words = {strdup(LAGOON_PROGRAM)};
    for (const std::string& argument : arguments) words.push_back(strdup(argument.c_str()));
    words.push_back(nullptr);
    execv(LAGOON_PROGRAM, words.data());
    _exit(127);
  }
  for (const int descriptor : {in[0], out[1], err[1]}) close(descriptor);

  ProgramRun run;
  struct sigaction ignore = {};
  struct sigaction before = {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, &before);  // the program may end before it has read everything
  std::string_view rest = given.input;
  fcntl(in[1], F_SETFL, O_NONBLOCK);
  if (rest.empty()) close(in[1]);
  bool feeding = !rest.empty();
  std::array<std::pair<int, std::string*>, 2> streams = {{{out[0], &run.output}, {err[0], &run.error}}};
  size_t open_streams = 2;
  while (open_streams > 0) {
    std::array<pollfd, 3> polls = {{{streams[0].first, POLLIN, 0}, {streams[1].first, POLLIN, 0}, {feeding ? in[1] : -1, POLLOUT, 0}}};
    poll(polls.data(), polls.size(), -1);
    for (size_t at = 0; at < 2; ++at) {
      if (polls[at].revents == 0) continue;
      char buffer[4096];
      const ssize_t got = read(streams[at].first, buffer, sizeof buffer);
      if (got > 0) {
        streams[at].second->append(buffer, static_cast<size_t>(got));
      } else {
        close(streams[at].first);
        streams[at].first = -1;
        --open_streams;
      }
    }
    if (feeding && polls[2].revents != 0) {
      const ssize_t put = write(in[1], rest.data(), rest.size());
      if (put > 0) rest.remove_prefix(static_cast<size_t>(put));
      if (rest.empty() || put < 0) {
        close(in[1]);
        feeding = false;
      }
    }
  }
  if (feeding) close(in[1]);
  sigaction(SIGPIPE, &before, nullptr);
  int status = 0;
  struct rusage used = {};
  wait4(child, &status, 0, &used);
  run.peak_bytes = static_cast<uint64_t>(used.ru_maxrss) * 1024;
  run.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return run;
}

}  // namespace lagoon::testing_support
