#include "text/tokenizer/components_json.h"

#include "base/error.h"
#include "text/tokenizer/fields.h"

#include <algorithm>
#include <array>
#include <utility>

namespace lagoon {
namespace {

constexpr size_t frame_limit = 1000;     // ids that a post-processor adds to a text
constexpr size_t frame_texts_limit = 8;  // times that it repeats the text
constexpr int depth_limit = 16;          // Sequences inside one another
constexpr size_t steps_limit = 64;       // of a normalizer, a pre-tokenizer, a post-processor each; published ones have a handful

/// What ByteLevel cuts with `use_regex`. Source: huggingface/tokenizers, pre_tokenizers/byte_level.rs; openai/gpt-2, encoder.py.
constexpr std::string_view byte_level_pattern = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

void check_depth(int depth, const std::string& where) {
  if (depth > depth_limit) fail(ErrorKind::unsupported, "{}: Sequences are nested deeper than {} levels", where, depth_limit);
}

/// The steps of a Sequence, of which all together have no more than the limit.
const Json& need_steps(Fields& fields, const std::string& key, size_t& steps) {
  const Json& list = fields.need_list(key);
  steps += list.size();
  if (steps > steps_limit)
    fail(ErrorKind::unsupported, "{}: with its {} steps there are {} in all, at most {} are taken", fields.where(key), list.size(), steps,
         steps_limit);
  return list;
}

std::string item(const std::string& where, size_t index) { return where + "[" + std::to_string(index) + "]"; }

Pattern read_pattern(Fields& fields) {
  Fields pattern(fields.need("pattern"), fields.where("pattern"));
  if (!pattern.find("String").is_null()) {
    Pattern made = Pattern::of_string(pattern.need_string("String"));
    pattern.finish();
    return made;
  }
  Pattern made = Pattern::of_regex(pattern.need_string("Regex"), pattern.where());
  pattern.finish();
  return made;
}

SplitBehavior read_behavior(Fields& fields) {
  constexpr std::array<std::pair<std::string_view, SplitBehavior>, 5> names = {{{"Removed", SplitBehavior::removed},
                                                                                {"Isolated", SplitBehavior::isolated},
                                                                                {"MergedWithPrevious", SplitBehavior::merged_with_previous},
                                                                                {"MergedWithNext", SplitBehavior::merged_with_next},
                                                                                {"Contiguous", SplitBehavior::contiguous}}};
  const std::string& name = fields.need_string("behavior");
  const auto found = std::find_if(names.begin(), names.end(), [&name](const auto& row) { return row.first == name; });
  if (found == names.end()) fail(ErrorKind::unsupported, "{}: the behavior `{}` is not one that Lagoon knows", fields.where(), printable(name));
  return found->second;
}

std::unique_ptr<Normalizer> read_normalizer_step(const Json& json, const std::string& where, int depth, size_t& count) {
  check_depth(depth, where);
  Fields fields(json, where);
  const std::string& type = fields.need_string("type");
  std::unique_ptr<Normalizer> made;
  if (type == "NFC") {
    made = make_nfc();
  } else if (type == "NFKC") {
    made = make_nfkc();
  } else if (type == "Lowercase") {
    made = make_lowercase();
  } else if (type == "Replace") {
    Pattern pattern = read_pattern(fields);
    made = make_replace(std::move(pattern), fields.need_string("content"));
  } else if (type == "Sequence") {
    std::vector<std::unique_ptr<Normalizer>> steps;
    for (const Json& step : need_steps(fields, "normalizers", count)) {
      steps.push_back(read_normalizer_step(step, item(fields.where("normalizers"), steps.size()), depth + 1, count));
    }
    made = make_sequence(std::move(steps));
  } else {
    fail(ErrorKind::unsupported, "{}: the normalizer `{}` is not one that Lagoon has (NFC, NFKC, Lowercase, Replace, Sequence)", where,
         printable(type));
  }
  fields.finish();
  return made;
}

struct PreTokenizerReader {
  PreTokenizer made;
  bool byte_level = false;
  size_t count = 0;

  void read(const Json& json, const std::string& where, int depth) {
    check_depth(depth, where);
    Fields fields(json, where);
    const std::string& type = fields.need_string("type");
    if (byte_level) fail(ErrorKind::unsupported, "{}: `{}` follows ByteLevel, which must be the last step", where, printable(type));
    if (type == "Sequence") {
      size_t index = 0;
      for (const Json& step : need_steps(fields, "pretokenizers", count)) read(step, item(fields.where("pretokenizers"), index++), depth + 1);
    } else if (type == "Split") {
      Pattern pattern = read_pattern(fields);
      const SplitBehavior behavior = read_behavior(fields);
      made.add_split({std::move(pattern), behavior, fields.need_bool("invert")});
    } else if (type == "ByteLevel") {
      byte_level = true;
      fields.need_bool("trim_offsets");  // about offsets, which Lagoon does not compute
      if (fields.need_bool("add_prefix_space")) made.add_prefix_space();
      if (fields.find_bool("use_regex", true)) made.add_split({Pattern::of_regex(byte_level_pattern, where), SplitBehavior::isolated, false});
    } else {
      fail(ErrorKind::unsupported, "{}: the pre-tokenizer `{}` is not one that Lagoon has (Split, ByteLevel, Sequence)", where, printable(type));
    }
    fields.finish();
  }
};

/// The ids of one special token of a template.
std::vector<int32_t> template_token(const Json& json, const std::string& where) {
  Fields fields(json, where);
  fields.need_string("id");
  fields.need_list("tokens");
  std::vector<int32_t> ids;
  for (const Json& id : fields.need_list("ids")) {
    const bool sound = id.is_number_unsigned() && id.get<uint64_t>() <= static_cast<uint64_t>(highest_token_id);
    if (!sound) fail(ErrorKind::corrupt, "{}: `ids` holds {}, ids from 0 to {} were needed", where, found_in(id), highest_token_id);
    ids.push_back(id.get<int32_t>());
  }
  fields.finish();
  return ids;
}

std::vector<int32_t> read_template(Fields& fields) {
  fields.need_list("pair");  // for two texts at once, which Lagoon never encodes
  Fields tokens(fields.need("special_tokens"), fields.where("special_tokens"));
  std::vector<int32_t> frame;
  size_t index = 0;
  size_t texts = 0;
  for (const Json& json : fields.need_list("single")) {
    Fields piece(json, item(fields.where("single"), index++));
    const auto check_length = [&](size_t more) {
      if (frame.size() + more <= frame_limit) return;
      fail(ErrorKind::unsupported, "{}: the template for one text adds more than {} ids; Lagoon takes no more", fields.where("single"), frame_limit);
    };
    check_length(1);
    if (!piece.find("Sequence").is_null()) {
      Fields sequence(piece.need("Sequence"), piece.where("Sequence"));
      if (const std::string& id = sequence.need_string("id"); id != "A") {
        fail(ErrorKind::corrupt, "{}: the template for one text uses the sequence `{}`, `A` was needed", sequence.where(), printable(id));
      }
      if (++texts > frame_texts_limit) {
        fail(ErrorKind::unsupported, "{}: the template for one text repeats the text more than {} times", fields.where("single"), frame_texts_limit);
      }
      frame.push_back(frame_text);
    } else {
      Fields special(piece.need("SpecialToken"), piece.where("SpecialToken"));
      const std::string& id = special.need_string("id");
      const std::vector<int32_t> ids = template_token(tokens.need(id), tokens.where(id));
      check_length(ids.size());
      frame.insert(frame.end(), ids.begin(), ids.end());
    }
    piece.finish();
  }
  return frame;
}

std::vector<int32_t> read_processor(const Json& json, const std::string& where, int depth, size_t& count) {
  check_depth(depth, where);
  Fields fields(json, where);
  const std::string& type = fields.need_string("type");
  const std::vector<int32_t> nothing = {frame_text};
  std::vector<int32_t> frame = nothing;
  if (type == "TemplateProcessing") {
    frame = read_template(fields);
  } else if (type == "Sequence") {
    size_t index = 0;
    for (const Json& step : need_steps(fields, "processors", count)) {
      std::vector<int32_t> made = read_processor(step, item(fields.where("processors"), index++), depth + 1, count);
      if (made == nothing) continue;
      if (frame != nothing) fail(ErrorKind::unsupported, "{}: two templates, of which tokenizers does not apply the second soundly", where);
      frame = std::move(made);
    }
  } else if (type == "ByteLevel") {  // about offsets, which Lagoon does not compute
    for (const char* key : {"add_prefix_space", "trim_offsets", "use_regex"}) fields.find_bool(key, true);
  } else {
    fail(ErrorKind::unsupported, "{}: the post-processor `{}` is not one that Lagoon has (TemplateProcessing, ByteLevel, Sequence)", where,
         printable(type));
  }
  fields.finish();
  return frame;
}

}  // namespace

std::unique_ptr<Normalizer> read_normalizer(const Json& json, const std::string& where) {
  size_t count = 0;
  return json.is_null() ? nullptr : read_normalizer_step(json, where, 0, count);
}

PreTokenizer read_pre_tokenizer(const Json& json, const std::string& where) {
  PreTokenizerReader reader;
  if (!json.is_null()) reader.read(json, where, 0);
  if (!reader.byte_level) fail(ErrorKind::unsupported, "{}: there is no ByteLevel step, and Lagoon encodes bytes only", where);
  return std::move(reader.made);
}

std::vector<int32_t> read_post_processor(const Json& json, const std::string& where) {
  size_t count = 0;
  return json.is_null() ? std::vector<int32_t>{frame_text} : read_processor(json, where, 0, count);
}

DecoderKind read_decoder(const Json& json, const std::string& where) {
  if (json.is_null()) return {false, " "};
  Fields fields(json, where);
  const std::string& type = fields.need_string("type");
  if (type == "ByteLevel") {
    for (const char* key : {"add_prefix_space", "trim_offsets", "use_regex"}) fields.find_bool(key, true);
    fields.finish();
    return {true, ""};
  }
  if (type != "Sequence")
    fail(ErrorKind::unsupported, "{}: the decoder `{}` is not one that Lagoon has (ByteLevel, Sequence)", where, printable(type));
  const Json& steps = fields.need_list("decoders");
  fields.finish();
  if (steps.size() > 1) fail(ErrorKind::unsupported, "{}: `decoders` has {} steps, Lagoon takes one ByteLevel", where, steps.size());
  if (steps.empty()) return {false, ""};
  if (steps[0].is_object() && steps[0].value("type", "") == "Sequence") fail(ErrorKind::unsupported, "{}: a Sequence inside a Sequence", where);
  return read_decoder(steps[0], item(fields.where("decoders"), 0));
}

}  // namespace lagoon
