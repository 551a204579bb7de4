// normalizer.h: what happens to a text before it is split: NFC, NFKC, Lowercase, Replace, in the order of the file.
// Marks of origin go through: a character is the template's only if all that it was made from is.
// NFC and NFKC know Unicode 9, as the crate that tokenizers uses does: newer characters stand as they are.
// Lowercase maps each character by itself (no final sigma).
#pragma once

#include "text/marked_text.h"
#include "text/tokenizer/pattern.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace lagoon {

/// The most bytes that a text may grow to: 1 MiB, or 16 times the text. The longest growth of one character under NFKC is 11 times.
constexpr size_t normalized_limit(size_t bytes) {
  constexpr size_t least = size_t{1} << 20;
  return bytes > least / 16 ? bytes * 16 : least;
}

class Normalizer {
 public:
  virtual ~Normalizer() = default;
  /// @pre valid UTF-8; the result is valid too
  /// @throws Error(unsupported) naming `normalizer` where the text grows past normalized_limit
  MarkedText apply(const MarkedText& text, RegexScratch& scratch) const { return step(text, scratch, normalized_limit(text.size())); }
  /// The same where the text may grow to `limit` bytes.
  virtual MarkedText step(const MarkedText& text, RegexScratch& scratch, size_t limit) const = 0;
};

std::unique_ptr<Normalizer> make_nfc();
std::unique_ptr<Normalizer> make_nfkc();
std::unique_ptr<Normalizer> make_lowercase();
std::unique_ptr<Normalizer> make_replace(Pattern pattern, std::string content);
std::unique_ptr<Normalizer> make_sequence(std::vector<std::unique_ptr<Normalizer>> steps);

}  // namespace lagoon
