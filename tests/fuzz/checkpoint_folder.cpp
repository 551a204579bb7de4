// A whole tiny checkpoint folder whose files have changed: an input is a list of edits (below). What still opens is loaded, computes a few tokens;
// nothing of that may do more than refuse.
//   byte 0  which file; byte 1  what to do (bit 7: near the start of the file, where headers are); bytes 2 to 4  where; bytes 5 to 12  with what
#include "checkpoint/checkpoint.h"
#include "checkpoint/generation_config.h"
#include "fuzz/fuzz.h"
#include "laguna/cpu_model.h"
#include "support/checkpoint_builder.h"
#include "text/chat_template.h"
#include "text/jinja/json.h"
#include "text/tokenizer.h"

#include <array>
#include <map>

using namespace lagoon;

namespace {

constexpr size_t edit_bytes = 13;
constexpr size_t most_edits = 64;
constexpr size_t header_bytes = 8192;
constexpr int64_t context = 16;                 // tokens
constexpr uint64_t memory_limit = 64ull << 20;  // bytes

constexpr int vocabulary = 304;  // 256 bytes, then tokens of two

/// Byte-level: byte b is the character U+0100 + b where it stands for no printable character of its own, as everywhere in byte-level BPE.
std::string tokenizer_json() {
  Json tokens = Json::object();
  std::vector<std::string> alphabet;
  const auto put = [&](uint32_t character) {
    std::string text;
    append_utf8(text, character);
    tokens[text] = tokens.size();
    alphabet.push_back(text);
  };
  for (uint32_t c = '!'; c <= '~'; ++c) put(c);
  for (uint32_t c = 0xa1; c <= 0xac; ++c) put(c);
  for (uint32_t c = 0xae; c <= 0xff; ++c) put(c);
  for (uint32_t c = 0x100; alphabet.size() < 256; ++c) put(c);
  Json merges = Json::array();
  for (size_t at = 0; tokens.size() < vocabulary - 2; ++at) {
    tokens[alphabet[at] + alphabet[at + 40]] = tokens.size();
    merges.push_back({alphabet[at], alphabet[at + 40]});
  }
  const auto added = [&](const char* text) {
    return Json{{"id", tokens.size()}, {"content", text},     {"single_word", false}, {"lstrip", false},
                {"rstrip", false},     {"normalized", false}, {"special", true}};
  };
  Json list = Json::array({added("<s>")});
  tokens["<s>"] = tokens.size();
  list.push_back(added("</s>"));
  tokens["</s>"] = tokens.size();
  const Json level = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}};
  const Json model = {{"type", "BPE"},
                      {"dropout", nullptr},
                      {"unk_token", nullptr},
                      {"continuing_subword_prefix", nullptr},
                      {"end_of_word_suffix", nullptr},
                      {"fuse_unk", false},
                      {"byte_fallback", false},
                      {"vocab", tokens},
                      {"merges", merges}};
  return Json{{"version", "1.0"},       {"truncation", nullptr},     {"padding", nullptr}, {"added_tokens", list}, {"normalizer", nullptr},
              {"pre_tokenizer", level}, {"post_processor", nullptr}, {"decoder", level},   {"model", model}}
      .dump();
}

/// The sound folder, written once, and its files by name.
struct SoundFolder {
  SoundFolder() {
    using namespace testing_support;
    CheckpointShape shape;
    shape.vocabulary = vocabulary;
    CheckpointBuilder builder(shape);
    builder.quantize("mlp.experts", 4, 32).quantize("lm_head", 6, 64).quantize("self_attn.o_proj", 3, 32, StoredType::f16);
    builder.write(folder.path(), 2);
    folder.write("generation_config.json", R"({"temperature": 0.7, "top_p": 0.95, "eos_token_id": [2, 24], "do_sample": true})");
    folder.write("tokenizer.json", tokenizer_json());
    folder.write("chat_template.jinja", "{{- '<s>' -}}{%- for m in messages -%}{{- m.role + ': ' + m.content -}}{%- endfor -%}");
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
      files[entry.path().filename().string()] = file_text(entry.path());
    }
  }

  testing_support::TemporaryFolder folder;
  std::map<std::string, std::string> files;
};

/// The files of the folder as they are after the edits.
class EditedFiles final : public Files {
 public:
  explicit EditedFiles(std::map<std::string, std::string> files) : files_(std::move(files)) {}
  std::unique_ptr<ReadableFile> open(const std::filesystem::path& path) const override {
    const auto at = files_.find(path.filename().string());
    if (at == files_.end()) fail(ErrorKind::invalid, "{}: there is no such file", path.string());
    return std::make_unique<fuzz::MemoryFile>(path, at->second);
  }
  const std::string& text(const std::string& name) const { return files_.at(name); }

 private:
  std::map<std::string, std::string> files_;
};

void edit(std::string& text, const uint8_t* record) {
  const size_t range = (record[1] & 0x80) != 0 ? std::min(text.size(), header_bytes) : text.size();
  if (range == 0) return;
  const size_t at = (record[2] | size_t{record[3]} << 8 | size_t{record[4]} << 16) % range;
  const std::string_view value(reinterpret_cast<const char*>(record + 5), 8);
  switch ((record[1] & 0x7f) % 7) {
    case 0:
      text[at] = value[0];
      break;
    case 1:
      text[at] = static_cast<char>(text[at] ^ (1 << (value[0] & 7)));
      break;
    case 2:
      text.resize(at);
      break;
    case 3:
      text.insert(at, value.substr(0, 1 + (record[12] & 7)));
      break;
    case 4:
      text.erase(at, static_cast<uint8_t>(value[0]));
      break;
    case 5:
      text.replace(at, 8, value);
      break;
    default: {
      const std::string piece = text.substr((record[5] | size_t{record[6]} << 8) % text.size(), record[7]);
      text.insert(at, piece);
    }
  }
}

EditedFiles edited(const SoundFolder& sound, const uint8_t* data, size_t size) {
  std::map<std::string, std::string> files = sound.files;
  for (size_t at = 0; at + edit_bytes <= size && at < most_edits * edit_bytes; at += edit_bytes) {
    edit(std::next(files.begin(), data[at] % files.size())->second, data + at);
  }
  return EditedFiles(std::move(files));
}

void compute(const Checkpoint& checkpoint) {
  CpuModelOptions options;
  options.context = std::min(context, checkpoint.config().max_context);
  options.step_rows = 4;
  MemoryBudget budget(memory_limit);
  fuzz::accepts([&] {
    CpuModel model(checkpoint, options, budget);
    const SequenceId sequence = model.create_sequence();
    std::vector<int32_t> tokens(static_cast<size_t>(std::min<int64_t>(3, options.context)), 1);
    std::vector<float> logits(static_cast<size_t>(checkpoint.config().vocabulary));
    if (checkpoint.config().vocabulary < 2) tokens.assign(tokens.size(), 0);
    const TokenSpan span{sequence, tokens, 1};
    model.forward(std::span(&span, 1), {logits.data(), 1, checkpoint.config().vocabulary});
  });
  fuzz::check(budget.total() == 0, "memory stays claimed");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const SoundFolder sound;
  const EditedFiles files = edited(sound, data, size);
  const std::filesystem::path& folder = sound.folder.path();
  fuzz::accepts([&] { compute(Checkpoint::open(folder.string(), {}, files)); });
  fuzz::accepts([&] { load_generation_config(folder, files); });
  fuzz::accepts([&] { Tokenizer::parse(files.text("tokenizer.json"), "tokenizer.json").encode_data("hello"); });
  fuzz::accepts([&] {
    ChatRequest request;
    request.messages = jinja::read_json(R"([{"role": "user", "content": "hi"}])", "messages");
    ChatTemplate::from_source(files.text("chat_template.jinja"), "chat_template.jinja").render(request);
  });
  return 0;
}
