#include "text/tokenizer/tokenizer_json.h"

#include "base/error.h"
#include "text/tokenizer/byte_level.h"
#include "text/tokenizer/components_json.h"
#include "text/tokenizer/fields.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace lagoon {
namespace {

constexpr size_t longest_added_token = 256;               // bytes; the search for added tokens looks at a byte this often
constexpr size_t largest_added_tokens = size_t{1} << 20;  // bytes of all together, each of which takes some hundred in memory

using Ids = std::unordered_map<std::string_view, int32_t>;

void check_is_nothing(Fields& fields, const std::string& key, const char* effect) {
  const Json& value = fields.find(key);
  if (value.is_null() || value == Json(std::string()) || value == 0) return;
  fail(ErrorKind::unsupported, "{}: `{}` is set, which {}; Lagoon needs it null", fields.where(), key, effect);
}

void read_model_options(Fields& fields, BpeModel& model, const Ids& ids) {
  const Json& type = fields.find("type");
  if (!type.is_null() && type != "BPE") {
    fail(ErrorKind::unsupported, "{}: the model `{}` is not one that Lagoon has (BPE)", fields.where(), printable(fields.need_string("type")));
  }
  check_is_nothing(fields, "dropout", "makes encoding random");
  check_is_nothing(fields, "continuing_subword_prefix", "marks tokens inside of words");
  check_is_nothing(fields, "end_of_word_suffix", "marks tokens at the end of words");
  if (fields.find_bool("byte_fallback", false)) {
    fail(ErrorKind::unsupported, "{}: `byte_fallback` is true; Lagoon takes byte-level vocabularies, which need none", fields.where());
  }
  model.fuse_unknown = fields.find_bool("fuse_unk", false);
  model.ignore_merges = fields.find_bool("ignore_merges", false);
  if (!fields.find("unk_token").is_null()) {
    const std::string& unknown = fields.need_string("unk_token");
    const auto found = ids.find(unknown);
    if (found != ids.end()) model.unknown = found->second;
    size_t bytes = 0;
    for (const auto& [token, id] : model.vocabulary) bytes += token.size() == 1;
    if (found == ids.end() && bytes < 256) {
      fail(ErrorKind::corrupt, "{}: `unk_token` is `{}`, which `vocab` does not hold, and bytes without a token need it", fields.where(),
           printable(unknown));
    }
  }
}

void read_merges(const TokenizerDocument& document, const std::string& where, const Ids& ids, BpeModel& model) {
  const auto id_of = [&](const std::string& token, size_t rank) {
    const auto found = ids.find(token);
    if (found != ids.end()) return found->second;
    fail(ErrorKind::corrupt, "{}: `merges` entry {} needs the token `{}`, which `vocab` does not hold", where, rank, printable(token));
  };
  model.merges.reserve(document.merges.size());
  for (size_t rank = 0; rank < document.merges.size(); ++rank) {
    const auto& [left, right] = document.merges[rank];
    model.merges.push_back({id_of(left, rank), id_of(right, rank), id_of(left + right, rank)});
  }
}

/// Every id up to the highest takes memory: a few tokens with huge ids must not take all of it.
void check_density(const TokenizerDocument& document, int64_t highest, const std::string& where) {
  constexpr int64_t spare = 1 << 16;
  const auto tokens = static_cast<int64_t>(document.vocabulary.size());
  if (highest < 4 * tokens + spare) return;
  const auto last = std::find_if(document.vocabulary.begin(), document.vocabulary.end(), [&](const auto& entry) { return entry.second == highest; });
  fail(ErrorKind::corrupt, "{}: `vocab` gives the token `{}` the id {}, but has {} tokens in all; ids lie close together: the file is damaged", where,
       printable(last->first), highest, tokens);
}

Ids read_vocabulary(const TokenizerDocument& document, const std::string& where, TokenizerParts& parts) {
  Ids ids;
  ids.reserve(document.vocabulary.size());
  int64_t highest = -1;
  for (const auto& [token, id] : document.vocabulary) highest = std::max(highest, id);
  check_density(document, highest, where);
  parts.tokens.resize(static_cast<size_t>(highest + 1));
  std::vector<bool> taken(parts.tokens.size());
  for (const auto& [token, id] : document.vocabulary) {
    const auto index = static_cast<size_t>(id);
    if (taken[index]) {
      fail(ErrorKind::corrupt, "{}: `vocab` gives the id {} to both `{}` and `{}`", where, id, printable(parts.tokens[index].content),
           printable(token));
    }
    taken[index] = true;
    parts.tokens[index].content = token;
    ids.emplace(token, static_cast<int32_t>(id));
    if (auto bytes = byte_level_bytes(token)) parts.model.vocabulary.emplace_back(std::move(*bytes), static_cast<int32_t>(id));
  }
  return ids;
}

AddedToken read_added_token(const Json& json, const std::string& where) {
  Fields fields(json, where);
  AddedToken token;
  const std::string range = fmt::format("a whole number from 0 to {}", highest_token_id);
  const Json& id = fields.need("id", range);
  if (!id.is_number_unsigned() || id.get<uint64_t>() > static_cast<uint64_t>(highest_token_id)) fields.refuse("id", id, range);
  token.id = id.get<int32_t>();
  token.content = fields.need_string("content");
  token.single_word = fields.need_bool("single_word");
  token.lstrip = fields.need_bool("lstrip");
  token.rstrip = fields.need_bool("rstrip");
  token.normalized = fields.need_bool("normalized");
  token.special = fields.need_bool("special");
  fields.finish();
  if (token.content.empty()) fail(ErrorKind::corrupt, "{}: `content` is empty", where);
  if (token.content.size() > longest_added_token) {
    fail(ErrorKind::unsupported, "{}: `content` has {} bytes, Lagoon takes at most {}", where, token.content.size(), longest_added_token);
  }
  return token;
}

/// tokenizers ignores the ids of added tokens: one that the vocabulary holds has that id, the others follow upon each other.
class AddedIds {
 public:
  explicit AddedIds(const Ids& vocabulary) : vocabulary_(vocabulary) {}

  void check(const AddedToken& token, const std::string& where) {
    if (!contents_.insert(token.content).second) {
      fail(ErrorKind::corrupt, "{}: the added token `{}` stands twice in the list", where, printable(token.content));
    }
    const auto known = vocabulary_.find(token.content);
    const auto size = static_cast<int64_t>(vocabulary_.size());
    const int64_t expected = known != vocabulary_.end() ? known->second : highest_ >= size || size == 0 ? highest_ + 1 : size;
    if (token.id != expected) {
      fail(ErrorKind::corrupt, "{}: the added token `{}` has the id {}, but {}", where, printable(token.content), token.id,
           known != vocabulary_.end() ? fmt::format("`model.vocab` gives it {}", expected)
                                      : fmt::format("is not in `model.vocab` and the next free id is {}", expected));
    }
    highest_ = std::max(highest_, expected);
  }

 private:
  const Ids& vocabulary_;
  std::unordered_set<std::string> contents_;
  int64_t highest_ = -1;
};

void read_added_tokens(const Json& list, const std::string& where, const Ids& ids, TokenizerParts& parts) {
  if (list.is_null()) return;
  if (!list.is_array()) fail(ErrorKind::corrupt, "{} is {}, a list was needed", where, found_in(list));
  AddedIds expected(ids);
  size_t position = 0;
  for (const Json& json : list) {
    const std::string entry = where + "[" + std::to_string(position++) + "]";
    AddedToken token = read_added_token(json, entry);
    expected.check(token, entry);
    const auto index = static_cast<size_t>(token.id);
    if (index >= parts.tokens.size()) parts.tokens.resize(index + 1);
    TokenText& text = parts.tokens[index];
    if (!text.content.empty() && text.content != token.content) {
      fail(ErrorKind::corrupt, "{}: the id {} is given to both `{}` and `{}`", entry, token.id, printable(text.content), printable(token.content));
    }
    text.content = token.content;
    text.special = token.special;
    parts.added_tokens.push_back(std::move(token));
  }
  if (const size_t bytes = bytes_of(parts.added_tokens); bytes > largest_added_tokens) {
    fail(ErrorKind::unsupported, "{}: the added tokens have {} bytes together, at most {} are taken", where, bytes, largest_added_tokens);
  }
  std::stable_partition(parts.added_tokens.begin(), parts.added_tokens.end(), [](const AddedToken& token) { return token.special; });
}

/// An id that the post-processor adds must be a token's.
void check_frame(const TokenizerParts& parts, const std::string& where) {
  for (const int32_t id : parts.frame) {
    if (id == frame_text) continue;
    const auto index = static_cast<size_t>(id);
    if (index < parts.tokens.size() && !parts.tokens[index].content.empty()) continue;
    fail(ErrorKind::corrupt, "{} adds the id {}, which no token has; ids go from 0 to {}", where, id, parts.tokens.size() - 1);
  }
}

void read_decoding(const Json& json, const std::string& where, TokenizerParts& parts) {
  const DecoderKind kind = read_decoder(json, where);
  parts.separator = kind.separator;
  const auto decode = [&kind](const std::string& content) {
    const auto bytes = kind.byte_level ? byte_level_bytes(content) : std::nullopt;
    return bytes ? *bytes : content;
  };
  for (TokenText& token : parts.tokens) token.bytes = decode(token.content);
  std::unordered_set<std::string> special;
  for (const AddedToken& token : parts.added_tokens) {
    if (token.special) special.insert(token.content);
  }
  RegexScratch scratch(bytes_of(parts.added_tokens));
  for (const AddedToken& token : parts.added_tokens) {
    TokenText& text = parts.tokens[static_cast<size_t>(token.id)];
    std::string content = token.content;
    if (token.normalized && parts.normalizer) {  // tokenizers decodes the normalized form, which need not count as special
      content = parts.normalizer->apply(MarkedText(token.content, Origin::from_template), scratch).text();
      text.bytes = decode(content);
    }
    text.skipped = special.contains(content);
  }
}

TokenizerParts read_parts(std::string_view json, std::string_view name) {
  const TokenizerDocument document = read_tokenizer_document(json, name);
  const std::string file(name);
  const auto where = [&file](const char* key) { return file + ": `" + key + "`"; };
  Fields fields(document.rest, file);
  fields.find("version");
  for (const char* key : {"truncation", "padding"}) {
    if (!fields.find(key).is_null()) {
      fail(ErrorKind::unsupported, "{} is set; Lagoon neither cuts nor fills texts on its own, it must be null", where(key));
    }
  }
  TokenizerParts parts;
  Fields model(fields.need("model"), where("model"));
  if (const Json& type = model.find("type"); type.is_string() && type != "BPE") {
    fail(ErrorKind::unsupported, "{}: the model `{}` is not one that Lagoon has (BPE)", where("model"), printable(model.need_string("type")));
  }
  if (!document.has_vocabulary) model.need("vocab", "an object of tokens and their ids");
  if (!document.has_merges) model.need("merges", "a list of pairs of tokens");
  const Ids ids = read_vocabulary(document, where("model"), parts);
  read_model_options(model, parts.model, ids);
  model.finish();
  read_merges(document, where("model"), ids, parts.model);
  read_added_tokens(fields.find("added_tokens"), where("added_tokens"), ids, parts);
  parts.normalizer = read_normalizer(fields.find("normalizer"), where("normalizer"));
  parts.pre_tokenizer = read_pre_tokenizer(fields.find("pre_tokenizer"), where("pre_tokenizer"));
  parts.frame = read_post_processor(fields.find("post_processor"), where("post_processor"));
  check_frame(parts, where("post_processor"));
  read_decoding(fields.find("decoder"), where("decoder"), parts);
  fields.finish();
  return parts;
}

}  // namespace

TokenizerParts read_tokenizer_json(std::string_view json, std::string_view name) {
  try {
    return read_parts(json, name);
  } catch (const Error& error) {
    const std::string sentence = error.what();
    const bool damaged = error.kind() == ErrorKind::corrupt;
    if ((!damaged && error.kind() != ErrorKind::unsupported) || sentence.find("; ") != std::string::npos) throw;
    throw Error(error.kind(), sentence + (damaged ? "; fetch the file again" : "; use the tokenizer.json of a Laguna model"));
  }
}

}  // namespace lagoon
