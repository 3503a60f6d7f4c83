#!/usr/bin/env python3
r"""Continues a text of a GPT-2 checkpoint in PyTorch and in Headscope in turn, in one run, and prints the ratio.

usage: compare_generate.py HEADSCOPE FOLDER [--rounds N] [--threads N] [--json]

Not part of the build; make_checkpoint.py makes FOLDER. Both programs cache keys and values and take the most likely token.
Their tokens are compared first. compare_model.py explains how to choose PyTorch's BLAS."""
import json
import math
import statistics
import subprocess
import sys
import time

import torch
import torch.nn.functional as F

from compare_model import Gpt2, taken

T = 128


class CachedGpt2(Gpt2):
    def start(self):
        self.cache = [None] * self.layers

    def step(self, ids, first):
        """Computes tokens that follow `first` others. Returns the logits after the last of them."""
        count, width = len(ids), self.D // self.H
        x = self.w["wte.weight"][ids] + self.w["wpe.weight"][first : first + count]
        for l in range(self.layers):
            at = f"h.{l}."
            q, k, v = self.product(self.norm(x, at + "ln_1"), at + "attn.c_attn").view(count, 3, self.H, width).permute(1, 2, 0, 3)
            if first:
                k, v = torch.cat([self.cache[l][0], k], 1), torch.cat([self.cache[l][1], v], 1)
            self.cache[l] = k, v
            scores = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(width)
            if count > 1:
                scores = scores.masked_fill(self.future[:count, :count], -math.inf)
            weights = torch.softmax(scores, -1)
            x = x + self.product(torch.bmm(weights, v).transpose(0, 1).reshape(count, self.D), at + "attn.c_proj")
            inside = self.gelu_tanh(self.product(self.norm(x, at + "ln_2"), at + "mlp.c_fc"))
            x = x + self.product(inside, at + "mlp.c_proj")
        return F.linear(self.norm(x[-1:], "ln_f"), self.w["wte.weight"])[0]


def prompt_of(model):
    return torch.arange(T) * 7919 % model.vocab


def torch_run(model, steps):
    """Returns the generated ids and the median time of one step."""
    model.start()
    logits, ids, times = model.step(prompt_of(model), 0), [], []
    for n in range(steps):
        ids.append(int(logits.argmax()))
        start = time.perf_counter()
        logits = model.step(torch.tensor(ids[-1:]), T + n)
        times.append(time.perf_counter() - start)
    return ids, statistics.median(times)


def headscope_ids(program, folder, model, steps):
    prompt = ",".join(map(str, prompt_of(model).tolist()))
    command = [program, "generate", "--model", folder, "--ids", prompt, "--tokens", str(steps), "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["ids"]


def headscope_round(program, folder):
    rows = json.loads(subprocess.run([program + "-bench", "--model", folder, "--json"], check=True, capture_output=True).stdout)
    row = next(row for row in rows if row["name"] == f"a token more, greedy, T {T}")
    return row["seconds"], row["limit_seconds"]


def main():
    take = taken(__doc__)
    model = CachedGpt2(take.folder)
    with torch.no_grad():
        same = torch_run(model, 24)[0] == headscope_ids(take.program, take.folder, model, 24)
        rounds = [(torch_run(model, 48)[1], *headscope_round(take.program, take.folder)) for _ in range(take.rounds)]
    result = {
        "torch": torch.__version__,
        "T": T,
        "same_tokens": same,
        "torch_ms": statistics.median(t for t, _, _ in rounds) * 1e3,
        "ours_ms": statistics.median(o for _, o, _ in rounds) * 1e3,
        "ratio": statistics.median(t / o for t, o, _ in rounds),
        "share_of_memory_limit": statistics.median(limit / o for _, o, limit in rounds),
    }
    if take.json:
        print(json.dumps(result, indent=2))
    else:
        print(f"T {T}: PyTorch {result['torch_ms']:.1f} ms a token, ours {result['ours_ms']:.1f} ms, ratio {result['ratio']:.2f}; "
              f"ours is at {result['share_of_memory_limit']:.0%} of the memory limit")
    if not same:
        sys.exit("the tokens differ")


if __name__ == "__main__":
    main()
