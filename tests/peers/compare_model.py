#!/usr/bin/env python3
r"""Runs the forward pass of a GPT-2 checkpoint in PyTorch and in Headscope in turn, in one run, and prints the ratio.

usage: compare_model.py HEADSCOPE FOLDER [--rounds N] [--threads N] [--json]

Not part of the build; make_checkpoint.py makes FOLDER. Needs PyTorch and NumPy. PyTorch's part is what Hugging Face's
eager GPT-2 computes, with less around it: every layer's attention weights are returned, and the logits of every token.
The results of both are compared first. Choose PyTorch's BLAS as compare_torch.py says, and see with OPENBLAS_VERBOSE=2
that OpenBLAS knows the processor: 0.3.21 takes a newer one for a Prescott and is four times slower than with
OPENBLAS_CORETYPE=SkylakeX (AVX-512) or Haswell (AVX2).
  OPENBLAS_CORETYPE=SkylakeX LD_LIBRARY_PATH=/usr/lib/x86_64-linux-gnu/openblas-openmp OMP_NUM_THREADS=2 \
    /usr/bin/python3 compare_model.py ...
"""
import argparse
import json
import math
import pathlib
import statistics
import struct
import subprocess
import sys
import tempfile
import time

import numpy as np
import torch
import torch.nn.functional as F


def read_safetensors(path):
    """Name -> tensor of a file whose tensors are all float32."""
    data = pathlib.Path(path).read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + size])
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__" or entry["dtype"] != "F32":
            continue
        begin, end = entry["data_offsets"]
        part = np.frombuffer(data, np.float32, (end - begin) // 4, 8 + size + begin)
        tensors[name] = torch.from_numpy(part.reshape(entry["shape"]).copy())
    return tensors


class Gpt2:
    def __init__(self, folder):
        config = json.loads((folder / "config.json").read_text())
        self.H, self.layers, self.eps = config["n_head"], config["n_layer"], config["layer_norm_epsilon"]
        self.w = {n.removeprefix("transformer."): t for n, t in read_safetensors(folder / "model.safetensors").items()}
        self.vocab, self.D = self.w["wte.weight"].shape
        self.future = torch.triu(torch.ones(self.w["wpe.weight"].shape[0], self.w["wpe.weight"].shape[0], dtype=torch.bool), 1)

    def product(self, x, name):
        return torch.addmm(self.w[name + ".bias"], x, self.w[name + ".weight"])

    def norm(self, x, name):
        return F.layer_norm(x, (self.D,), self.w[name + ".weight"], self.w[name + ".bias"], self.eps)

    @staticmethod
    def gelu_tanh(x):
        """PyTorch 1.13 has it as one call."""
        return F.gelu(x, approximate="tanh")

    def forward(self, ids):
        """(T,) -> hidden states, attention weights (H, T, T) of each layer, logits (T, vocab)."""
        T, width = len(ids), self.D // self.H
        x = self.w["wte.weight"][ids] + self.w["wpe.weight"][:T]
        hidden, attentions = [x], []
        for l in range(self.layers):
            at = f"h.{l}."
            q, k, v = self.product(self.norm(x, at + "ln_1"), at + "attn.c_attn").view(T, 3, self.H, width).permute(1, 2, 0, 3)
            scores = torch.baddbmm(torch.empty(1), q, k.transpose(1, 2), beta=0, alpha=1 / math.sqrt(width))
            weights = torch.softmax(scores.masked_fill_(self.future[:T, :T], -math.inf), -1)
            attentions.append(weights)
            x = x + self.product(torch.bmm(weights, v).transpose(0, 1).reshape(T, self.D), at + "attn.c_proj")
            inside = self.gelu_tanh(self.product(self.norm(x, at + "ln_2"), at + "mlp.c_fc"))
            x = x + self.product(inside, at + "mlp.c_proj")
            hidden.append(x)
        hidden[-1] = self.norm(x, "ln_f")
        return hidden, attentions, F.linear(hidden[-1], self.w["wte.weight"])


def compare(program, folder, model, ids):
    """Largest differences of attentions, hidden states and logits."""
    with tempfile.TemporaryDirectory() as place:
        out = pathlib.Path(place) / "run.safetensors"
        subprocess.run([program, "trace", "--model", folder, "--ids", ",".join(map(str, ids.tolist())), "-o", out], check=True)
        ours = read_safetensors(out)
    hidden, attentions, logits = model.forward(ids)
    gap = lambda a, b: float((a.reshape(-1) - b.reshape(-1)).abs().max())
    return {
        "attentions": max(gap(a, ours[f"layers.{l}.weights"]) for l, a in enumerate(attentions)),
        "hidden": max(gap(h, ours[f"hidden.{l}"]) for l, h in enumerate(hidden)),
        "logits": gap(logits, ours["logits"]),
    }


def torch_round(model, ids, samples=31):
    for _ in range(3):
        model.forward(ids)
    times = []
    for _ in range(samples):
        start = time.perf_counter()
        model.forward(ids)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def headscope_round(program, folder, T):
    rows = json.loads(subprocess.run([program, "bench", "--model", folder, "--json"], check=True, capture_output=True).stdout)
    return next(row["seconds"] for row in rows if row["name"] == f"forward, all attentions and logits, T {T}")


def taken(doc):
    """What the command line of a comparison of one checkpoint says; sets PyTorch's threads."""
    parser = argparse.ArgumentParser(description=doc.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    take = parser.parse_args()
    torch.set_num_threads(take.threads)
    return take


def main():
    take = taken(__doc__)
    model, T = Gpt2(take.folder), 128
    ids = torch.arange(T) * 7919 % model.vocab
    with torch.no_grad():
        gaps = compare(take.program, take.folder, model, ids)
        rounds = [(torch_round(model, ids), headscope_round(take.program, take.folder, T)) for _ in range(take.rounds)]
    result = {
        "torch": torch.__version__,
        "T": T,
        "largest_difference": gaps,
        "torch_ms": statistics.median(t for t, _ in rounds) * 1e3,
        "ours_ms": statistics.median(o for _, o in rounds) * 1e3,
        "ratio": statistics.median(t / o for t, o in rounds),
    }
    if take.json:
        print(json.dumps(result, indent=2))
    else:
        print(f"T {T}: PyTorch {result['torch_ms']:.1f} ms, ours {result['ours_ms']:.1f} ms, ratio {result['ratio']:.2f}")
        print("largest differences: " + ", ".join(f"{name} {gap:.1e}" for name, gap in gaps.items()))
    if gaps["attentions"] > 1e-5 or gaps["hidden"] > 5e-5 or gaps["logits"] > 2e-4:
        sys.exit("the results differ")


if __name__ == "__main__":
    main()
