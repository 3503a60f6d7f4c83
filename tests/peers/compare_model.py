#!/usr/bin/env python3
r"""Runs the forward pass of a GPT-2 or Llama checkpoint in PyTorch and in Headscope in turn, in one run, and prints the
ratio.

usage: compare_model.py HEADSCOPE FOLDER [--rounds N] [--samples N] [--threads N] [--json]

Not part of the build; make_checkpoint.py makes FOLDER. Needs PyTorch and NumPy. PyTorch's part is what Hugging Face's
eager model computes, with less around it: every layer's attention weights are returned, and the logits of every token.
A checkpoint in bfloat16 runs in PyTorch in the faster one of bfloat16 and float32. The results of both
programs are compared first, in float32. Choose PyTorch's BLAS as compare_torch.py says, and see with OPENBLAS_VERBOSE=2
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
    """Returns float32 or bfloat16 tensors of a file by name; other types are left out."""
    data = pathlib.Path(path).read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + size])
    tensors = {}
    for name, entry in header.items():
        kind = {"F32": np.float32, "BF16": np.int16}.get(entry.get("dtype"))
        if kind is None:
            continue
        begin, end = entry["data_offsets"]
        part = np.frombuffer(data, kind, (end - begin) // np.dtype(kind).itemsize, 8 + size + begin)
        tensor = torch.from_numpy(part.reshape(entry["shape"]).copy())
        tensors[name] = tensor.view(torch.bfloat16) if kind is np.int16 else tensor
    return tensors


def read_checkpoint(folder):
    tensors = {}
    for path in sorted(folder.glob("*.safetensors")):
        tensors |= read_safetensors(path)
    return tensors


class Gpt2:
    def __init__(self, folder):
        config = json.loads((folder / "config.json").read_text())
        self.H, self.layers, self.eps = config["n_head"], config["n_layer"], config["layer_norm_epsilon"]
        self.w = {n.removeprefix("transformer."): t for n, t in read_checkpoint(folder).items()}
        self.vocab, self.D = self.w["wte.weight"].shape
        self.future = torch.triu(torch.ones(self.w["wpe.weight"].shape[0], self.w["wpe.weight"].shape[0], dtype=torch.bool), 1)

    def product(self, x, name):
        return torch.addmm(self.w[name + ".bias"], x, self.w[name + ".weight"])

    def norm(self, x, name):
        return F.layer_norm(x, (self.D,), self.w[name + ".weight"], self.w[name + ".bias"], self.eps)

    @staticmethod
    def gelu_tanh(x):
        """PyTorch 1.13 has this function as one call."""
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


class Llama:
    def __init__(self, folder, dtype):
        config = json.loads((folder / "config.json").read_text())
        self.H, self.Hkv = config["num_attention_heads"], config["num_key_value_heads"]
        self.layers, self.eps, self.dtype = config["num_hidden_layers"], config["rms_norm_eps"], dtype
        self.w = {n.removeprefix("model."): t.to(dtype) for n, t in read_checkpoint(folder).items()}
        self.vocab, self.D = self.w["embed_tokens.weight"].shape
        self.dk = self.D // self.H
        places, rates = config["max_position_embeddings"], torch.arange(0, self.dk, 2, dtype=torch.float32) / self.dk
        angles = torch.outer(torch.arange(places, dtype=torch.float32), config["rope_theta"] ** -rates).repeat(1, 2)
        self.cos, self.sin = angles.cos().to(dtype), angles.sin().to(dtype)
        self.future = torch.triu(torch.ones(places, places, dtype=torch.bool), 1)

    def norm(self, x, name):
        wide = x.float()
        return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)).to(self.dtype) * self.w[name + ".weight"]

    def heads(self, x, name, count, turned):
        """Returns (count, T, dk)."""
        x = F.linear(x, self.w[name + ".weight"]).view(-1, count, self.dk).transpose(0, 1)
        if not turned:
            return x
        T, half = x.shape[1], self.dk // 2
        return x * self.cos[:T] + torch.cat((-x[..., half:], x[..., :half]), -1) * self.sin[:T]

    def forward(self, ids):
        """(T,) -> hidden states, attention weights (H, T, T) of each layer, logits (T, vocab)."""
        T = len(ids)
        x = self.w["embed_tokens.weight"][ids]
        hidden, attentions = [x], []
        for l in range(self.layers):
            at = f"layers.{l}."
            inside = self.norm(x, at + "input_layernorm")
            q = self.heads(inside, at + "self_attn.q_proj", self.H, True)
            k, v = (self.heads(inside, f"{at}self_attn.{name}_proj", self.Hkv, name == "k").repeat_interleave(self.H // self.Hkv, 0)
                    for name in "kv")
            scores = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(self.dk)
            weights = torch.softmax(scores.masked_fill_(self.future[:T, :T], -math.inf).float(), -1).to(self.dtype)
            attentions.append(weights)
            x = x + F.linear(torch.bmm(weights, v).transpose(0, 1).reshape(T, self.D), self.w[at + "self_attn.o_proj.weight"])
            inside = self.norm(x, at + "post_attention_layernorm")
            gate, up = (F.linear(inside, self.w[f"{at}mlp.{name}_proj.weight"]) for name in ("gate", "up"))
            x = x + F.linear(F.silu(gate) * up, self.w[at + "mlp.down_proj.weight"])
            hidden.append(x)
        hidden[-1] = self.norm(x, "norm")
        return hidden, attentions, F.linear(hidden[-1], self.w["lm_head.weight"])


def models_of(folder):
    """Yields the checkpoint in PyTorch, in float32 first."""
    if json.loads((folder / "config.json").read_text())["model_type"] == "gpt2":
        return [Gpt2(folder)]
    stored = next(iter(read_safetensors(next(folder.glob("*.safetensors"))).values())).dtype
    return [Llama(folder, dtype) for dtype in dict.fromkeys([torch.float32, stored])]


def compare(program, folder, model, ids):
    """Returns the largest differences of attention weights, hidden states and logits."""
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


def torch_round(model, ids, samples):
    model.forward(ids)
    times = []
    for _ in range(samples):
        start = time.perf_counter()
        model.forward(ids)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def fastest(models, ids):
    """Returns the model with the shorter second pass."""
    return min(models, key=lambda model: torch_round(model, ids, 1))


def headscope_round(program, folder, T):
    rows = json.loads(subprocess.run([program + "-bench", "--model", folder, "--json"], check=True, capture_output=True).stdout)
    return next(row["seconds"] for row in rows if row["name"] == f"forward, all attentions and logits, T {T}")


def taken(doc):
    """Reads the command line of a comparison of one checkpoint; sets PyTorch's threads."""
    parser = argparse.ArgumentParser(description=doc.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--samples", type=int, default=31, help="of PyTorch in each round")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    take = parser.parse_args()
    torch.set_num_threads(take.threads)
    return take


def main():
    take = taken(__doc__)
    models, T = models_of(take.folder), 128
    ids = torch.arange(T) * 7919 % models[0].vocab
    with torch.no_grad():
        gaps = compare(take.program, take.folder, models[0], ids)
        peer = fastest(models, ids)
        rounds = [(torch_round(peer, ids, take.samples), headscope_round(take.program, take.folder, T)) for _ in range(take.rounds)]
    result = {
        "torch": torch.__version__,
        "torch_type": str(next(iter(peer.w.values())).dtype),
        "T": T,
        "largest_difference": gaps,
        "torch_ms": statistics.median(t for t, _ in rounds) * 1e3,
        "ours_ms": statistics.median(o for _, o in rounds) * 1e3,
        "ratio": statistics.median(t / o for t, o in rounds),
    }
    if take.json:
        print(json.dumps(result, indent=2))
    else:
        print(f"T {T}: PyTorch ({result['torch_type']}) {result['torch_ms']:.1f} ms, ours {result['ours_ms']:.1f} ms, ratio {result['ratio']:.2f}")
        print("largest differences: " + ", ".join(f"{name} {gap:.1e}" for name, gap in gaps.items()))
    if gaps["attentions"] > 1e-5 or gaps["hidden"] > 5e-5 or gaps["logits"] > 2e-4:
        sys.exit("the results differ")


if __name__ == "__main__":
    main()
