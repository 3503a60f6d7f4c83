"""torch_peer.py: runs the standard sizes of `headscope-bench --engine` in PyTorch on CUDA and prints JSON: for each size
the median seconds of the faster of two implementations that return the output and the weights of every head, with the
results left on the device and copied to the host, as in the benchmark. Prints the reason if there is no PyTorch with
CUDA."""
import json
import math
import statistics
import sys
import time

CASES = [(1, 4, 8, 2), (1, 10, 512, 8), (1, 128, 768, 12), (1, 512, 768, 12), (1, 1024, 768, 12), (1, 2048, 1024, 16)]

try:
    import torch
    import torch.nn.functional as F
except ImportError as fault:
    print(json.dumps({"skipped": f"python3 has no PyTorch: {fault}"}))
    sys.exit()
if not torch.cuda.is_available():
    print(json.dumps({"skipped": f"PyTorch {torch.__version__} finds no CUDA device"}))
    sys.exit()


def implementations(B, T, D, H):
    module = torch.nn.MultiheadAttention(D, H, batch_first=True).eval().cuda()
    x = torch.randn(B, T, D, device="cuda")
    W, b, W_O, b_O = module.in_proj_weight, module.in_proj_bias, module.out_proj.weight, module.out_proj.bias
    width = D // H

    def direct():
        q, k, v = F.linear(x, W, b).view(B, T, 3, H, width).permute(2, 0, 3, 1, 4).unbind(0)
        weights = torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(width), -1)
        return F.linear((weights @ v).transpose(1, 2).reshape(B, T, D), W_O, b_O), weights

    return [lambda: module(x, x, x, need_weights=True, average_attn_weights=False), direct]


def median_seconds(call, to_host, samples=25):
    def once():
        results = call()
        if to_host:
            for result in results:
                result.cpu()
        torch.cuda.synchronize()

    times = []
    for _ in range(samples + 3):
        start = time.perf_counter()
        once()
        times.append(time.perf_counter() - start)
    return statistics.median(times[3:])


with torch.no_grad():
    torch.backends.cuda.matmul.allow_tf32 = False
    rows = []
    for case in CASES:
        calls = implementations(*case)
        rows.append({
            "case": case,
            "seconds_on_device": min(median_seconds(call, False) for call in calls),
            "seconds_to_host": min(median_seconds(call, True) for call in calls),
        })
print(json.dumps({"torch": torch.__version__, "device": torch.cuda.get_device_name(), "rows": rows}))
