#include "text/tokenizer.h"

#include "base/error.h"
#include "base/utf8.h"
#include "machine/file.h"
#include "text/tokenizer/tokenizer_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <utility>

namespace lagoon {
namespace {

constexpr size_t longest_text = size_t{2} * 1024 * 1024 * 1024 - (1 << 20);  // bytes; positions are 31 bits wide

std::vector<int32_t> ids_of(const std::vector<AddedToken>& tokens) {
  std::vector<int32_t> ids;
  ids.reserve(tokens.size());
  for (const AddedToken& token : tokens) ids.push_back(token.id);
  return ids;
}

void check_text(std::string_view text) {
  if (text.size() > longest_text) {
    fail(ErrorKind::invalid, "the text to encode has {} bytes, at most {} can be encoded at once; cut it", text.size(), longest_text);
  }
  size_t at = 0;
  while (at < text.size()) {
    if (static_cast<unsigned char>(text[at]) < 0x80) {
      ++at;
      continue;
    }
    const size_t length = valid_utf8_length(text.substr(at));
    if (length == 0) {
      fail(ErrorKind::invalid, "the text to encode is not valid UTF-8 at byte {} (\\x{:02x}); convert it to UTF-8", at,
           static_cast<unsigned char>(text[at]));
    }
    at += length;
  }
}

}  // namespace

Tokenizer::State::State(TokenizerParts parts)
    : normalizer(std::move(parts.normalizer)),
      pre_tokenizer(std::move(parts.pre_tokenizer)),
      frame(std::move(parts.frame)),
      separator(std::move(parts.separator)),
      tokens(std::move(parts.tokens)),
      added(tokens.size()),
      encoder(parts.model, ids_of(parts.added_tokens)) {
  RegexScratch scratch(bytes_of(parts.added_tokens));
  for (size_t id = 0; id < tokens.size(); ++id) {
    if (!tokens[id].content.empty()) ids.emplace(tokens[id].content, static_cast<int32_t>(id));
  }
  for (const AddedToken& token : parts.added_tokens) {
    added[static_cast<size_t>(token.id)] = true;
    contents.add(token, token.content);
    if (!token.normalized) {
      raw_tokens.add(token, token.content);
    } else if (normalizer) {
      normalized_tokens.add(token, normalizer->apply(MarkedText(token.content, Origin::from_template), scratch).text());
    } else {
      normalized_tokens.add(token, token.content);
    }
  }
}

bool Tokenizer::State::has(int32_t id) const {
  return id >= 0 && static_cast<size_t>(id) < tokens.size() && !tokens[static_cast<size_t>(id)].content.empty();
}

const TokenText& Tokenizer::State::token(int32_t id) const {
  if (!has(id)) {
    fail(ErrorKind::invalid, "no token has the id {}; ids of this tokenizer are below {}", id, tokens.size());
  }
  return tokens[static_cast<size_t>(id)];
}

/// One call of encode: its buffers and its result.
struct Tokenizer::Encoding final : PieceSink {
  static constexpr uint64_t progress_bytes = 1 << 16;  // between two calls

  Encoding(const State& tokenizer, bool allow_reserved, size_t bytes)
      : state(tokenizer), reserved_allowed(allow_reserved), regex(bytes), total(bytes) {}

  void take(std::string_view piece) override {
    state.encoder.encode(piece, reserved_allowed, bpe, ids);
    encoded += piece.size();
    if (encoded - told < progress_bytes || progress == nullptr || !*progress) return;
    told = encoded;
    (*progress)(std::min(encoded, total), total);
  }

  /// Text that holds no added token, after normalization.
  void add_pieces(std::string_view text) { state.pre_tokenizer.cut(text, regex, *this); }

  void add_data(std::string_view text) {
    if (!state.normalizer) return add_pieces(text);
    add_pieces(state.normalizer->apply(MarkedText(text, Origin::from_data), regex).text());
  }

  void add_marked(const MarkedText& text) {
    if (state.raw_tokens.empty()) return add_stretch(text);
    for (const AddedTokenSpan& span : state.raw_tokens.cut(text)) {
      if (span.id >= 0) {
        ids.push_back(span.id);
      } else {
        add_stretch(text.slice(span.begin, span.end - span.begin));
      }
    }
  }

  void add_stretch(const MarkedText& raw) {
    if (!state.normalizer && state.normalized_tokens.empty()) return add_pieces(raw.text());
    const MarkedText text = state.normalizer ? state.normalizer->apply(raw, regex) : raw;
    for (const AddedTokenSpan& span : state.normalized_tokens.cut(text)) {
      if (span.id >= 0) {
        ids.push_back(span.id);
      } else {
        add_pieces(std::string_view(text.text()).substr(span.begin, span.end - span.begin));
      }
    }
  }

  /// A part from the middle of a chat. transformers encodes such parts behind a newline, of which it then takes the ids away,
  /// so that nothing is added that belongs to the beginning of a text.
  template <typename Add>
  void add_behind_newline(const Add& add) {
    const size_t begin = ids.size();
    add(true);
    const auto from = ids.begin() + static_cast<ptrdiff_t>(begin);
    const auto newline_size = static_cast<ptrdiff_t>(state.newline.size());
    if (ids.end() - from >= newline_size && std::equal(state.newline.begin(), state.newline.end(), from)) {
      ids.erase(from, from + newline_size);
    } else {
      ids.resize(begin);
      add(false);
    }
  }

  void add_chat(const MarkedText& text);

  const State& state;
  bool reserved_allowed;
  RegexScratch regex;
  BpeScratch bpe;
  std::vector<int32_t> ids;
  const EncodingProgress* progress = nullptr;
  uint64_t total;        // bytes of the text
  uint64_t encoded = 0;  // bytes of pieces so far
  uint64_t told = 0;     // of them, at the last call of progress
};

void Tokenizer::Encoding::add_chat(const MarkedText& text) {
  size_t done = 0;
  const auto add_part = [&](size_t end) {
    if (end == done) return;
    const MarkedText part = text.slice(done, end - done);
    if (done == 0) return add_marked(part);
    add_behind_newline([&](bool behind_newline) {
      MarkedText whole(behind_newline ? "\n" : "", Origin::from_template);
      whole.append(part);
      add_marked(whole);
    });
  };
  size_t run_begin = 0;
  for (const MarkedText::Run& run : text.runs()) {
    size_t search = run_begin;
    run_begin = run.end;
    AddedTokenSpan found{};
    while (run.origin == Origin::from_data && state.contents.find(text.text(), search, run.end, found)) {
      add_part(found.begin);
      const std::string_view forged = std::string_view(text.text()).substr(found.begin, found.end - found.begin);
      add_behind_newline([&](bool behind_newline) { add_data(std::string(behind_newline ? "\n" : "").append(forged)); });
      search = done = found.end;
    }
  }
  add_part(text.size());
}

Tokenizer Tokenizer::parse(std::string_view json, std::string_view name) {
  auto state = std::make_shared<State>(read_tokenizer_json(json, name));
  Encoding newline(*state, true, 1);
  newline.add_marked(MarkedText("\n", Origin::from_template));
  state->newline = std::move(newline.ids);
  return Tokenizer(std::move(state));
}

Tokenizer Tokenizer::load(const std::filesystem::path& tokenizer_json) {
  return parse(read_text(SystemFiles(), tokenizer_json, tokenizer_file_limit), printable_path(tokenizer_json));
}

std::vector<int32_t> Tokenizer::framed(std::vector<int32_t> ids, bool add_special_tokens) const {
  if (state_->frame.size() == 1 && state_->frame[0] == frame_text) return ids;
  std::vector<int32_t> all;
  for (const int32_t id : state_->frame) {
    if (id == frame_text) {
      all.insert(all.end(), ids.begin(), ids.end());
    } else if (add_special_tokens) {
      all.push_back(id);
    }
  }
  return all;
}

std::vector<int32_t> Tokenizer::encode_data(std::string_view text, bool add_special_tokens, const EncodingProgress& progress) const {
  check_text(text);
  Encoding encoding(*state_, false, text.size());
  encoding.progress = &progress;
  encoding.add_data(text);
  return framed(std::move(encoding.ids), add_special_tokens);
}

std::vector<int32_t> Tokenizer::encode(std::string_view text, bool add_special_tokens, const EncodingProgress& progress) const {
  check_text(text);
  Encoding encoding(*state_, true, text.size());
  encoding.progress = &progress;
  encoding.add_marked(MarkedText(text, Origin::from_template));
  return framed(std::move(encoding.ids), add_special_tokens);
}

std::vector<int32_t> Tokenizer::encode(const MarkedText& text) const {
  check_text(text.text());
  Encoding encoding(*state_, false, text.size());
  encoding.add_chat(text);
  return std::move(encoding.ids);
}

std::string Tokenizer::decode(std::span<const int32_t> ids, bool skip_special_tokens) const {
  std::string bytes;
  bool begun = false;
  for (const int32_t id : ids) {
    const TokenText& token = state_->token(id);
    if (skip_special_tokens && token.skipped) continue;
    if (begun) bytes.append(state_->separator);
    begun = true;
    bytes.append(token.bytes);
  }
  return replace_invalid_utf8(bytes);
}

int32_t Tokenizer::vocabulary_size() const { return static_cast<int32_t>(state_->tokens.size()); }

std::optional<int32_t> Tokenizer::id_of(std::string_view token) const {
  const auto found = state_->ids.find(std::string(token));
  return found == state_->ids.end() ? std::nullopt : std::optional(found->second);
}

bool Tokenizer::has_token(int32_t id) const { return state_->has(id); }
const std::string& Tokenizer::token_of(int32_t id) const { return state_->token(id).content; }
bool Tokenizer::is_special(int32_t id) const { return state_->token(id).special; }
bool Tokenizer::is_added(int32_t id) const {
  state_->token(id);
  return state_->added[static_cast<size_t>(id)];
}

}  // namespace lagoon
