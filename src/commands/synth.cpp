// synth: a checkpoint with the shapes of a published model and random weights, written to a folder.
#include "base/byte_size.h"
#include "base/error.h"
#include "checkpoint/synthetic.h"
#include "commands/command.h"
#include "commands/interrupt.h"
#include "commands/option_checks.h"
#include "commands/output.h"
#include "machine/file.h"
#include "machine/memory_budget.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <future>
#include <system_error>

namespace lagoon {
namespace {

constexpr size_t piece_bytes = 16u << 20;             // written at once
constexpr uint64_t memory_limit = uint64_t{1} << 30;  // of the whole command

struct Flags {
  std::string spec;
  std::string out;
  bool holes = false;
};

/// The folder that is written. Unless keep() is called, what was written is removed, and the folder too if it was made here.
class OutputFolder {
 public:
  /// @throws Error(invalid) if something is there already, Error(io)
  explicit OutputFolder(std::filesystem::path path) : path_(std::move(path)) {
    std::error_code error;
    const std::filesystem::file_status status = std::filesystem::status(path_, error);
    if (!std::filesystem::exists(status)) {
      made_ = std::filesystem::create_directory(path_, error);
      const ErrorKind kind = error == std::errc::no_such_file_or_directory ? ErrorKind::invalid : ErrorKind::io;
      if (error) fail(kind, "{}: the folder cannot be made: {}; name one in a folder that is there", printable_path(path_), error.message());
      return;
    }
    if (!std::filesystem::is_directory(status)) {
      fail(ErrorKind::invalid, "{}: a folder was expected, a file is there; name a folder that is new or empty", printable_path(path_));
    }
    const bool empty = std::filesystem::is_empty(path_, error);
    if (error) fail(ErrorKind::io, "{}: the folder cannot be listed: {}", printable_path(path_), error.message());
    if (!empty) fail(ErrorKind::invalid, "{}: the folder is not empty; name one that is new or empty", printable_path(path_));
  }
  ~OutputFolder() {
    if (kept_) return;
    std::error_code ignored;
    for (const std::filesystem::path& file : files_) std::filesystem::remove(file, ignored);
    if (made_) std::filesystem::remove(path_, ignored);
  }
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  size_t file_count() const { return files_.size(); }

  /// A file that `fill` writes, put in its place when it is whole.
  void add(const std::string& name, const std::function<void(DurableWriter&)>& fill) {
    DurableWriter writer(path_ / name);
    fill(writer);
    files_.push_back(path_ / name);
    writer.commit();
  }

  void add_text(const TextFile& file) {
    add(file.name, [&](DurableWriter& writer) { writer.write(std::as_bytes(std::span(file.text))); });
  }

  void keep() { kept_ = true; }

 private:
  std::filesystem::path path_;
  bool made_ = false;
  bool kept_ = false;
  std::vector<std::filesystem::path> files_;
};

void check_space(const std::filesystem::path& folder, uint64_t need) {
  std::error_code error;
  const std::filesystem::space_info space = std::filesystem::space(folder, error);
  if (error || space.available >= need) return;  // where nothing is known, writing will tell
  fail(ErrorKind::io, "{}: {} are needed and {} are free on this disk; free some, take fewer layers (layers=N), or write --holes",
       printable_path(folder), format_gib(need), format_gib(space.available));
}

/// Copies shards through two buffers: one is filled by a thread of its own while the other is written.
class ShardCopier {
 public:
  ShardCopier(MemoryBudget& budget, const std::function<void(uint64_t bytes)>& written) : written_(written) {
    for (auto& buffer : buffers_) buffer = ClaimedBuffer<std::byte>(budget, "pieces of shards", piece_bytes);
  }

  void copy(const ReadableFile& shard, DurableWriter& writer) {
    std::future<std::span<const std::byte>> next = make(shard, 0);
    for (uint64_t offset = 0; offset < shard.size();) {
      const std::span<const std::byte> piece = next.get();
      offset += piece.size();
      if (offset < shard.size()) next = make(shard, offset);
      writer.write(piece);
      written_(piece.size());
    }
  }

 private:
  std::future<std::span<const std::byte>> make(const ReadableFile& shard, uint64_t offset) {
    turn_ = 1 - turn_;
    const std::span<std::byte> piece = buffers_[turn_].span().first(std::min<uint64_t>(piece_bytes, shard.size() - offset));
    return std::async(std::launch::async, [&shard, offset, piece]() -> std::span<const std::byte> {
      shard.read_at(offset, piece);
      return piece;
    });
  }

  const std::function<void(uint64_t)>& written_;
  std::array<ClaimedBuffer<std::byte>, 2> buffers_;
  size_t turn_ = 0;
};

/// The header as it is, the data as one hole.
void write_holes(const ReadableFile& shard, uint64_t header_bytes, DurableWriter& writer) {
  std::vector<std::byte> header(header_bytes);
  shard.read_at(0, header);
  writer.write(header);
  writer.write_hole(shard.size() - header_bytes);
}

void write_shards(const SyntheticCheckpoint& synthetic, bool holes, bool show_progress, OutputFolder& folder) {
  MemoryBudget budget(memory_limit);
  ProgressLine progress(show_progress, "writing", "bytes");
  uint64_t done = 0;
  const std::function<void(uint64_t)> written = [&](uint64_t bytes) {
    check_interrupt();
    done += bytes;
    progress.update(done, synthetic.file_bytes());
  };
  ShardCopier copier(budget, written);
  for (size_t at = 0; at < synthetic.shard_count(); ++at) {
    check_interrupt();
    const std::unique_ptr<ReadableFile> shard = synthetic.open_shard(at, folder.path());
    folder.add(shard->path().filename().string(), [&](DurableWriter& writer) {
      if (holes) {
        write_holes(*shard, synthetic.header_bytes(at), writer);
      } else {
        copier.copy(*shard, writer);
      }
    });
  }
}

int run(const Flags& flags, const Environment& environment) {
  const SyntheticCheckpoint synthetic(parse_synthetic_spec(flags.spec));
  const std::vector<TextFile> texts = synthetic.texts();
  const TextFile config{"config.json", synthetic.config().dump(2) + "\n"};
  uint64_t bytes = synthetic.file_bytes() + config.text.size();
  for (const TextFile& file : texts) bytes += file.text.size();

  watch_interrupts();
  OutputFolder folder(flags.out);
  if (!flags.holes) check_space(folder.path(), bytes);
  write_shards(synthetic, flags.holes, environment.error_is_terminal, folder);
  for (const TextFile& file : texts) folder.add_text(file);
  check_interrupt();
  folder.add_text(config);  // last: without it the folder is no checkpoint
  folder.keep();
  write_output(fmt::format("{}: {} ({}) in {} files, {} parameters{}\n", printable_path(folder.path()), format_gib(bytes), format_bytes(bytes),
                           folder.file_count(), format_count(synthetic.parameters()),
                           flags.holes ? "; the weights are holes, which read as zeros and take no disk" : ""));
  return 0;
}

}  // namespace

Command declare_synth(CLI::App& program) {
  CLI::App* parser = program.add_subcommand("synth", "Write a checkpoint of a published shape with random weights");
  auto flags = std::make_shared<Flags>();
  parser->add_option("SPEC", flags->spec, synthetic_spec_help())->required()->check(not_empty());
  parser->add_option("OUT", flags->out, "the folder to write, new or empty")->required()->check(not_empty())->type_name("DIR");
  parser->add_flag("--holes", flags->holes, "right headers and zeros that take no disk, for work with headers alone");
  return {parser,
          [flags](const Environment& environment) { return run(*flags, environment); },
          {{"lagoon synth mini:4/64,layers=1 tiny-model", "one layer of the smallest shape, in 4 bits"},
           {"lagoon synth xs-2.1:4/64 headers-alone --holes", "the headers of a large model, whose weights take no disk"}}};
}

}  // namespace lagoon
