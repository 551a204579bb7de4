#include "checkpoint/synthetic_texts.h"

#include "base/error.h"
#include "checkpoint/synthetic_shapes.h"

#include <nlohmann/json.hpp>

#include <array>
#include <utility>

namespace lagoon {
namespace {

constexpr int added_tokens = 70;
constexpr int byte_tokens = 256;

struct NamedToken {
  int id;
  std::string_view content;
};
// Those of the published vocabulary that chats are made of; \xe3\x80\x88 and \xe3\x80\x89 are angle brackets, U+3008 and U+3009.
constexpr std::array<NamedToken, 14> named_tokens{{
    {0, "\xe3\x80\x88|UNK|\xe3\x80\x89"},
    {1, "\xe3\x80\x88|CODE_START|\xe3\x80\x89"},
    {synthetic_bos, "\xe3\x80\x88|EOS|\xe3\x80\x89"},
    {3, "\xe3\x80\x88|CODE_END|\xe3\x80\x89"},
    {synthetic_pad, "\xe3\x80\x88|PAD|\xe3\x80\x89"},
    {12, "\xe3\x80\x88|MASK|\xe3\x80\x89"},
    {14, "\xe3\x80\x88|"},
    {15, "|\xe3\x80\x89"},
    {18, "<think>"},
    {19, "</think>"},
    {23, "<assistant>"},
    {24, "</assistant>"},
    {25, "<tool_call>"},
    {26, "</tool_call>"},
}};

std::string added_content(int id) {
  for (const NamedToken& token : named_tokens) {
    if (token.id == id) return std::string(token.content);
  }
  return fmt::format("\xe3\x80\x88|RESERVED_{}|\xe3\x80\x89", id);
}

/// Control tokens alone are special: what stands between < and > is part of what a chat says.
bool is_special(const std::string& content) { return content.front() != '<' && content.ends_with("|\xe3\x80\x89") && content.size() > 4; }

bool stands_for_itself(int byte) { return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174; }

std::string utf8_below_2048(int character) {
  if (character < 0x80) return {static_cast<char>(character)};
  return {static_cast<char>(0xc0 | character >> 6), static_cast<char>(0x80 | (character & 0x3f))};
}

/// The byte-level alphabet: bytes that are printable first, then the others as U+0100 and on.
std::array<std::string, byte_tokens> byte_alphabet() {
  std::array<std::string, byte_tokens> alphabet;
  size_t at = 0;
  for (int byte = 0; byte < byte_tokens; ++byte) {
    if (stands_for_itself(byte)) alphabet[at++] = utf8_below_2048(byte);
  }
  for (int character = 0x100; at < alphabet.size(); ++character) alphabet[at++] = utf8_below_2048(character);
  return alphabet;
}

Json added_token(int id) {
  const std::string content = added_content(id);
  return {{"id", id},        {"content", content},  {"single_word", false},          {"lstrip", false},
          {"rstrip", false}, {"normalized", false}, {"special", is_special(content)}};
}

}  // namespace

std::string synthetic_tokenizer(int vocabulary) {
  require(vocabulary >= added_tokens + byte_tokens, "a vocabulary without room for every byte");
  // Written out, since objects of this kind of Json find their keys by search. "\u0120" is the blank of the alphabet.
  std::string vocab;
  const auto add = [&vocab](const std::string& token, int id) { vocab += fmt::format("{}{}:{}", id == 0 ? "" : ",", Json(token).dump(), id); };
  Json added = Json::array();
  for (int id = 0; id < added_tokens; ++id) {
    add(added_content(id), id);
    added.push_back(added_token(id));
  }
  const auto alphabet = byte_alphabet();
  for (int at = 0; at < byte_tokens; ++at) add(alphabet[static_cast<size_t>(at)], added_tokens + at);
  for (int id = added_tokens + byte_tokens; id < vocabulary; ++id) add(fmt::format("\xc4\xa0w{}", id), id);

  const std::string eos = added_content(synthetic_bos);
  const Json piece = {{"SpecialToken", {{"id", eos}, {"type_id", 0}}}};
  const Json first = {{"Sequence", {{"id", "A"}, {"type_id", 0}}}};
  const Json second = {{"Sequence", {{"id", "B"}, {"type_id", 0}}}};
  Json frame = {{"type", "TemplateProcessing"}, {"single", Json::array({piece, first})}, {"pair", Json::array({piece, first, piece, second})}};
  frame["special_tokens"][eos] = {{"id", eos}, {"ids", Json::array({synthetic_bos})}, {"tokens", Json::array({eos})}};
  const Json byte_level = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", false}};
  return fmt::format(
      "{{\"version\":\"1.0\",\"truncation\":null,\"padding\":null,\"added_tokens\":{},\"normalizer\":null,\"pre_tokenizer\":{},\"post_processor\":{},"
      "\"decoder\":{},\"model\":{{\"type\":\"BPE\",\"dropout\":null,\"unk_token\":null,\"continuing_subword_prefix\":null,\"end_of_word_suffix\":"
      "null,"
      "\"fuse_unk\":false,\"byte_fallback\":false,\"ignore_merges\":false,\"vocab\":{{{}}},\"merges\":[]}}}}\n",
      added.dump(), byte_level.dump(), frame.dump(), byte_level.dump(), vocab);
}

Json synthetic_tokenizer_config() {
  Json config;
  config["tokenizer_class"] = "PreTrainedTokenizerFast";
  config["clean_up_tokenization_spaces"] = false;
  config["bos_token"] = added_content(synthetic_bos);
  config["eos_token"] = added_content(synthetic_bos);
  config["pad_token"] = added_content(synthetic_pad);
  config["unk_token"] = added_content(0);
  return config;
}

std::string synthetic_chat_template() {
  return "{#- Chat format of a checkpoint with random weights: each message between tags of its role. -#}\n"
         "{{- '\xe3\x80\x88|EOS|\xe3\x80\x89' -}}\n"
         "{%- for message in messages -%}\n"
         "  {{- '<' + message.role + '>' + (message.content or '') + '</' + message.role + '>\\n' -}}\n"
         "{%- endfor -%}\n"
         "{%- if add_generation_prompt -%}\n"
         "  {{- '<assistant>' + ('<think>' if enable_thinking else '</think>') -}}\n"
         "{%- endif -%}\n";
}

Json synthetic_generation_config() {
  Json config;
  config["bos_token_id"] = synthetic_bos;
  config["eos_token_id"] = Json::array({synthetic_bos, 24});
  config["pad_token_id"] = synthetic_pad;
  config["do_sample"] = true;
  config["temperature"] = 1.0;
  config["top_p"] = 1.0;
  return config;
}

}  // namespace lagoon
