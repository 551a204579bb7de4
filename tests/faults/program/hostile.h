// hostile.h: folders that are almost the shipped model, and what every command must say of them: one sentence, at once, in little memory.
#pragma once

#include "base/json.h"
#include "support/checkpoint_builder.h"
#include "support/expect_refused.h"
#include "support/run_program.h"
#include "support/temporary_folder.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace lagoon::testing_support {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;  // sanitizers take time and memory of their own
#else
constexpr bool sanitized = false;
#endif

constexpr uint64_t most_cpu_seconds = sanitized ? 60 : 2;
constexpr uint64_t most_memory = uint64_t{sanitized ? 16 : 1} * 384 << 20;  // bytes

inline const std::filesystem::path& nano_folder() {
  static const std::filesystem::path folder = LAGOON_SOURCE_DIR "/models/nano";
  return folder;
}

/// The parts of models/nano/model.safetensors, read once.
struct NanoWeights {
  Json header;
  std::string data;

  static const NanoWeights& get() {
    static const NanoWeights weights = [] {
      const std::string text = file_text(nano_folder() / "model.safetensors");
      uint64_t length = 0;
      std::memcpy(&length, text.data(), sizeof length);
      return NanoWeights{parse_json(std::string_view(text).substr(8, length), "header"), text.substr(8 + length)};
    }();
    return weights;
  }
};

inline const char* const embedding_name = "model.embed_tokens.weight";
inline const char* const norm_name = "model.norm.weight";

/// A folder with links to the files of nano, to be spoiled.
class HostileFolder {
 public:
  HostileFolder() {
    for (const auto& file : std::filesystem::directory_iterator(nano_folder())) {
      if (file.path().extension() != ".md") std::filesystem::create_symlink(file.path(), at(file.path().filename().string()));
    }
    open_to_all(folder_.path());
  }

  const std::filesystem::path& path() const { return folder_.path(); }
  std::filesystem::path at(const std::string& name) const { return folder_.path() / name; }
  void remove(const std::string& name) const { std::filesystem::remove_all(at(name)); }
  void put(const std::string& name, std::string_view text) const {
    remove(name);
    folder_.write(name, text);
  }
  static std::string original(const std::string& name) { return file_text(nano_folder() / name); }
  static Json original_json(const std::string& name) { return parse_json(original(name), name); }

  /// The file as JSON, changed.
  void edit(const std::string& name, const std::function<void(Json&)>& change) const {
    Json document = original_json(name);
    change(document);
    put(name, document.dump());
  }
  void set(const std::string& name, const std::string& key, const Json& value) const {
    edit(name, [&](Json& document) { document[key] = value; });
  }

  /// model.safetensors with this header; its data are zeros without a place on the disk.
  void put_header(std::string_view header, uint64_t data_bytes = NanoWeights::get().data.size()) const {
    put("model.safetensors", raw_safetensors(header, ""));
    std::filesystem::resize_file(at("model.safetensors"), 8 + header.size() + data_bytes);
  }
  void edit_header(const std::function<void(Json&)>& change) const {
    Json header = NanoWeights::get().header;
    change(header);
    put_header(header.dump());
  }
  void set_tensor(const std::string& tensor, const std::string& key, const Json& value) const {
    edit_header([&](Json& header) { header[tensor][key] = value; });
  }

  /// The weights with these bytes at the beginning of a tensor's data.
  void overwrite(const std::string& tensor, std::string_view bytes, size_t from = 0) const {
    const NanoWeights& nano = NanoWeights::get();
    std::string data = nano.data;
    data.replace(nano.header[tensor]["data_offsets"][0].get<size_t>() + from, bytes.size(), bytes);
    put("model.safetensors", raw_safetensors(nano.header.dump(), data));
  }

 private:
  static void open_to_all(const std::filesystem::path& folder) {
    using std::filesystem::perms;
    std::filesystem::permissions(folder, perms::owner_all | perms::group_read | perms::group_exec | perms::others_read | perms::others_exec);
  }

  TemporaryFolder folder_;
};

using Arguments = std::vector<std::string>;

/// The commands that a file of the folder matters to.
inline std::vector<Arguments> commands_reading(const std::string& file, const HostileFolder& folder) {
  const std::string path = folder.path();
  const Arguments generate = {"generate", path, "hi", "--max-tokens", "2", "--threads", "1"};
  const Arguments tokenize = {"tokenize", path, "hi"};
  const Arguments render = {"render", path, "--messages", LAGOON_SOURCE_DIR "/tests/faults/program/messages.json"};
  if (file == "tokenizer.json") return {generate, tokenize};
  if (file == "generation_config.json" || file == "tokenizer_config.json" || file == "chat_template.jinja") return {generate, render};
  return {{"inspect", path}, {"plan", path}, generate};
}

/// Runs under limits of time and memory that leave no room for a hang or a spike.
inline ProgramRun run_limited(const Arguments& arguments, ProgramInput given = {}) {
  given.cpu_limit = most_cpu_seconds;
  const ProgramRun run = run_lagoon(arguments, given);
  EXPECT_LT(run.peak_bytes, most_memory);
  return run;
}

/// One line on standard error with all of `parts`, nothing on standard output, exit code 2, whichever command reads the file.
inline void expect_all_refuse(const std::string& file, const HostileFolder& folder, const std::vector<std::string>& parts, int exit_code = 2) {
  for (const Arguments& command : commands_reading(file, folder)) {
    SCOPED_TRACE(command.front());
    const ProgramRun run = run_limited(command);
    expect_refused(run, file == "index" ? "" : std::string(), exit_code);
    for (const std::string& part : parts) EXPECT_THAT(run.error, testing::HasSubstr(part));
  }
}

/// A way to spoil a folder, and what the sentence says.
struct Spoiled {
  const char* name;
  std::function<void(HostileFolder&)> spoil;
  std::vector<std::string> parts;
};

inline void expect_all_refuse(const std::string& file, const std::vector<Spoiled>& table) {
  for (const Spoiled& row : table) {
    SCOPED_TRACE(row.name);
    HostileFolder folder;
    row.spoil(folder);
    expect_all_refuse(file, folder, row.parts);
  }
}

}  // namespace lagoon::testing_support
