#!/usr/bin/env python3
"""Runs the standard sizes in PyTorch and in Headscope in turn, in one run, and prints the ratios.

usage: compare_torch.py HEADSCOPE [--rounds N] [--threads N] [--json]

Not part of the build. Needs PyTorch (Debian: python3-torch). Debian's default BLAS spins against PyTorch's own
threads, which makes the comparison unfair: use the OpenMP build of OpenBLAS,
  LD_LIBRARY_PATH=/usr/lib/x86_64-linux-gnu/openblas-openmp OMP_NUM_THREADS=2 /usr/bin/python3 compare_torch.py ...
and, for peers whose allocator keeps its pages, set MALLOC_MMAP_THRESHOLD_=8589934592 and
MALLOC_TRIM_THRESHOLD_=17179869184 as well. Each round times PyTorch, then Headscope; what is printed are the
medians over the rounds, and the median of the rounds' ratios.
"""
import argparse
import json
import math
import statistics
import subprocess
import time

import torch
import torch.nn.functional as F
from torch import nn

CASES = [(1, 4, 8, 2), (1, 10, 512, 8), (1, 128, 768, 12), (1, 512, 768, 12), (1, 1024, 768, 12), (1, 2048, 1024, 16)]


def implementations(B, T, D, H):
    """Returns calls by name; each returns the output and the weights of every head."""
    module = nn.MultiheadAttention(D, H, batch_first=True).eval()
    x = torch.randn(B, T, D)
    W, b, W_O, b_O = module.in_proj_weight, module.in_proj_bias, module.out_proj.weight, module.out_proj.bias
    width = D // H

    def fused():
        """One product for Q, K and V, the scale inside the product of the scores, the softmax in place."""
        q, k, v = F.linear(x, W, b).view(B, T, 3, H, width).permute(2, 0, 3, 1, 4).reshape(3, B * H, T, width).unbind(0)
        scores = torch.baddbmm(torch.empty(1), q, k.transpose(1, 2), beta=0, alpha=1 / math.sqrt(width))
        torch.softmax(scores, -1, out=scores)
        heads = torch.bmm(scores, v).view(B, H, T, width).transpose(1, 2).reshape(B, T, D)
        return F.linear(heads, W_O, b_O), scores.view(B, H, T, T)

    return {
        "MultiheadAttention": lambda: module(x, x, x, need_weights=True, average_attn_weights=False),
        "fused": fused,
    }


def median_seconds(call, samples=25, least=2e-3):
    call()
    start = time.perf_counter()
    call()
    inner = max(1, int(least / max(time.perf_counter() - start, 1e-7)))
    times = []
    for _ in range(samples):
        start = time.perf_counter()
        for _ in range(inner):
            call()
        times.append((time.perf_counter() - start) / inner)
    return statistics.median(times)


def torch_round():
    """Returns the seconds of the best implementation of each case, and its name."""
    best = {}
    for case in CASES:
        calls = implementations(*case)
        outputs = [call() for call in calls.values()]
        for other in outputs[1:]:
            for mine, theirs in zip(outputs[0], other):
                assert torch.allclose(mine, theirs, atol=1e-4), f"the implementations of {case} disagree"
        best[case] = min((median_seconds(call), name) for name, call in calls.items())
    return best


def headscope_round(program):
    rows = json.loads(subprocess.run([program + "-bench", "--engine", "--device", "cpu", "--json"], check=True, capture_output=True).stdout)
    return {tuple(row["case"]): row for row in rows if row.get("device") == "cpu" and "case" in row}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    theirs, ours = [], []
    with torch.no_grad():
        for _ in range(options.rounds):
            theirs.append(torch_round())
            ours.append(headscope_round(options.program))
    rows = []
    for case in CASES:
        ratios = [t[case][0] / o[case]["seconds"] for t, o in zip(theirs, ours)]
        rows.append({
            "case": case,
            "peer": theirs[0][case][1],
            "peer_ms": statistics.median(t[case][0] for t in theirs) * 1e3,
            "ours_ms": statistics.median(o[case]["seconds"] for o in ours) * 1e3,
            "ratio": statistics.median(ratios),
            "share_of_limit": statistics.median(o[case]["share_of_limit"] for o in ours),
            "extra_megabytes": ours[0][case]["extra_megabytes"],
        })
    if options.json:
        print(json.dumps({"torch": torch.__version__, "rows": rows}, indent=2))
        return
    print(f"PyTorch {torch.__version__}, {options.threads} threads, weights of every head returned; milliseconds")
    for row in rows:
        print(f"{str(row['case']):22} {row['peer']:20} {row['peer_ms']:9.4f}  ours {row['ours_ms']:9.4f}"
              f"  ratio {row['ratio']:5.2f}  {row['share_of_limit']:4.0%} of the limit")


if __name__ == "__main__":
    main()
