#!/usr/bin/env python3
r"""Ablates every head of a GPT-2 checkpoint alone, in PyTorch and in Headscope in turn, and prints the ratio of times.

usage: compare_sweep.py HEADSCOPE FOLDER [--rounds N] [--threads N] [--json]

PyTorch's loop runs the whole model once per head, as a simple script would: the head's output is zero, nothing else
changes, and only the logits of the last token are computed. Headscope's time is that of `headscope-bench --effects`. The
effects of all heads, KL(before || after) of the next token, are compared too. Has the requirements of compare_model.py,
which also explains how to choose PyTorch's BLAS."""
import json
import statistics
import subprocess
import sys
import time

import torch
import torch.nn.functional as F
from compare_model import Gpt2, taken

T = 64


class AblatedGpt2(Gpt2):
    def product(self, x, name):
        if self.off and name == f"h.{self.off[0]}.attn.c_proj":
            width = self.D // self.H
            x = x.clone()
            x[:, self.off[1] * width : (self.off[1] + 1) * width] = 0
        return super().product(x, name)

    def last_logits(self, ids, off=None):
        """Returns the logits after the last token, without head off[1] of layer off[0]."""
        self.off = off
        return self.forward(ids)


def last_token_only(model):
    """Makes the output matrix multiply only one row: the other logits are not needed."""
    table = model.w["wte.weight"]

    def linear(x, weight, *rest):
        return plain(x[-1:] if weight is table else x, weight, *rest)

    plain, F.linear = F.linear, linear


def sweep(model, ids):
    """Returns KL(before || after) of the next token for each head, (layers, heads)."""
    before = F.log_softmax(model.last_logits(ids)[2][-1].double(), -1)
    effects = []
    for l in range(model.layers):
        row = []
        for h in range(model.H):
            after = F.log_softmax(model.last_logits(ids, (l, h))[2][-1].double(), -1)
            row.append(float((before.exp() * (before - after)).sum()))
        effects.append(row)
    return effects


def torch_round(model, ids):
    """Returns (seconds, effects) of one sweep."""
    model.last_logits(ids)
    start = time.perf_counter()
    effects = sweep(model, ids)
    return time.perf_counter() - start, effects


def headscope_round(program, folder, heads):
    rows = json.loads(subprocess.run([program + "-bench", "--effects", folder, "--json"], check=True, capture_output=True).stdout)
    return next(row["seconds"] for row in rows if row["name"] == f"sweep of {heads} heads, T {T}")


def largest_gap(program, folder, ids, effects):
    told = subprocess.run([program, "heads", "--model", folder, "--ids", ",".join(map(str, ids.tolist())), "--scores", "effect",
                           "--json"], check=True, capture_output=True).stdout
    ours = {(head["layer"], head["head"]): head["effect"] for head in json.loads(told)}
    return max(abs(ours[l, h] - effect) for l, row in enumerate(effects) for h, effect in enumerate(row))


def main():
    take = taken(__doc__)
    model = AblatedGpt2(take.folder)
    last_token_only(model)
    ids = (torch.arange(T) * 7919 + 13) % model.vocab
    with torch.no_grad():
        rounds = []
        for _ in range(take.rounds):
            seconds, effects = torch_round(model, ids)
            rounds.append((seconds, headscope_round(take.program, take.folder, model.layers * model.H)))
            print("PyTorch {:.2f} s, ours {:.2f} s".format(*rounds[-1]), file=sys.stderr, flush=True)
    gap = largest_gap(take.program, take.folder, ids, effects)
    spread = lambda numbers: [min(numbers), statistics.median(numbers), max(numbers)]
    result = {
        "torch": torch.__version__,
        "T": T,
        "heads": model.layers * model.H,
        "largest_effect": max(map(max, effects)),
        "largest_difference": gap,
        "torch_s": spread([t for t, _ in rounds]),
        "ours_s": spread([o for _, o in rounds]),
        "ratio": spread([t / o for t, o in rounds]),
    }
    if take.json:
        print(json.dumps(result, indent=2))
    else:
        words = lambda name, unit: "{1:.2f}{3} ({0:.2f} to {2:.2f})".format(*result[name], unit)
        print(f"{result['heads']} heads, T {T}: PyTorch {words('torch_s', ' s')}, ours {words('ours_s', ' s')}, "
              f"ratio {words('ratio', '')}")
        print(f"largest effect {result['largest_effect']:.3g} nats, largest difference {gap:.1e}")
    if gap > 1e-5:
        sys.exit("the results differ")


if __name__ == "__main__":
    main()
