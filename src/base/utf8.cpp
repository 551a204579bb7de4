#include "base/utf8.h"

namespace lagoon {
namespace {

uint8_t byte_at(std::string_view text, size_t at) { return static_cast<uint8_t>(text[at]); }

struct Lead {
  size_t length;                                  // bytes of a whole character, 0 if no character starts so
  uint8_t second_low = 0x80, second_high = 0xbf;  // range of the second byte
};

Lead lead_of(uint8_t byte) {
  if (byte < 0x80) return {1};
  if (byte < 0xc2) return {0};
  if (byte < 0xe0) return {2};
  if (byte == 0xe0) return {3, 0xa0, 0xbf};
  if (byte == 0xed) return {3, 0x80, 0x9f};
  if (byte < 0xf0) return {3};
  if (byte == 0xf0) return {4, 0x90, 0xbf};
  if (byte < 0xf4) return {4};
  if (byte == 0xf4) return {4, 0x80, 0x8f};
  return {0};
}

/// How many of the bytes at the front agree with one character's encoding; at most lead.length.
size_t agreeing_bytes(std::string_view text, const Lead& lead) {
  size_t at = 1;
  while (at < lead.length && at < text.size()) {
    const uint8_t low = at == 1 ? lead.second_low : 0x80;
    const uint8_t high = at == 1 ? lead.second_high : 0xbf;
    if (byte_at(text, at) < low || byte_at(text, at) > high) break;
    ++at;
  }
  return at;
}

}  // namespace

size_t valid_utf8_length(std::string_view text) {
  if (text.empty()) return 0;
  const Lead lead = lead_of(byte_at(text, 0));
  if (lead.length == 0) return 0;
  return agreeing_bytes(text, lead) == lead.length ? lead.length : 0;
}

size_t invalid_utf8_length(std::string_view text, bool* could_continue) {
  const Lead lead = lead_of(byte_at(text, 0));
  if (could_continue) *could_continue = false;
  if (lead.length == 0) return 1;
  const size_t agreeing = agreeing_bytes(text, lead);
  if (could_continue) *could_continue = agreeing == text.size() && agreeing < lead.length;
  return agreeing;
}

char32_t decode_utf8(std::string_view text, size_t length) {
  if (length == 1) return byte_at(text, 0);
  char32_t code = byte_at(text, 0) & (0xff >> (length + 1));
  for (size_t at = 1; at < length; ++at) code = (code << 6) | (byte_at(text, at) & 0x3f);
  return code;
}

void append_utf8(std::string& out, char32_t code) {
  const auto put = [&out](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | (code >> 6));
    put(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    put(0xe0 | (code >> 12));
    put(0x80 | ((code >> 6) & 0x3f));
    put(0x80 | (code & 0x3f));
  } else {
    put(0xf0 | (code >> 18));
    put(0x80 | ((code >> 12) & 0x3f));
    put(0x80 | ((code >> 6) & 0x3f));
    put(0x80 | (code & 0x3f));
  }
}

bool is_valid_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = valid_utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string replace_invalid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    size_t length = valid_utf8_length(text);
    if (length > 0) {
      out.append(text.substr(0, length));
    } else {
      length = invalid_utf8_length(text);
      append_utf8(out, 0xfffd);
    }
    text.remove_prefix(length);
  }
  return out;
}

}  // namespace lagoon
