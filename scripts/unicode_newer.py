#!/usr/bin/env python3
"""Writes src/text/tokenizer/unicode_newer_tables.cpp: characters that are newer than the Unicode tables of Debian's libraries.

Debian 12 has PCRE2 10.42 (Unicode 14) and ICU 72 (Unicode 15); Hugging Face tokenizers 0.23.3 matches with Unicode 16.
Needs Python 3.11 (its own unicodedata is Unicode 14) and: pip install unicodedata2==16.0.0 tokenizers==0.23.3
Usage: python3 scripts/unicode_newer.py > src/text/tokenizer/unicode_newer_tables.cpp
"""
import sys
import unicodedata

import unicodedata2
from tokenizers import normalizers

assert unicodedata.unidata_version == "14.0.0" and unicodedata2.unidata_version == "16.0.0"

CODES = [code for code in range(0x80, 0x110000) if not 0xD800 <= code < 0xE000]
# U+180E: PCRE2's \s holds it, Oniguruma's does not; any other Cf of three bytes behaves as Oniguruma says.
CHANGED = {0x180E: "Cf"}


# Emoji get one for a stand-in, so that \p{Emoji} and the like hold as well.
EMOJI = {0x1F6DC, *range(0x1FA70, 0x1FB00)}
EMOJI_STAND_IN = 0x1F600


def length(code):
    return len(chr(code).encode())


def stand_ins():
    """The first old character for each category and length in bytes whose category has not changed since."""
    first = {}
    for code in CODES:
        category = unicodedata.category(chr(code))
        if category == unicodedata2.category(chr(code)) and code not in CHANGED:
            first.setdefault((category, length(code)), code)
    return first


def changed_ranges():
    first = stand_ins()
    ranges = []
    for code in CODES:
        category = unicodedata2.category(chr(code))
        if category == unicodedata.category(chr(code)) and code not in CHANGED:
            continue
        stand_in = EMOJI_STAND_IN if code in EMOJI else first[(category, length(code))]
        if ranges and ranges[-1][1] == code - 1 and ranges[-1][2] == stand_in:
            ranges[-1][1] = code
        else:
            ranges.append([code, code, stand_in, category])
    return ranges


def lower_pairs():
    lowercase = normalizers.Lowercase()
    pairs = []
    for code in CODES:
        theirs = lowercase.normalize_str(chr(code))
        if theirs != chr(code).lower():
            assert len(theirs) == 1
            pairs.append((code, ord(theirs)))
    return pairs


def wrapped(items, per_line):
    return "\n".join("    " + " ".join(items[i : i + per_line]) for i in range(0, len(items), per_line))


def main():
    ranges = ["{0x%04x, 0x%04x, 0x%04x}," % (first, last, stand_in) for first, last, stand_in, _ in changed_ranges()]
    pairs = ["{0x%04x, 0x%04x}," % pair for pair in lower_pairs()]
    sys.stdout.write(
        "// Made by scripts/unicode_newer.py; do not edit.\n"
        '#include "text/tokenizer/unicode_newer.h"\n\n#include <array>\n\nnamespace lagoon {\nnamespace {\n\n'
        f"constexpr std::array<NewerRange, {len(ranges)}> ranges = {{{{\n{wrapped(ranges, 5)}\n}}}};\n\n"
        f"constexpr std::array<NewerLowercase, {len(pairs)}> lowercase = {{{{\n{wrapped(pairs, 7)}\n}}}};\n\n"
        "}  // namespace\n\n"
        "std::span<const NewerRange> newer_ranges() { return ranges; }\n\n"
        "std::span<const NewerLowercase> newer_lowercase() { return lowercase; }\n\n"
        "}  // namespace lagoon\n"
    )


main()
