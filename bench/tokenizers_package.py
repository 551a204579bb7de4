#!/usr/bin/env python3
"""Times the `tokenizers` package and Lagoon on the same texts, one thread each, and prints both and their ratio.

Needs: pip install tokenizers==0.23.3, and a built tokenizer_bench.
Usage: python3 bench/tokenizers_package.py [--bench build/release/bench/tokenizer_bench] [--tokenizer FILE] [--rounds 5]

The texts are made from this repository: prose is its Markdown, code its C++ sources, mixed the texts of
tests/golden/tokenizer/cases.jsonl in their order (about forty scripts); each is repeated up to 2 MiB.
"""
import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"

import tokenizers  # noqa: E402  (reads the two settings above)

ROOT = pathlib.Path(__file__).resolve().parent.parent
SIZE = 2 * 1024 * 1024


def joined(paths):
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(paths))


def texts():
    markdown = [path for path in ROOT.glob("**/*.md") if "build" not in path.parts]
    code = [path for path in ROOT.glob("src/**/*") if path.suffix in (".h", ".cpp")]
    cases = (ROOT / "tests/golden/tokenizer/cases.jsonl").read_text(encoding="utf-8").split("\n")
    sources = {
        "prose": joined(markdown),
        "code": joined(code),
        "mixed": "\n".join(json.loads(line)["text"] for line in cases if line),
    }
    for name, text in sources.items():
        yield name, text * (1 + SIZE // max(1, len(text.encode())))


def package_speed(tokenizer, text, rounds):
    """The best of some rounds, in bytes per second; without offsets, which the package can leave out, and with."""
    best = {}
    for kind, encode in (("encode_batch_fast", tokenizer.encode_batch_fast), ("encode_batch", tokenizer.encode_batch)):
        for _ in range(rounds):
            begin = time.perf_counter()
            encode([text], add_special_tokens=False)
            best[kind] = max(best.get(kind, 0), len(text.encode()) / (time.perf_counter() - begin))
    return best


def lagoon_speeds(bench, folder, tokenizer):
    command = [bench, f"--texts={folder}", f"--tokenizer={tokenizer}", "--benchmark_filter=^(prose|code|mixed)$"]
    out = subprocess.run(command + ["--benchmark_format=json"], check=True, stdout=subprocess.PIPE).stdout
    return {row["name"]: row["bytes_per_second"] for row in json.loads(out)["benchmarks"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", default=ROOT / "build/release/bench/tokenizer_bench")
    parser.add_argument("--tokenizer", default=ROOT / "tests/golden/tokenizer/tokenizer.json")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    tokenizer = tokenizers.Tokenizer.from_file(str(options.tokenizer))
    with tempfile.TemporaryDirectory() as folder:
        package = {}
        for name, text in texts():
            (pathlib.Path(folder) / f"{name}.txt").write_text(text, encoding="utf-8", newline="")
            package[name] = package_speed(tokenizer, text, options.rounds)
        ours = lagoon_speeds(str(options.bench), folder, options.tokenizer)
    print(f"tokenizers {tokenizers.__version__}, one thread, MB/s (10^6 bytes)")
    for name, speeds in package.items():
        theirs = max(speeds.values())
        detail = ", ".join(f"{kind} {speed / 1e6:.1f}" for kind, speed in speeds.items())
        print(f"{name:6} lagoon {ours[name] / 1e6:7.1f}   package {theirs / 1e6:7.1f} ({detail})   ratio {ours[name] / theirs:.2f}")


if __name__ == "__main__":
    main()
