#!/usr/bin/env python3
"""check_quantized.py PROGRAM DATA: checks that folders with quantized matrices give the numbers that these stand for.

tests/peers/write_quantized.py writes the folders, and beside each one a folder with float32 numbers, as NumPy converts them
back. Attention weights, hidden states and logits of both are compared bit by bit. Exits with 77 if NumPy is not installed."""
import json
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77
try:
    import numpy as np
except ImportError:
    print("skipped: NumPy is not installed (Debian: python3-numpy)")
    sys.exit(SKIPPED)
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "peers"))
import write_gguf  # noqa: E402
import write_quantized as quantized  # noqa: E402

IDS = "3,17,64,5,99,2,41,7,120,8,33,11"
SAID = {"gptq2": "GPTQ, 2 bits", "gptq3": "GPTQ, 3 bits", "gptq8": "GPTQ, 8 bits", "awq": "AWQ, 4 bits", "mxfp4": "MXFP4, 4 bits",
        "nf4": "bitsandbytes NF4, 4 bits", "nf4_twice": "bitsandbytes NF4, 4 bits", "fp4": "bitsandbytes FP4, 4 bits",
        "int8": "bitsandbytes int8, 8 bits"}  # fmt: skip


def run(program, *arguments, code=0):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == code, f"{arguments}: exit code {done.returncode}: {done.stderr}"
    return done.stdout if code == 0 else done.stderr


def compare(program, folder, scheme, where):
    """Returns the trace of the quantized folder, after it was found equal to that of the float32 folder."""
    runs = []
    for name in (scheme, scheme + "-float"):
        run(program, "trace", "--model", folder / name, "--ids", IDS, "-o", folder / "out.safetensors")
        runs.append(write_gguf.read_safetensors(folder / "out.safetensors"))
    got, want = runs
    assert set(got) == set(want) and "logits" in got, where
    for name, numbers in want.items():
        assert np.array_equal(got[name], numbers), f"{where}: {name} differs by {np.abs(got[name] - numbers).max()}"
    return got


def check_info(program, folder, scheme, where):
    info, plain = (json.loads(run(program, "model", "info", folder / name, "--json")) for name in (scheme, scheme + "-float"))
    said = SAID.get(scheme, "GPTQ, 4 bits" if scheme.startswith("gptq") else "FP8, 8 bits")
    assert info["runnable"] and info["quantization"] == said, f"{where}: {info['quantization']}, {info['problem']}"
    assert plain["quantization"] == "" and info["parameters"] == plain["parameters"], where
    assert not info["unknown"] and not info["missing"], where
    assert f"quantization: {said}\n" in run(program, "model", "info", folder / scheme), where


def larger_gpt_oss(models):
    """The tiny gpt_oss has rows that do not fill whole blocks, so its shapes grow to 64 and 32."""
    source, random = models / "gpt_oss_tiny", np.random.default_rng(8)
    config = json.loads((source / "config.json").read_text()) | {"hidden_size": 64, "intermediate_size": 32}
    grown = {40: 64, 24: 32, 48: 64}
    tensors = {name: random.standard_normal([grown.get(n, n) for n in tensor.shape]).astype(np.float32) / 6
               for name, tensor in write_gguf.read_safetensors(source / "model.safetensors").items()}  # fmt: skip
    return tensors, config


def check_all(program, models, folder):
    for scheme in quantized.SCHEMES:
        if scheme == "mxfp4":
            tensors, config = larger_gpt_oss(models)
            quantized.convert(models / "gpt_oss_tiny", folder / scheme, scheme, tensors=tensors, config=config)
        else:
            quantized.convert(models / "llama_tiny_untied", folder / scheme, scheme)
        check_info(program, folder, scheme, scheme)
        compare(program, folder, scheme, scheme)


def check_families(program, models, folder):
    """Checks matrices that a family stores otherwise (GPT-2), packs (phi3) or has together with biases (Qwen2)."""
    for family in ("gpt2_tiny", "qwen2_tiny_bf16", "phi3_tiny"):
        for scheme in ("gptq8", "nf4", "int8", "fp8_usual"):
            place = folder / family
            quantized.convert(models / family, place / scheme, scheme)
            compare(program, place, scheme, f"{family}, {scheme}")


def check_empty_biases(program, models, folder):
    """Checks that biases of zeros, which AutoGPTQ adds to every matrix, change nothing, and that others are refused."""
    for value, code in ((0, 0), (1, 1)):
        packed, _ = quantized.convert(models / "llama_tiny_untied", folder / "gptq4", "gptq4")
        packed["model.layers.0.mlp.up_proj.bias"] = np.full(96, value, np.float16)
        quantized.write_safetensors(folder / "gptq4" / "model.safetensors", packed)
        if code == 0:
            compare(program, folder, "gptq4", "biases of zeros")
        else:
            error = run(program, "trace", "--model", folder / "gptq4", "--ids", IDS, "-o", folder / "x.safetensors", code=1)
            assert "up_proj.bias" in error, error


def check_faults(program, models, folder):
    def refused(change, words, scheme="gptq4"):
        packed, _ = quantized.convert(models / "llama_tiny_untied", folder / scheme, scheme)
        config = json.loads((folder / scheme / "config.json").read_text())
        change(packed, config["quantization_config"])
        quantized.write_safetensors(folder / scheme / "model.safetensors", packed)
        (folder / scheme / "config.json").write_text(json.dumps(config))
        error = run(program, "trace", "--model", folder / scheme, "--ids", IDS, "-o", folder / "x.safetensors", code=1)
        assert all(word in error for word in words), error

    up = "model.layers.0.mlp.up_proj."
    refused(lambda parts, said: parts.update({up + "scales": parts[up + "scales"][:1]}), [up + "qzeros", "shape"])
    refused(lambda parts, said: parts.update({up + "g_idx": parts[up + "g_idx"] + 4}), [up + "g_idx", "group 4 of 4"])
    refused(lambda parts, said: said.update(checkpoint_format="marlin"), ["GPTQ, 4 bits", "not read in this form"])
    refused(lambda parts, said: said.update(version="gemv"), ["AWQ, 4 bits", "gemv"], "awq")
    refused(lambda parts, said: parts.pop(up + "SCB"), [up + "weight holds int8"], "int8")
    refused(lambda parts, said: parts.pop(up + "weight_scale_inv"), ["FP8"], "fp8_usual")


def main():
    program, models = sys.argv[1], pathlib.Path(sys.argv[2]) / "models"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_all(program, models, folder)
        check_families(program, models, folder)
        check_empty_biases(program, models, folder)
        check_faults(program, models, folder)
    print("quantized folders: as the numbers that they stand for")


if __name__ == "__main__":
    main()
