#include "text/tokenizer/added_tokens.h"

#include "base/utf8.h"
#include "text/tokenizer/unicode_newer.h"

#include <unicode/uchar.h>

#include <algorithm>

namespace lagoon {
namespace {

bool is_word_character(char32_t code) {
  const auto known = static_cast<UChar32>(known_character(code));
  constexpr uint32_t categories = U_GC_M_MASK | U_GC_ND_MASK | U_GC_PC_MASK;
  return (U_GET_GC_MASK(known) & categories) || u_hasBinaryProperty(known, UCHAR_ALPHABETIC) || u_hasBinaryProperty(known, UCHAR_JOIN_CONTROL);
}

size_t begin_of_character_before(std::string_view text, size_t end) {
  do --end;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80);
  return end;
}

char32_t character_at(std::string_view text, size_t at) {
  const std::string_view rest = text.substr(at);
  return decode_utf8(rest, valid_utf8_length(rest));
}

bool stands_alone(std::string_view text, size_t begin, size_t end) {
  if (begin > 0 && is_word_character(character_at(text, begin_of_character_before(text, begin)))) return false;
  return end == text.size() || !is_word_character(character_at(text, end));
}

size_t skip_space_back(std::string_view text, size_t at, size_t limit) {
  while (at > limit) {
    const size_t before = begin_of_character_before(text, at);
    if (!u_isUWhiteSpace(static_cast<UChar32>(character_at(text, before)))) break;
    at = before;
  }
  return std::max(at, limit);
}

size_t skip_space(std::string_view text, size_t at) {
  while (at < text.size() && u_isUWhiteSpace(static_cast<UChar32>(character_at(text, at)))) at += valid_utf8_length(text.substr(at));
  return at;
}

/// The edge of a byte, or the place in the order of bytes where it would stand.
template <typename Edges>
auto edge_of(Edges& edges, char character) {
  return std::lower_bound(edges.begin(), edges.end(), static_cast<unsigned char>(character),
                          [](const auto& edge, unsigned char byte) { return edge.first < byte; });
}

}  // namespace

size_t bytes_of(const std::vector<AddedToken>& tokens) {
  size_t bytes = 0;
  for (const AddedToken& token : tokens) bytes += token.content.size();
  return bytes;
}

void AddedTokenMatcher::add(const AddedToken& token, std::string_view text) {
  if (text.empty()) return;
  uint32_t node = 0;
  for (const char character : text) {
    auto& next = nodes_[node].next;
    const auto edge = edge_of(next, character);
    if (edge != next.end() && edge->first == static_cast<unsigned char>(character)) {
      node = edge->second;
      continue;
    }
    node = static_cast<uint32_t>(nodes_.size());
    next.emplace(edge, static_cast<unsigned char>(character), node);
    nodes_.emplace_back();
  }
  if (nodes_[node].token >= 0) return;
  nodes_[node].token = static_cast<int32_t>(tokens_.size());
  tokens_.push_back(token);
  first_bytes_.set(static_cast<unsigned char>(text[0]));
}

bool AddedTokenMatcher::find(std::string_view text, size_t from, size_t end, AddedTokenSpan& found) const {
  for (size_t begin = from; begin < end; ++begin) {
    if (!first_bytes_[static_cast<unsigned char>(text[begin])]) continue;
    int32_t token = -1;
    uint32_t node = 0;
    for (size_t at = begin; at < end; ++at) {
      const auto& next = nodes_[node].next;
      const auto edge = edge_of(next, text[at]);
      if (edge == next.end() || edge->first != static_cast<unsigned char>(text[at])) break;
      node = edge->second;
      if (nodes_[node].token < 0) continue;
      token = nodes_[node].token;
      found = {begin, at + 1, token};
    }
    if (token >= 0) return true;
  }
  return false;
}

std::vector<AddedTokenSpan> AddedTokenMatcher::cut(const MarkedText& marked) const {
  const std::string_view text = marked.text();
  std::vector<AddedTokenSpan> spans;
  size_t done = 0;  // all before it is in spans
  size_t run_begin = 0;
  for (const MarkedText::Run& run : marked.runs()) {
    size_t search = run_begin;
    run_begin = run.end;
    if (run.origin == Origin::from_data) continue;
    AddedTokenSpan match{};
    while (find(text, search, run.end, match)) {
      search = match.end;
      const AddedToken& token = tokens_[static_cast<size_t>(match.id)];
      if (token.single_word && !stands_alone(text, match.begin, match.end)) continue;
      if (token.lstrip) match.begin = skip_space_back(text, match.begin, done);
      if (token.rstrip) match.end = skip_space(text, match.end);
      if (match.begin >= match.end) continue;  // all of it is white space that the token before took along
      if (done < match.begin) spans.push_back({done, match.begin, -1});
      spans.push_back({match.begin, match.end, token.id});
      done = match.end;  // may go back: tokens that another took along as white space are found all the same
    }
  }
  if (done < text.size()) spans.push_back({done, text.size(), -1});
  return spans;
}

}  // namespace lagoon
