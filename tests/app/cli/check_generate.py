#!/usr/bin/env python3
"""check_generate.py PROGRAM DATA: recomputes every token that `headscope generate` draws with NumPy.

The logits come from `headscope trace` of the whole text. Temperature, cut-offs, random numbers and sampling are implemented
here, without code of the program."""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy

from check_files import read_safetensors

PROGRAM, DATA = sys.argv[1], pathlib.Path(sys.argv[2])
TOKENS, PROMPT = 12, [5, 7, 11, 3]
SETTINGS = [
    {},
    {"temperature": 1, "seed": 1},
    {"temperature": 0.7, "top-k": 5, "seed": 2},
    {"temperature": 1.5, "top-p": 0.8, "seed": 3},
    {"temperature": 2, "top-k": 40, "top-p": 0.5, "seed": 18446744073709551615},
]


def run(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def splitmix64(seed, count):
    """Returns number `count` of the generator, from 0, as 53 bits of a number in [0, 1)."""
    mask = 2**64 - 1
    z = (seed + (count + 1) * 0x9E3779B97F4A7C15) & mask
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & mask
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & mask
    return ((z ^ (z >> 31)) >> 11) / 2**53


def softmax(logits):
    e = numpy.exp(logits - logits.max())
    return e / e.sum()


def shares(logits, settings):
    """Returns the probability with which each token may be drawn, and the order of the tokens."""
    order = numpy.lexsort((numpy.arange(len(logits)), -logits))
    p = softmax(logits / settings["temperature"])
    if "top-k" in settings:
        p[order[settings["top-k"] :]] = 0
        p /= p.sum()
    if "top-p" in settings:
        before = numpy.cumsum(p[order]) - p[order]
        p[order[before >= settings["top-p"]]] = 0
        p /= p.sum()
    return p, order


def check(name, settings):
    folder = DATA / "models" / name
    options = [part for key, value in settings.items() for part in (f"--{key}", value)]
    ids = list(PROMPT)
    made = json.loads(
        run("generate", "--model", folder, "--ids", ",".join(map(str, ids)), "--tokens", TOKENS, *options, "--json"))
    assert made["stopped"] == "end of text" or len(made["ids"]) == TOKENS, (name, made["stopped"])
    for n, taken in enumerate(made["ids"]):
        with tempfile.TemporaryDirectory() as place:
            out = pathlib.Path(place) / "run.safetensors"
            run("trace", "--model", folder, "--ids", ",".join(map(str, ids)), "--layer", 0, "-o", out)
            logits = read_safetensors(out)[0]["logits"][0, -1].astype(float)
        model = softmax(logits)
        if settings:
            p, order = shares(logits, settings)
            draw = splitmix64(settings["seed"], len(ids))
            expected = order[numpy.searchsorted(numpy.cumsum(p[order]), draw, side="right")]
            assert made["draws"][n] == draw, (name, n, made["draws"][n], draw)
        else:
            p, expected = model, numpy.argmax(logits)
            assert made["draws"][n] is None
        assert taken == expected, (name, settings, n, taken, expected)
        assert abs(made["probabilities"][n] - p[taken]) < 1e-5, (name, settings, n)
        assert abs(made["model_probabilities"][n] - model[taken]) < 1e-5, (name, settings, n)
        ids.append(taken)
    return len(made["ids"])


def main():
    names = ["gpt2_tiny", "mistral_tiny", "gpt_neo_tiny", "phi3_tiny", "falcon_tiny", "olmo2_tiny", "gpt_oss_tiny"]
    count = sum(check(name, settings) for name in names for settings in SETTINGS)
    assert count > 200, count
    print(f"{count} tokens are those that NumPy takes")


if __name__ == "__main__":
    main()
