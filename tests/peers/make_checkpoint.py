#!/usr/bin/env python3
"""Writes a checkpoint folder in the shape of GPT-2 with random weights and a small real tokenizer.

usage: make_checkpoint.py FOLDER [--layers N] [--width D] [--heads H] [--vocab N] [--positions N] [--seed N]

The defaults are the sizes of GPT-2 small (498 MB). The tokenizer is that of tests/data/tokenizers/gpt2_like, so that
only the first ids of the vocabulary are ever made from a text. Needs NumPy alone. The same seed gives the same bytes.
"""
import argparse
import json
import math
import pathlib
import shutil
import struct

import numpy as np

TOKENIZER = pathlib.Path(__file__).resolve().parent.parent / "data" / "tokenizers" / "gpt2_like"


def plan(layers, D, vocab, positions):
    """Name -> (shape, mean, standard deviation). Scores are spread enough for heads to differ from uniform."""
    tensors = {"transformer.wte.weight": ((vocab, D), 0, 0.08), "transformer.wpe.weight": ((positions, D), 0, 0.04)}
    after = 0.05 / math.sqrt(2 * layers)
    for l in range(layers):
        at = f"transformer.h.{l}."
        tensors |= {
            at + "ln_1.weight": ((D,), 1, 0.1), at + "ln_1.bias": ((D,), 0, 0.05),
            at + "attn.c_attn.weight": ((D, 3 * D), 0, 1.4 / math.sqrt(D)), at + "attn.c_attn.bias": ((3 * D,), 0, 0.05),
            at + "attn.c_proj.weight": ((D, D), 0, after), at + "attn.c_proj.bias": ((D,), 0, 0.02),
            at + "ln_2.weight": ((D,), 1, 0.1), at + "ln_2.bias": ((D,), 0, 0.05),
            at + "mlp.c_fc.weight": ((D, 4 * D), 0, 0.04), at + "mlp.c_fc.bias": ((4 * D,), 0, 0.05),
            at + "mlp.c_proj.weight": ((4 * D, D), 0, after), at + "mlp.c_proj.bias": ((D,), 0, 0.02),
        }
    return tensors | {"transformer.ln_f.weight": ((D,), 1, 0.1), "transformer.ln_f.bias": ((D,), 0, 0.05)}


def write_safetensors(path, tensors, seed):
    header, at = {"__metadata__": {"format": "pt"}}, 0
    for name, (shape, _, _) in tensors.items():
        size = 4 * math.prod(shape)
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    random = np.random.default_rng(seed)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for shape, mean, deviation in tensors.values():
            file.write((random.standard_normal(shape, dtype=np.float32) * np.float32(deviation) + np.float32(mean)).tobytes())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--heads", type=int, default=12)
    parser.add_argument("--vocab", type=int, default=50257)
    parser.add_argument("--positions", type=int, default=1024)
    parser.add_argument("--seed", type=int, default=1)
    take = parser.parse_args()
    take.folder.mkdir(parents=True, exist_ok=True)
    config = {
        "activation_function": "gelu_new", "architectures": ["GPT2LMHeadModel"], "layer_norm_epsilon": 1e-5,
        "model_type": "gpt2", "n_ctx": take.positions, "n_embd": take.width, "n_head": take.heads,
        "n_layer": take.layers, "n_positions": take.positions, "torch_dtype": "float32", "vocab_size": take.vocab,
    }
    (take.folder / "config.json").write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")
    for name in ["tokenizer.json", "tokenizer_config.json", "vocab.json", "merges.txt"]:
        shutil.copyfile(TOKENIZER / name, take.folder / name)
    tensors = plan(take.layers, take.width, take.vocab, take.positions)
    write_safetensors(take.folder / "model.safetensors", tensors, take.seed)


if __name__ == "__main__":
    main()
