#!/usr/bin/env python3
"""check_memory.py PROGRAM: runs commands with --memory and measures the peak resident memory of each process, as the kernel
counts it. A command stays within 10 % of the limit or exits with 3. A command with enough memory gives the same bytes as
one without a limit. The model is larger than the limits."""
import array
import json
import math
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

PROGRAM = sys.argv[1]
MB = 1_000_000
LAYERS, D, D_FF, VOCAB, HEADS = 12, 512, 1024, 3000, 8


def write_safetensors(path, shapes):
    """Writes float32 tensors with random numbers from one block: only the size of the model matters here."""
    draws = random.Random(1)
    block = array.array("f", (draws.gauss(0, 0.02) for _ in range(65536))).tobytes()
    header, end = {}, 0
    for name, shape in shapes.items():
        begin, end = end, end + 4 * math.prod(shape)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for left in range(end, 0, -len(block)):
            file.write(block[: min(left, len(block))])


def write_model(folder):
    config = {"model_type": "llama", "hidden_size": D, "intermediate_size": D_FF, "num_hidden_layers": LAYERS,
              "num_attention_heads": HEADS, "num_key_value_heads": HEADS, "vocab_size": VOCAB, "hidden_act": "silu",
              "max_position_embeddings": 4096, "rope_theta": 10000.0, "rms_norm_eps": 1e-5,
              "tie_word_embeddings": False}  # fmt: skip
    shapes = {"model.embed_tokens.weight": [VOCAB, D], "model.norm.weight": [D], "lm_head.weight": [VOCAB, D]}
    for layer in range(LAYERS):
        name = f"model.layers.{layer}."
        for part in "qkvo":
            shapes[f"{name}self_attn.{part}_proj.weight"] = [D, D]
        for part in ("gate", "up"):
            shapes[f"{name}mlp.{part}_proj.weight"] = [D_FF, D]
        shapes[name + "mlp.down_proj.weight"] = [D, D_FF]
        for part in ("input", "post_attention"):
            shapes[f"{name}{part}_layernorm.weight"] = [D]
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config))
    write_safetensors(folder / "model.safetensors", shapes)


class Run:
    """One call: its exit code, its output, and its peak in bytes."""

    def __init__(self, *arguments, memory=None):
        words = [PROGRAM, *map(str, arguments), *(["--memory", str(memory)] if memory else [])]
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            child = subprocess.Popen(words, stdout=out, stderr=err)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = self.code = os.waitstatus_to_exitcode(status)
            out.seek(0), err.seek(0)
            self.out, self.err = out.read(), err.read().decode()
        self.peak, self.words = usage.ru_maxrss * 1024, words

    def __str__(self):
        return f"{[word[:40] for word in self.words[1:8]]}: code {self.code}, {self.peak / MB:.1f} MB, {self.err!r}"


def check_held(limit, *arguments):
    run = Run(*arguments, memory=limit)
    assert run.code in (0, 3), run
    assert run.peak <= 1.1 * limit, (run, f"limit {limit / MB:.1f} MB")
    if run.code == 3:
        assert run.err.startswith("headscope: ") and run.err.count("\n") == 1, run
        assert "--memory" in run.err or "the memory limit" in run.err, run
        assert "name a smaller file" not in run.err, run
    return run


def main(folder):
    os.environ["HEADSCOPE_DEVICE"] = "cpu"
    program = Run("trace", "The cat sat", "-o", folder / "small.json")
    assert program.code == 0, program
    own = program.peak

    model, case = folder / "model", folder / "case.safetensors"
    write_model(model)
    assert (model / "model.safetensors").stat().st_size > 80 * MB
    # 33 MB of tensors, as a file that was once refused as too large.
    T, width = 60_000, 128
    write_safetensors(case, {"X": [T, width]} | {f"W_{one}": [width, width] for one in "QKVO"})
    texts = folder / "texts.txt"
    texts.write_text("Tom had a dog.\n" * 20)

    ids = ",".join(str(1 + 7 * n % (VOCAB - 1)) for n in range(200))
    of_model = ["--model", model, "--ids", ids]
    tables = ["--case", case, "--heads", 2]
    out = folder / "out"
    # A second number is the memory, on top of the program's own, with which the call has to succeed.
    calls = [
        (["trace", *of_model, "-o", f"{out}.safetensors"], 90),
        (["trace", *of_model, "--layer", 3, "--stages", "output", "-o", f"{out}.safetensors"], 90),
        (["heads", *of_model, "-o", f"{out}.csv"], 90),
        (["explain", *of_model, "--what", "logits", "--token-id", 5, "--against-id", 6, "-o", f"{out}.json"], 130),
        (["generate", *of_model, "--tokens", 3, "--json"], 90),
        (["map", *of_model, "--layer", 5, "--head", 1, "--overview", 64, "-o", f"{out}.npy"], 90),
        (["export", *of_model, "--layer", 2, "-o", f"{out}.py"], 90),
        # One run per layer and token: uses few tokens.
        (["patch", "--model", model, "--clean-ids", "1,8,15,22", "--corrupted-ids", "9,8,15,22", "--answer-id", 5,
          "--against-id", 6, "--what", "residual", "-o", f"{out}.json"], 250),
        (["map", *tables, "--head", 1, "--rect", "0:64,0:64", "-o", f"{out}.npy"], 140),
        (["heads", "--case", case, "--heads", 2], None),
        (["export", *tables, "-o", f"{out}.py"], None),
        (["trace", *tables, "--stages", "q", "-o", f"{out}.safetensors"], 140),
        (["survey", "--model", "pocket", "--texts", texts, "-o", f"{out}.db"], 60),
        (["render", "The cat sat", "--stage", "weights", "-o", f"{out}.png"], 60),
        (["render", "The cat sat", "--window", "-o", f"{out}.png"], 200),
        (["record", "The cat sat", "--stages", "-o", f"{out}.html"], 300),
    ]  # fmt: skip
    for words, enough in calls:
        tiny = Run(*words, memory="1KB")
        assert tiny.code == 3 and tiny.peak <= 1.5 * own and "--memory allows 1 KB" in tiny.err, tiny
        for more in (8, 25, 50):
            check_held(own + more * MB, *words)
        if enough:
            run = check_held(own + enough * MB, *words)
            assert run.code == 0, run
        for made in folder.glob("out*"):
            made.unlink()

    # A line of a set that does not fit ends the command, and the same command tries it again.
    prompts, results = folder / "set.jsonl", folder / "set.json"
    prompts.write_text("".join(json.dumps({"text": [1 + n % 2000 for n in range(size)]}) + "\n" for size in (5, 1200)))
    words = ["heads", "--model", model, "--prompts", prompts, "-o", results]
    for _ in range(2):
        run = check_held(own + 50 * MB, *words)
        assert run.code == 3 and "set.jsonl, line 2: " in run.err and not results.exists(), run
        kept = (folder / "set.json.part-0").read_text().splitlines()[1:]
        assert [json.loads(line)["line"] for line in kept] == [1], kept
    run = Run(*words)
    assert run.code == 0 and json.loads(results.read_text())["lines"] == [1, 2], run

    # The limit changes the cached data and not the results; without it the program uses more memory.
    whole, limited = folder / "whole.npy", folder / "limited.npy"
    words = ["export", *of_model, "--layer", 11, "--tensor", "output", "-o"]
    free, held = Run(*words, whole), check_held(own + 60 * MB, *words, limited)
    assert free.code == held.code == 0, (str(free), str(held))
    assert free.peak > 1.1 * (own + 60 * MB), free
    assert whole.read_bytes() == limited.read_bytes()


with tempfile.TemporaryDirectory() as name:
    main(pathlib.Path(name))
print("memory: held or refused")
