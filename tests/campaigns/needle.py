#!/usr/bin/env python3
"""Measures how long it takes in a real window to find the one far weight of a long text with one key.

    /usr/bin/python3 tests/campaigns/needle.py build/release/headscope [--tokens 131072] [--seed 7] [--times 3] [--picture FILE.png]

Writes a project with random token vectors (D 64, one head, causal) in which two equal tokens far apart attend to each
other, opens it in a window under Xvfb, and presses N ("Next far weight") as soon as the window says that N is available.
The position of the pair is random, from the seed; only the answer is compared with it. Each line has the seconds from the
start of the program to the first picture and to the weight on screen, and the processor time of the program until then.
Needs NumPy, Xvfb, xdotool and ImageMagick."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
import desktop  # noqa: E402

D = 64
FAR = 20_000  # the smallest number of tokens between the pair
PATIENCE_S = 180


def write_safetensors(path, tensors, metadata):
    header, data = {"__metadata__": metadata}, b""
    for name, array in tensors.items():
        header[name] = {"dtype": "F32", "shape": array.shape, "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def write_project(path, tokens, random):
    """Writes a project with scores x_i x_j / 8: small for random pairs, 14 for a token of that length with itself and with
    its equal."""
    key = int(random.integers(0, tokens - FAR))
    query = int(random.integers(key + FAR, tokens))
    x = random.normal(0, 1 / 8, (1, tokens, D)).astype(numpy.float32)
    token = random.normal(0, 1, D)
    x[0, [key, query]] = token * numpy.sqrt(14 * 8) / numpy.linalg.norm(token)
    dims = {"B": 1, "Tq": tokens, "Tk": tokens, "D": D, "Dkv": D, "H": 1, "Hkv": 1, "dk": D, "dv": D}
    names = {"x": "x", "W_Q": "eye", "W_K": "eye", "W_V": "eye", "W_O": "eye"}
    project = {"format": 1, "program": "needle.py",
               "problem": {"dims": dims, "tensors": names, "mask": [{"kind": "causal"}]}}  # fmt: skip
    write_safetensors(path, {"x": x, "eye": numpy.eye(D, dtype=numpy.float32)},
                      {"headscope.project": json.dumps(project)})  # fmt: skip
    return query, key


class Window(desktop.Window):
    def wait(self, what, holds):
        if what == "the first picture":  # the base class waits until all is computed
            return None
        return super().wait(what, holds)


def processor_s(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def look(program, folder, project, picture):
    start = time.monotonic()
    with desktop.Display() as display, Window(program, display, folder, str(project)) as window:
        report = desktop.wait_for("a picture", lambda: window.report(), PATIENCE_S)
        first = time.monotonic() - start

        def listed():
            actions = window.report()["actions"]
            return any(one["id"] == "next spot" and not one["missing"] for one in actions)

        desktop.wait_for("the list of far weights", listed, PATIENCE_S)
        window.key("n")
        weight = desktop.wait_for("the weight", lambda: window.report().get("weight"), PATIENCE_S)
        found, used = time.monotonic() - start, processor_s(window.process)
        if picture:
            window.wait("the picture", lambda report: report["settled"])
            subprocess.run(["import", "-silent", "-window", "root", picture], env=window.environment, check=True)
        return first, found, used, weight


def main():
    options = argparse.ArgumentParser()
    options.add_argument("program")
    options.add_argument("--tokens", type=int, default=131_072)
    options.add_argument("--seed", type=int, default=7)
    options.add_argument("--times", type=int, default=3)
    options.add_argument("--picture")
    chosen = options.parse_args()
    program = str(pathlib.Path(chosen.program).resolve())
    missed = 0
    for seed in range(chosen.seed, chosen.seed + chosen.times):
        with tempfile.TemporaryDirectory() as folder:
            project = pathlib.Path(folder) / "needle.headscope"
            query, key = write_project(project, chosen.tokens, numpy.random.default_rng(seed))
            first, found, used, weight = look(program, folder, project, chosen.picture)
        right = (weight["query"], weight["key"]) == (query, key)
        missed += not right
        print(f"seed {seed}: first picture {first:.1f} s, query {weight['query']:,} reads key {weight['key']:,} "
              f"({weight['value']:.2f}) {found:.1f} s, processor {used:.1f} s: {'found' if right else f'the pair is {query:,} and {key:,}'}",
              flush=True)  # fmt: skip
    return missed > 0


if __name__ == "__main__":
    sys.exit(main())
