// added_tokens.h: tokens that are found in a text before it is split, leftmost first and of those the longest.
// Tokens that are not `normalized` are found in the text as it came; the others, between those, in the normalized text.
//   single_word  only between characters that are no word characters (Alphabetic, M, Nd, Pc, Join_Control)
//   lstrip       takes the white space before it along; rstrip that behind it
#pragma once

#include "text/marked_text.h"

#include <array>
#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lagoon {

struct AddedToken {
  int32_t id = -1;
  std::string content;
  bool single_word = false;
  bool lstrip = false;
  bool rstrip = false;
  bool normalized = false;
  bool special = false;  // skip_special_tokens leaves it out of decoded text
};

/// Of all contents together.
size_t bytes_of(const std::vector<AddedToken>& tokens);

/// A token in a text, or a stretch between tokens.
struct AddedTokenSpan {
  size_t begin;  // bytes
  size_t end;
  int32_t id;  // -1: a stretch of text
};

class AddedTokenMatcher {
 public:
  /// Of two entries with the same text the one added first counts.
  /// @param text  what is looked for: the content, or its normalized form
  void add(const AddedToken& token, std::string_view text);

  bool empty() const { return tokens_.empty(); }

  /// Tokens of which every byte is the template's, and the stretches between them, in order. The white space and the words
  /// around a token count whoever wrote them.
  std::vector<AddedTokenSpan> cut(const MarkedText& text) const;

  /// The first place in [from, end) where an entry stands, whatever its flags: leftmost, then longest. False if none does.
  bool find(std::string_view text, size_t from, size_t end, AddedTokenSpan& found) const;

 private:
  struct Node {
    std::vector<std::pair<unsigned char, uint32_t>> next;  // by bytes
    int32_t token = -1;                                    // index into tokens_
  };

  std::vector<AddedToken> tokens_;
  std::vector<Node> nodes_ = std::vector<Node>(1);
  std::bitset<256> first_bytes_;
};

}  // namespace lagoon
