#!/usr/bin/env python3
"""Writes components.jsonl beside this file: what the tokenizers package makes of each component of a tokenizer.json.

Needs: pip install tokenizers==0.23.3. The first line is a small tokenizer ("base"); each further line holds the keys that replace
those of the base (those of "model" one by one) and texts with their ids and decodings. Every value is the package's.
"""
import itertools
import json
import pathlib

import tokenizers
from tokenizers.pre_tokenizers import ByteLevel

HERE = pathlib.Path(__file__).resolve().parent
PATTERNS = [
    r"\s+", r"\w+|[^\w\s]+", r"\p{N}{1,3}", r"(?i:'s|'t|'re|'ve|'m|'ll|'d)", r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"(?:\r?\n)+(?!\r?\n)", r"x*", r"(?=a)", r"\b\w", r"[[:punct:]]", r"[[:upper:]][[:lower:]]*", r"[^\W\d_]+", r"[\p{L}&&[^a-z]]+", r"[a-c[x-z]]",
    r"^.", r".$", r"(?m).+?a", r"\p{Han}+", r"\p{P}|\p{S}", r"a(?i)b|c", r"\p{N}{2}+", r"\p{M}", r"(?<=a)b", r"\h+", r"\p{^L}", r"[一-龥぀-ゟ゠-ヿ]+",
    r"\u0061|\x62", r"\p{Letter}|\p{Punctuation}", r"(a|b)\1", r"a{,2}b",
]  # fmt: skip
STRINGS = ["a", " ", "aa", "\n", "é", ""]
BEHAVIORS = ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]
TEXTS = [
    "Hello  World's 123 aabb \n\n x ", "a-b--c aab xx\r\n\tÉé ½² ſ", " <x>a <X>\t<x><x> tok,tok1 _tok_ <x>\u2003b", "日本語ABCかな12 한국 ﬁ Å I\u0307 e\u0301\u0327 ΑΣ.",
    "x<t>x <t> \n<t>y<t>", "", " ", "\U0001e030\u1c89\u0897\ua7cb\u180e \u0344 \uac00\u11a8 ǅ",
]  # fmt: skip
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}


def base():
    merges = ["Ġ Ġ", "a a", "Ġ a", "Ġ t", "o k", "Ġt ok", "t ok", "e l", "l o", "Ġ H", "el lo", "ĠĠ ĠĠ", "Ċ Ċ", "1 2", "12 3", "x x", "Ã ©", "a b"]
    vocabulary = {character: index for index, character in enumerate(sorted(ByteLevel.alphabet()))}
    for merge in merges:
        vocabulary[merge.replace(" ", "")] = len(vocabulary)
    vocabulary["<unk>"] = len(vocabulary)
    vocabulary["aab"] = len(vocabulary)  # no merge makes it
    model = {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None, "fuse_unk": False,
             "byte_fallback": False, "ignore_merges": False, "vocab": vocabulary, "merges": merges}  # fmt: skip
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None, "pre_tokenizer": BYTE_LEVEL,
            "post_processor": None, "decoder": BYTE_LEVEL, "model": model}  # fmt: skip


BASE = base()
FIRST_ADDED = len(BASE["model"]["vocab"])


def split(pattern, behavior="Isolated", invert=False):
    step = {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": invert}
    return {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [step, BYTE_LEVEL]}}


def added(contents, **flags):
    known = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": False, **flags}
    free = itertools.count(FIRST_ADDED)
    vocabulary = BASE["model"]["vocab"]
    return [{"id": vocabulary[content] if content in vocabulary else next(free), "content": content, **known} for content in contents]


def normalizers():
    yield {"type": "NFC"}
    yield {"type": "NFKC"}
    yield {"type": "Lowercase"}
    for pattern, content in [({"String": "a"}, "é"), ({"String": " "}, ""), ({"Regex": r"\s+"}, " "), ({"Regex": "x*"}, "-"), ({"Regex": "(l)(o)"}, "$1")]:
        yield {"type": "Replace", "pattern": pattern, "content": content}
    yield {"type": "Sequence", "normalizers": [{"type": "NFKC"}, {"type": "Lowercase"}, {"type": "Replace", "pattern": {"String": "tok"}, "content": "<x>"}]}
    yield {"type": "Sequence", "normalizers": []}


def post_processors():
    single = [{"SpecialToken": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "B", "type_id": 0}}]
    special = {"A": {"id": "A", "ids": [1], "tokens": ["x"]}, "B": {"id": "B", "ids": [2, 3], "tokens": ["x", "y"]}}
    template = {"type": "TemplateProcessing", "single": single, "pair": [{"Sequence": {"id": "A", "type_id": 0}}], "special_tokens": special}
    return [template, BYTE_LEVEL, {"type": "Sequence", "processors": [BYTE_LEVEL, template]}, {"type": "Sequence", "processors": []}]


def variants():
    for behavior, invert in itertools.product(BEHAVIORS, (False, True)):
        for pattern in [r"\s+", "x*", r"\w+|[^\w\s]+"]:
            yield f"split {pattern} {behavior} {invert}", split({"Regex": pattern}, behavior, invert)
        yield f"split string {behavior} {invert}", split({"String": "a"}, behavior, invert)
    for pattern in PATTERNS:
        yield f"regex {pattern}", split({"Regex": pattern})
    for text in STRINGS:
        yield f"string {text!r}", split({"String": text}, "MergedWithNext")
    for space, regex in itertools.product((False, True), repeat=2):
        step = {**BYTE_LEVEL, "add_prefix_space": space, "use_regex": regex}
        yield f"ByteLevel {space} {regex}", {"pre_tokenizer": step}
        yield f"ByteLevel {space} {regex} after a split", {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [split({"String": "a"})["pre_tokenizer"]["pretokenizers"][0], step]}}
    for index, normalizer in enumerate(normalizers()):
        yield f"normalizer {index}", {"normalizer": normalizer}
        yield f"normalizer {index} and added tokens", {"normalizer": normalizer, "added_tokens": added(["<X>", "Tok", "É"], normalized=True)}
    for flags in itertools.product((False, True), repeat=5):
        chosen = dict(zip(("single_word", "lstrip", "rstrip", "normalized", "special"), flags))
        yield f"added {flags}", {"added_tokens": added(["<x>", "tok", "<t>"], **chosen), "normalizer": {"type": "Lowercase"}}
    yield "added overlap", {"added_tokens": added(["<", "<x>", "<x><x>", "x>a", " ", "\n"]), "pre_tokenizer": {**BYTE_LEVEL, "add_prefix_space": True}}
    yield "added space taken", {"added_tokens": added(["<x>", " tok", "\n"], lstrip=True, rstrip=True)}
    for index, processor in enumerate(post_processors()):
        yield f"post-processor {index}", {"post_processor": processor}
    for index, decoder in enumerate([None, BYTE_LEVEL, {"type": "Sequence", "decoders": [BYTE_LEVEL]}, {"type": "Sequence", "decoders": []}]):
        yield f"decoder {index}", {"decoder": decoder, "added_tokens": added(["<x>"], special=True)}
    yield "ignore_merges", {"model": {"ignore_merges": True}, **split({"Regex": r"\w+"})}
    few = {token: index for index, token in enumerate(token for token in BASE["model"]["vocab"] if token not in "xyz.,-ĠÃ")}
    merges = [merge for merge in BASE["model"]["merges"] if all(part in few for part in (*merge.split(" "), merge.replace(" ", "")))]
    for unknown, fuse in itertools.product((None, "<unk>"), (False, True)):
        yield f"unknown {unknown} {fuse}", {"model": {"vocab": few, "merges": merges, "unk_token": unknown, "fuse_unk": fuse}}
    yield "merges as lists", {"model": {"merges": [merge.split(" ") for merge in BASE["model"]["merges"]], "dropout": 0.0, "end_of_word_suffix": ""}}


def main():
    lines = [{"base": BASE}]
    for name, overrides in variants():
        document = {**BASE, **overrides, "model": {**BASE["model"], **overrides.get("model", {})}}
        tokenizer = tokenizers.Tokenizer.from_str(json.dumps(document))
        cases = []
        for text in TEXTS:
            try:
                ids = tokenizer.encode(text, add_special_tokens=False).ids
            except BaseException:  # noqa: BLE001  (some replacements at the end of a text make the package panic)
                continue
            case = {"text": text, "ids": ids, "ids_bos": tokenizer.encode(text).ids}
            case["decoded"] = tokenizer.decode(ids, skip_special_tokens=False)
            case["decoded_skip"] = tokenizer.decode(ids)
            cases.append(case)
        lines.append({"name": name, "overrides": overrides, "cases": cases})
    out = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    (HERE / "components.jsonl").write_text(out, encoding="utf-8", newline="")
    print(len(lines) - 1, "variants,", sum(len(line.get("cases", [])) for line in lines), "texts")


main()
