#!/usr/bin/env python3
"""Measures the memory of the window: after the start, at every layer of a model, and after it was very large.

    tests/campaigns/memory.py build/release/headscope [FOLDER] [--tokens 1000] [--layers 6] [--size 8000]

With FOLDER (a checkpoint; tests/peers/make_checkpoint.py makes one) the window opens it with about that many tokens and
visits that many layers; without FOLDER it shows the first problem. Then it becomes SIZE x SIZE pixels large and small
again. Each line has megabytes (10^6 bytes) of /proc/PID/status: VmRSS; its part RssAnon, which is the program's own memory;
and VmHWM since the previous line. They are read after the window has been idle and has returned unused memory. Needs Xvfb
and xdotool."""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
import desktop  # noqa: E402

REST_S = 5  # the window returns memory two seconds after the last input and the last result
WORDS = "The storm closed the harbour at noon and Anna called Tom from the shop where she had bought bread . ".split()


def prompt(program, folder, tokens):
    """Returns a text of at most that many tokens, and only a few less."""
    cut = subprocess.run([program, "tokenize", "--tokenizer", folder, "--json", " ".join(WORDS)], check=True, text=True,
                         capture_output=True)  # fmt: skip
    each = len(json.loads(cut.stdout)["ids"]) / len(WORDS)
    return " ".join(WORDS[n % len(WORDS)] for n in range(int(tokens / each)))


def bytes_of(window):
    fields = dict(line.split(":", 1) for line in open(f"/proc/{window.process.pid}/status", encoding="utf-8"))
    return [int(fields[name].split()[0]) * 1024 for name in ("VmRSS", "RssAnon", "VmHWM")]


def rest(window):
    """Waits until the program's memory has stayed the same for some time."""
    since, before = time.monotonic(), 0
    while time.monotonic() - since < REST_S:
        own = bytes_of(window)[1]
        if abs(own - before) > 1e6:
            since, before = time.monotonic(), own
        time.sleep(0.2)


def tell(window, what):
    window.wait(what, lambda report: report["settled"])
    rest(window)
    rss, own, peak = (round(count / 1e6) for count in bytes_of(window))
    print(f"{what:28} VmRSS {rss:5} MB, RssAnon {own:5} MB, VmHWM since the line before {peak:5} MB", flush=True)
    # 5: resets the peak.
    pathlib.Path(f"/proc/{window.process.pid}/clear_refs").write_text("5", encoding="utf-8")


def resize(window, width, height):
    window.xdotool("search", "--class", "headscope", "windowsize", width, height)
    time.sleep(1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--tokens", type=int, default=1000)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--size", type=int, default=8000)
    options = parser.parse_args()
    arguments = []
    if options.folder:
        arguments = [options.folder, "--sentence", prompt(options.program, options.folder, options.tokens)]
    with tempfile.TemporaryDirectory() as folder, desktop.Display() as display:
        with desktop.Window(options.program, display, folder, *arguments) as window:
            tell(window, "at the start")
            for layer in range(1, options.layers + 1 if options.folder else 1):
                window.key("Page_Down")
                tell(window, f"{layer} layers on")
            resize(window, options.size, options.size)
            tell(window, f"{options.size} x {options.size}")
            resize(window, 1600, 1000)
            tell(window, "1600 x 1000 again")


if __name__ == "__main__":
    main()
