// tokenizer.h: text to token ids and back, as a tokenizer.json of Hugging Face tokenizers says. Byte-level BPE.
//
// A text goes through: added tokens (found first, never split), normalizer, pre-tokenizer (which cuts it into pieces), BPE of each
// piece, post-processor (which may add ids). What may be an added token depends on who wrote the text:
//   encode_data(text)     nothing: text from a user, a tool or a document
//   encode(text)          everything, as tokenizers does
//   encode(MarkedText)    what the chat template wrote, byte for byte
// Source: huggingface/tokenizers 0.23.3; transformers 5.24.0 (apply_chat_template with sanitize_control_tokens=True).
// Proof: tests/conformance/text/tokenizer_test.cpp.
#pragma once

#include "text/marked_text.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lagoon {

constexpr uint64_t tokenizer_file_limit = uint64_t{64} << 20;  // bytes of tokenizer.json; published ones have less than 20 MiB

/// Told from time to time how many bytes of a text are encoded; what it throws ends the encoding.
using EncodingProgress = std::function<void(uint64_t done, uint64_t total)>;

/// Immutable; any number of threads may use one at once. Copies share what was read from the file.
class Tokenizer {
 public:
  /// Reads a regular file of at most 64 MiB.
  /// @throws Error(io), Error(corrupt) if the file contradicts itself or its format, Error(unsupported) for a component,
  ///         an option or a pattern that Lagoon does not have; the sentence names the key
  static Tokenizer load(const std::filesystem::path& tokenizer_json);

  /// @param name  what the text is called in the sentence of an error
  static Tokenizer parse(std::string_view json, std::string_view name);

  /// No added token matches anywhere, nor do merges make one out of other tokens.
  /// @throws Error(invalid) naming the byte if the text is not valid UTF-8; Error(unsupported) if a pattern of the file
  ///         backtracks without end on it
  /// @param add_special_tokens  let the post-processor add its ids (such as the one that begins a text)
  /// @param progress            may be empty
  std::vector<int32_t> encode_data(std::string_view text, bool add_special_tokens = false, const EncodingProgress& progress = {}) const;

  /// Added tokens match in the whole text. @throws and @param as encode_data
  std::vector<int32_t> encode(std::string_view text, bool add_special_tokens = false, const EncodingProgress& progress = {}) const;

  /// A rendered chat. An added token matches only where every byte of it is the template's. The text is cut around each
  /// added token that stands in data; that token is encoded by itself as plain text, so no merge crosses the cut.
  /// Without such tokens the ids are those of encode(text.text()). The post-processor adds nothing. @throws as encode_data
  std::vector<int32_t> encode(const MarkedText& text) const;

  /// Bytes that are no UTF-8 become U+FFFD, one for each maximal subpart.
  /// @param skip_special_tokens  leave out tokens that the file calls special
  /// @throws Error(invalid) naming an id that no token has
  std::string decode(std::span<const int32_t> ids, bool skip_special_tokens = false) const;

  /// 1 + the highest id; ids below it may be unused.
  int32_t vocabulary_size() const;

  /// @param token  as the file spells it: bytes in the byte-level alphabet, added tokens as they are
  std::optional<int32_t> id_of(std::string_view token) const;

  /// Whether a token has this id.
  bool has_token(int32_t id) const;

  /// As the file spells it. @throws Error(invalid) naming an id that no token has
  const std::string& token_of(int32_t id) const;

  /// Whether the file calls the token special. @throws as token_of
  bool is_special(int32_t id) const;

  /// Whether the token is in the file's list of added tokens. @throws as token_of
  bool is_added(int32_t id) const;

 private:
  friend class StreamingDecoder;
  struct State;
  struct Encoding;
  explicit Tokenizer(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  std::vector<int32_t> framed(std::vector<int32_t> ids, bool add_special_tokens) const;

  std::shared_ptr<const State> state_;
};

/// Text out of ids as they come. The pieces and the flushed rest together are decode() of all ids.
/// A piece is held back while it ends in U+FFFD, as tokenizers' DecodeStream does: the next token may complete a character.
class StreamingDecoder {
 public:
  explicit StreamingDecoder(const Tokenizer& tokenizer, bool skip_special_tokens = false);

  /// The text that is certain now, possibly none; whole characters only. @throws Error(invalid) naming an id that no token has
  std::string push(int32_t id);

  /// What was held back. The decoder is then as new.
  std::string flush();

 private:
  std::shared_ptr<const Tokenizer::State> state_;
  bool skip_special_tokens_;
  bool begun_ = false;   // a token came before
  std::string pending_;  // bytes that are no whole character yet
  std::string held_;     // text that ends in U+FFFD
};

}  // namespace lagoon
