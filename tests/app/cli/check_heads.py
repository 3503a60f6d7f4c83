#!/usr/bin/env python3
"""check_heads.py PROGRAM DATA: recomputes with NumPy every score that `headscope heads` prints.

The weights come from `headscope trace` or from an attention file; the definitions are written out here anew, so
that nothing is shared with the program.
"""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy

from check_files import read_safetensors

PROGRAM, DATA = sys.argv[1], pathlib.Path(sys.argv[2])
ENDS = {"</s>", "<eos>", "[EOS]", "[SEP]", "<sep>", "<|endoftext|>", "<|end_of_text|>"}
IDS = ["first", "previous", "self", "next", "distance", "entropy", "confidence", "largest", "share"]
compared = 0


def run(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def scores(weights, tokens):
    """Of one head, in float64. None where a score says nothing."""
    A = numpy.asarray(weights, float)
    A = A[A.any(axis=1)] if A.shape[0] != A.shape[1] else A
    full = [i for i in range(A.shape[0]) if A[i].any()]
    T = A.shape[0]
    keep = [j for j in range(A.shape[1]) if not (tokens and tokens[j] in ENDS)]
    logs = numpy.log(numpy.where(A > 0, A, 1))
    mean = lambda values: float(numpy.mean(values)) if len(values) else 0.0
    out = {
        "entropy": mean([-(A[i] * logs[i]).sum() for i in full]),
        "confidence": mean([A[i][keep].max(initial=0) for i in full]),
        "largest": mean([A[i].max() for i in full]),
    }
    if A.shape[0] != A.shape[1] or T < 2:
        return out | dict.fromkeys(["first", "previous", "self", "next", "distance"])
    place = numpy.abs(numpy.subtract.outer(numpy.arange(T), numpy.arange(T)))
    return out | {
        "first": mean([A[i, 0] for i in full if i]),
        "previous": mean([A[i, i - 1] for i in full if i]),
        "self": mean([A[i, i] for i in full]),
        "next": mean([A[i, i + 1] for i in full if i + 1 < T]),
        "distance": float((A * place).sum() / A.sum()) if A.sum() else 0.0,
    }


def same(rows, expected, what):
    global compared
    assert len(rows) == len(expected), (what, len(rows), len(expected))
    for row, want in zip(rows, expected):
        assert list(row) == ["layer", "head", "label", *IDS], (what, list(row))
        for key, value in want.items():
            got = row[key]
            if value is None:
                assert got is None, (what, key, got)
            elif not isinstance(value, float) or key == "layer":
                assert got == value, (what, key, got, value)
            else:
                assert abs(got - value) <= 2e-6 * max(1, abs(value)), (what, row["layer"], row["head"], key, got, value)
            compared += 1


def check_trace(folder, what, *problem):
    path = folder / "trace.safetensors"
    run("trace", *problem, "--stages", "weights,contributions", "-o", path)
    tensors, metadata = read_safetensors(path)
    layers = sorted({int(n.split(".")[1]) for n in tensors if n.startswith("layers.")}) or [None]
    expected = []
    for layer in layers:
        name = (lambda stage: stage) if layer is None else (lambda stage, l=layer: f"layers.{l}.{stage}")
        weights, parts = tensors[name("weights")], tensors[name("contributions")].astype(float)
        assert weights.shape[0] == 1, what
        tokens = json.loads(metadata.get("kv_tokens", metadata.get("tokens", "null")))
        tokens = tokens[0] if tokens and isinstance(tokens[0], list) else tokens
        norms = [float(numpy.linalg.norm(parts[0, h])) for h in range(parts.shape[1])]
        for h in range(weights.shape[1]):
            expected.append(
                {"layer": layer or 0, "head": h} | scores(weights[0, h], tokens) | {"share": norms[h] / sum(norms)}
            )
    same(json.loads(run("heads", *problem, "--json")), expected, what)


def check_attention(folder):
    rng = numpy.random.default_rng(3)
    A = rng.random((2, 3, 5, 5)).astype("<f4") ** 4
    A[0, 0] = numpy.tril(A[0, 0])
    A[1, 2] = numpy.eye(5, k=-1) + numpy.eye(5) * (numpy.arange(5) == 0)
    A = (A / A.sum(axis=-1, keepdims=True)).astype("<f4")
    tokens = ["<s>", "a", "</s>", "b", "[SEP]"]
    path = folder / "given.npy"
    numpy.save(path, A)
    (folder / "given.tokens.json").write_text(json.dumps(tokens))
    expected = [
        {"layer": l, "head": h} | scores(A[l, h], tokens) | {"share": None} for l in range(2) for h in range(3)
    ]
    expected[5]["label"] = "previous token"
    same(json.loads(run("heads", "--attention", path, "--json")), expected, "attention file")
    out = folder / "given.csv"
    run("heads", "--attention", path, "--scores", "distance,confidence,share", "-o", out)
    with open(out, newline="") as file:
        table = list(csv.DictReader(file))
    assert list(table[0]) == ["layer", "head", "label", "distance", "confidence", "share"], table[0]
    for row, want in zip(table, expected, strict=True):
        assert row["share"] == ""
        for key in ("distance", "confidence"):
            assert abs(float(row[key]) - want[key]) < 2e-6, (row, want)
    json_out = folder / "given.json"
    run("heads", "--attention", path, "-o", json_out)
    assert json_out.read_text() == run("heads", "--attention", path, "--json")
    # Twice as many keys as queries: positions say nothing.
    numpy.save(folder / "cross.npy", numpy.full((1, 3, 6), 1 / 6, "<f4"))
    (row,) = json.loads(run("heads", "--attention", folder / "cross.npy", "--json"))
    assert row["label"] == "" and row["previous"] is None and row["distance"] is None and row["share"] is None
    assert abs(row["entropy"] - numpy.log(6)) < 2e-6


def refused(code, *arguments):
    result = subprocess.run([PROGRAM, "heads", *map(str, arguments)], capture_output=True, text=True)
    assert result.returncode == code, (arguments, result)
    assert result.stderr.startswith("headscope: ") and not result.stdout, (arguments, result)


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    check_trace(folder, "sentence", "The cat sat down", "--preset", "first-lesson")
    check_trace(folder, "masked", "The cat sat down", "--preset", "random", "--heads", "4", "--mask", "causal")
    check_trace(folder, "cross", "The cat sat down", "--kv-sentence", "Le chat", "--preset", "translation")
    check_trace(folder, "fully masked rows", "--case", DATA / "mha/s1_fully_masked_row_bias.safetensors", "--heads", "2",
                "--mask", json.dumps([{"kind": "explicit", "allowed": [[[1] * 4, [0] * 4, [1] * 4, [1] * 4]]}]))
    check_trace(folder, "model", "--model", DATA / "models/gpt2_tiny", "--ids", "5,9,2,17,9,2")
    check_attention(folder)
    refused(1, "The cat sat down", "--scores", "previous,nonsense")
    refused(2, "The cat sat down", "--probe")
    refused(2, "The cat sat down", "--effect")
    refused(2, "The cat sat down", "-o", folder / "out.txt")
    refused(2, "The cat sat down", "--attention", folder / "given.npy")
    refused(2)
print(f"{compared} scores agree with NumPy")
