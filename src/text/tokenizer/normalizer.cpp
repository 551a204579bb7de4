#include "text/tokenizer/normalizer.h"

#include "base/error.h"
#include "base/utf8.h"
#include "text/tokenizer/unicode_newer.h"

#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>
#include <unicode/uniset.h>

#include <utility>

namespace lagoon {
namespace {

Origin origin_of(const MarkedText& text, size_t begin, size_t end) {
  return text.all_from_template(begin, end) ? Origin::from_template : Origin::from_data;
}

void check(UErrorCode status) {
  if (U_FAILURE(status)) fail(ErrorKind::bug, "the Unicode library failed to normalize a text: {}", u_errorName(status));
}

void check_growth(size_t bytes, size_t limit) {
  if (bytes <= limit) return;
  fail(ErrorKind::unsupported,
       "the key `normalizer` of tokenizer.json makes a text longer than {} bytes; at most 1 MiB, or 16 times the text, is taken", limit);
}

class Composition : public Normalizer {
 public:
  explicit Composition(const char* name) : characters_(icu::UnicodeString("[:age=9.0:]"), status_) {
    const icu::Normalizer2* full = icu::Normalizer2::getInstance(nullptr, name, UNORM2_COMPOSE, status_);
    check(status_);
    characters_.freeze();
    normalizer_ = std::make_unique<icu::FilteredNormalizer2>(*full, characters_);
  }

  /// Cuts where nothing can join across, next to each border of origins; the stretch around the border is data's.
  MarkedText step(const MarkedText& text, RegexScratch&, size_t) const override {
    MarkedText out;
    size_t done = 0;
    for (size_t run = 0; run < text.runs().size(); ++run) {
      const size_t border = text.runs()[run].end;
      if (border <= done) continue;
      const size_t before = std::max(done, boundary_before(text.text(), border));
      append(text, done, before, text.runs()[run].origin, out);
      const size_t behind = boundary_behind(text.text(), border);
      append(text, before, behind, origin_of(text, before, behind), out);
      done = behind;
    }
    return out;
  }

 private:
  bool boundary_at(std::string_view text, size_t at) const {
    if (at == 0 || at >= text.size()) return true;
    const size_t length = valid_utf8_length(text.substr(at));
    return length > 0 && normalizer_->hasBoundaryBefore(static_cast<UChar32>(decode_utf8(text.substr(at), length)));
  }
  size_t boundary_before(std::string_view text, size_t at) const {
    while (!boundary_at(text, at)) --at;
    return at;
  }
  size_t boundary_behind(std::string_view text, size_t at) const {
    while (!boundary_at(text, at)) ++at;
    return at;
  }
  void append(const MarkedText& text, size_t begin, size_t end, Origin origin, MarkedText& out) const {
    std::string normalized;
    icu::StringByteSink<std::string> sink(&normalized);
    UErrorCode status = U_ZERO_ERROR;
    normalizer_->normalizeUTF8(0, icu::StringPiece(text.text().data() + begin, static_cast<int32_t>(end - begin)), sink, nullptr, status);
    check(status);
    out.append(normalized, origin);
  }

  UErrorCode status_ = U_ZERO_ERROR;
  icu::UnicodeSet characters_;
  std::unique_ptr<icu::FilteredNormalizer2> normalizer_;
};

class Lowercase : public Normalizer {
 public:
  MarkedText step(const MarkedText& text, RegexScratch&, size_t) const override {
    MarkedText out;
    std::string lower;
    size_t at = 0;
    for (const MarkedText::Run& run : text.runs()) {
      lower.clear();
      while (at < run.end) {
        const std::string_view rest = std::string_view(text.text()).substr(at);
        const size_t length = valid_utf8_length(rest);
        const char32_t code = decode_utf8(rest, length);
        append_utf8(lower, code == 0x130 ? U'i' : simple_lowercase(code));
        if (code == 0x130) append_utf8(lower, 0x307);
        at += length;
      }
      out.append(lower, run.origin);
    }
    return out;
  }
};

class Replace : public Normalizer {
 public:
  Replace(Pattern pattern, std::string content) : pattern_(std::move(pattern)), content_(std::move(content)) {}

  MarkedText step(const MarkedText& text, RegexScratch& scratch, size_t limit) const override {
    const std::string_view subject = text.text();
    const std::string stand_in = has_newer_character(subject) ? with_stand_ins(subject) : std::string();
    MarkedText out;
    pattern_.cut(stand_in.empty() ? subject : stand_in, scratch, [&](Match part, bool is_match) {
      if (is_match) {
        out.append(content_, origin_of(text, part.begin, part.end));
      } else {
        out.append(text.slice(part.begin, part.end - part.begin));
      }
      check_growth(out.size(), limit);
    });
    return out;
  }

 private:
  Pattern pattern_;
  std::string content_;
};

class Sequence : public Normalizer {
 public:
  explicit Sequence(std::vector<std::unique_ptr<Normalizer>> steps) : steps_(std::move(steps)) {}

  MarkedText step(const MarkedText& text, RegexScratch& scratch, size_t limit) const override {
    MarkedText out = text;
    for (const auto& step : steps_) {
      out = step->step(out, scratch, limit);
      check_growth(out.size(), limit);
    }
    return out;
  }

 private:
  std::vector<std::unique_ptr<Normalizer>> steps_;
};

}  // namespace

std::unique_ptr<Normalizer> make_nfc() { return std::make_unique<Composition>("nfc"); }
std::unique_ptr<Normalizer> make_nfkc() { return std::make_unique<Composition>("nfkc"); }
std::unique_ptr<Normalizer> make_lowercase() { return std::make_unique<Lowercase>(); }
std::unique_ptr<Normalizer> make_replace(Pattern pattern, std::string content) {
  return std::make_unique<Replace>(std::move(pattern), std::move(content));
}
std::unique_ptr<Normalizer> make_sequence(std::vector<std::unique_ptr<Normalizer>> steps) { return std::make_unique<Sequence>(std::move(steps)); }

}  // namespace lagoon
