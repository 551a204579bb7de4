#include "commands/console.h"

#include "base/error.h"
#include "commands/output.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <system_error>

namespace lagoon {
namespace {

std::string reason(int error) { return std::generic_category().message(error); }

/// Appends whole lines to a file. A line that cannot be written is told once, to whoever reads standard error; the program's work goes on.
class LogFile final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit LogFile(std::string path) : path_(std::move(path)) {
    const std::string what = "--log-file " + printable(path_, 4096);
    struct stat status = {};
    const bool there = ::stat(path_.c_str(), &status) == 0;
    if (there && S_ISDIR(status.st_mode)) fail(ErrorKind::invalid, "{}: a folder is there; name a file", what);
    // A pipe that nobody reads would hold the program up.
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
    if (descriptor_ < 0) fail(ErrorKind::invalid, "{}: it cannot be opened for writing: {}; name a file that can be written", what, reason(errno));
  }
  ~LogFile() override { ::close(descriptor_); }
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    for (size_t written = 0; written < line.size();) {
      const ssize_t put = ::write(descriptor_, line.data() + written, line.size() - written);
      if (put < 0 && errno == EINTR) continue;
      if (put <= 0) return tell_once(errno);
      written += static_cast<size_t>(put);
    }
  }
  void flush_() override {}

 private:
  void tell_once(int error) {
    if (told_) return;
    told_ = true;
    write_error(fmt::format("lagoon: --log-file {}: it cannot be written: {}; the log has gaps\n", printable(path_, 4096), reason(error)));
  }

  std::string path_;
  int descriptor_ = -1;
  bool told_ = false;
};

}  // namespace

struct Console::State {
  Verbosity verbosity = Verbosity::usual;
  std::unique_ptr<spdlog::logger> log;
};

Console::Console() : state_(std::make_shared<State>()) {}

Console::Console(Verbosity verbosity, const std::string& log_file) : Console() {
  state_->verbosity = verbosity;
  if (log_file.empty()) return;
  state_->log = std::make_unique<spdlog::logger>("lagoon", std::make_shared<LogFile>(log_file));
  state_->log->set_level(spdlog::level::debug);
  state_->log->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %l %v");
}

Verbosity Console::verbosity() const { return state_->verbosity; }

void Console::say(bool shown, int level, std::string_view sentence) const {
  if (shown) write_error(fmt::format("lagoon: {}\n", sentence));
  if (state_->log) state_->log->log(static_cast<spdlog::level::level_enum>(level), spdlog::string_view_t(sentence.data(), sentence.size()));
}

void Console::note(std::string_view sentence) const { say(state_->verbosity != Verbosity::quiet, spdlog::level::info, sentence); }

void Console::warning(std::string_view sentence) const { say(state_->verbosity != Verbosity::quiet, spdlog::level::warn, sentence); }

void Console::detail(std::string_view sentence) const { say(state_->verbosity == Verbosity::verbose, spdlog::level::debug, sentence); }

void Console::error(std::string_view sentence) const { say(true, spdlog::level::err, sentence); }

void Console::report(std::string_view text) const {
  write_error(text);
  if (!state_->log) return;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    say(false, spdlog::level::info, text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace lagoon
