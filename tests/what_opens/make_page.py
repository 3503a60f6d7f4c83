#!/usr/bin/env python3
"""make_page.py PROGRAM [--check]: writes assets/manual/what-opens.md, the page that says which public checkpoints open.

Rebuilds each checkpoint of checkpoints.py small, opens it with the program, and lets the program check its numbers. A family
whose reference case (tests/data/models, made with Hugging Face's code) gives the same numbers counts as compared with Hugging
Face. With --check, writes nothing and exits with 1 if the page is not current. Uses only the standard library."""
import argparse
import concurrent.futures
import difflib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from checkpoints import CHECKPOINTS
from folders import MODELS, rebuild

PAGE = pathlib.Path(__file__).resolve().parents[2] / "assets/manual/what-opens.md"
WEIGHTS = {"safetensors": "safetensors", "parts": "safetensors in parts", "bin": "PyTorch file", "bin parts": "PyTorch files in parts",
           "gguf": "GGUF", "lora": "LoRA adapter, safetensors"}  # fmt: skip
SCHEMES = {"awq": "AWQ, 4 bits", "gptq": "GPTQ, 4 bits", "fp8": "FP8 with a scale for each row", "fp8_blocks": "FP8 with a scale for each block",
           "bnb4": "bitsandbytes, 4 bits", "mxfp4": "MXFP4"}  # fmt: skip


def run(program, *words):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HF_")} | {"LC_ALL": "C.UTF-8", "HF_HUB_OFFLINE": "1"}
    return subprocess.run([program, *map(str, words)], capture_output=True, text=True, env=environment)


def matches_reference(program, case):
    """True if the program gives the numbers that Hugging Face's code gave for a reference case."""
    folder = MODELS / case
    return run(program, "model", "check", folder, "--reference", folder / "expected.safetensors").returncode == 0


def reason_of(error, folder):
    """The program's sentence without its name and the paths of this machine."""
    sentence = error.strip().splitlines()[-1].removeprefix("headscope: ") if error.strip() else ""
    for part in (f"{folder}/config.json: ", f"{folder}: ", f"{folder}/", f"{folder} ", str(folder)):
        sentence = sentence.replace(part, "")
    unknown = re.match(r'model_type is "(.*?)"; it should be one of', sentence)
    return f"the family {unknown[1]} is not computed here" if unknown else sentence.replace("|", "\\|")


def open_small(program, checkpoint, folder):
    """Returns an empty text if the checkpoint opens and its numbers hold together, else the reason."""
    path = rebuild(checkpoint, folder)
    info = run(program, "model", "info", path, "--json")
    if info.returncode != 0:
        return reason_of(info.stderr, folder)
    found = json.loads(info.stdout)
    if not found["runnable"]:
        return reason_of(found["problem"], folder)
    lost = found["wrong_shape"] + found["unknown_in_layers"]
    if lost:
        return reason_of("has tensors that do not fit: " + ", ".join(lost[:3]), folder)
    check = run(program, "model", "check", path)
    return "" if check.returncode == 0 else reason_of("its numbers do not hold together: " + check.stdout + check.stderr, folder)


def files_of(checkpoint):
    weights = WEIGHTS[checkpoint["weights"]]
    if "quantized" in checkpoint:
        weights += " (" + SCHEMES[checkpoint["quantized"]] + ")"
    return weights, checkpoint["tokenizer"] or "none"


def rows(program):
    with tempfile.TemporaryDirectory() as place, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        cases = sorted({one["like"] for one in CHECKPOINTS if "like" in one})
        same = dict(zip(cases, pool.map(lambda case: matches_reference(program, case), cases)))
        folders = [pathlib.Path(place) / str(number) / "model" for number in range(len(CHECKPOINTS))]
        reasons = pool.map(lambda pair: open_small(program, *pair), zip(CHECKPOINTS, folders))
        for checkpoint, reason in zip(CHECKPOINTS, reasons):
            # A scheme has numbers of its own, and so has an adapter; a GGUF file has another layout.
            plain = "quantized" not in checkpoint and checkpoint["weights"] not in ("gguf", "lora")
            yield checkpoint, reason, plain and same.get(checkpoint.get("like"), False)


def page(program):
    table = list(rows(program))
    opened = [one for one in table if not one[1]]
    numbers = sum(compared for _, reason, compared in table if not reason)
    lines = [
        "# What opens", "",
        "This page is for readers who want to know whether a model that they use opens, before they",
        "[download](checkpoints.md#download-by-name) it. Afterwards you know which of the checkpoints below do, with which files, and",
        "how that was checked.", "",
        f"Of {len(table)} public checkpoints that are used a lot, over all families and kinds of files, {len(opened)} open; {len(table) - len(opened)}",
        f"do not. For {numbers} of those that open, numbers were compared with Hugging Face.", "",
        "The page is made by a script. It rebuilds each checkpoint small, with the keys of its public configuration, the names of its",
        "tensors and the kinds of its files, and opens it with the program.", "",
        "| checked | meaning |", "| --- | --- |",
        "| numbers | attention weights, hidden states and logits of a small model of the family are those of Hugging Face's code; the rebuilt checkpoint opens, and `model check` confirms its numbers in double precision |",
        "| layout | the rebuilt checkpoint opens, and `model check` confirms its numbers in double precision |", "",
        "## Checkpoints that open", "",
        "| checkpoint | family | weights | tokenizer | checked |", "| --- | --- | --- | --- | --- |",
    ]  # fmt: skip
    for checkpoint, reason, compared in table:
        if not reason:
            weights, tokenizer = files_of(checkpoint)
            lines.append(f"| {checkpoint['name']} | {checkpoint['family']} | {weights} | {tokenizer} | {'numbers' if compared else 'layout'} |")
    lines += ["", "## Checkpoints that do not open", "", "| checkpoint | family | weights | reason |", "| --- | --- | --- | --- |"]
    for checkpoint, reason, _ in table:
        if reason:
            lines.append(f"| {checkpoint['name']} | {checkpoint['family']} | {files_of(checkpoint)[0]} | {reason} |")
    lines += ["", "A model that is not on this page opens if its family and its files are in [what is read](checkpoints.md#what-is-read).",
              "`headscope model info NAME` says why one does not.", ""]  # fmt: skip
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    made = page(options.program)
    if not options.check:
        PAGE.write_text(made, encoding="utf-8")
        return 0
    kept = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    if made == kept:
        print(f"{PAGE.name} is current")
        return 0
    print("\n".join(difflib.unified_diff(kept.splitlines(), made.splitlines(), "the page", "the program", n=0, lineterm="")))
    print(f"{PAGE.name} is not current; write it anew with {pathlib.Path(__file__).name} PROGRAM")
    return 1


if __name__ == "__main__":
    sys.exit(main())
