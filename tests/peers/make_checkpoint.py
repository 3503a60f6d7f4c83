#!/usr/bin/env python3
"""Writes a checkpoint folder with random weights and a small real tokenizer, in the shape of GPT-2 or of Llama.

usage: make_checkpoint.py FOLDER [--family gpt2|llama] [--layers N] [--width D] [--heads H] [--kv-heads N] [--mlp-width N]
                          [--vocab N] [--positions N] [--dtype F32|BF16] [--shards N] [--seed N]

The defaults are the sizes of GPT-2 small (498 MB). The tokenizer is tests/data/tokenizers/gpt2_like, so that a text uses
only the first ids of the vocabulary. Needs only NumPy. The same seed gives the same bytes."""
import argparse
import json
import math
import pathlib
import shutil
import struct

import numpy as np

TOKENIZER = pathlib.Path(__file__).resolve().parent.parent / "data" / "tokenizers" / "gpt2_like"


def plan_gpt2(take):
    """Returns (shape, mean, standard deviation) by name. Scores vary enough for heads to differ from uniform."""
    D = take.width
    tensors = {"transformer.wte.weight": ((take.vocab, D), 0, 0.08), "transformer.wpe.weight": ((take.positions, D), 0, 0.04)}
    after = 0.05 / math.sqrt(2 * take.layers)
    for l in range(take.layers):
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


def plan_llama(take):
    D, kv, d_ff = take.width, take.kv_heads * (take.width // take.heads), take.mlp_width
    tensors = {"model.embed_tokens.weight": ((take.vocab, D), 0, 0.08)}
    after = 0.05 / math.sqrt(2 * take.layers)
    for l in range(take.layers):
        at = f"model.layers.{l}."
        tensors |= {
            at + "input_layernorm.weight": ((D,), 1, 0.1),
            at + "self_attn.q_proj.weight": ((D, D), 0, 1.4 / math.sqrt(D)),
            at + "self_attn.k_proj.weight": ((kv, D), 0, 1.4 / math.sqrt(D)),
            at + "self_attn.v_proj.weight": ((kv, D), 0, 1 / math.sqrt(D)),
            at + "self_attn.o_proj.weight": ((D, D), 0, after),
            at + "post_attention_layernorm.weight": ((D,), 1, 0.1),
            at + "mlp.gate_proj.weight": ((d_ff, D), 0, 0.04), at + "mlp.up_proj.weight": ((d_ff, D), 0, 0.04),
            at + "mlp.down_proj.weight": ((D, d_ff), 0, after),
        }
    return tensors | {"model.norm.weight": ((D,), 1, 0.1), "lm_head.weight": ((take.vocab, D), 0, 0.08)}


def config_of(take):
    common = {"torch_dtype": "bfloat16" if take.dtype == "BF16" else "float32", "vocab_size": take.vocab}
    if take.family == "gpt2":
        return common | {
            "activation_function": "gelu_new", "architectures": ["GPT2LMHeadModel"], "layer_norm_epsilon": 1e-5,
            "model_type": "gpt2", "n_ctx": take.positions, "n_embd": take.width, "n_head": take.heads,
            "n_layer": take.layers, "n_positions": take.positions,
        }
    return common | {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu", "hidden_size": take.width,
        "intermediate_size": take.mlp_width, "max_position_embeddings": take.positions, "num_attention_heads": take.heads,
        "num_hidden_layers": take.layers, "num_key_value_heads": take.kv_heads, "rms_norm_eps": 1e-5, "rope_theta": 500000.0,
        "attention_bias": False, "mlp_bias": False, "tie_word_embeddings": False,
    }


def stored(values, dtype):
    """Returns float32, or the nearest bfloat16, ties to even."""
    if dtype == "F32":
        return values.tobytes()
    bits = values.view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16).tobytes()


def write_safetensors(path, tensors, dtype, random):
    header, at = {"__metadata__": {"format": "pt"}}, 0
    for name, (shape, _, _) in tensors.items():
        size = (4 if dtype == "F32" else 2) * math.prod(shape)
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for shape, mean, deviation in tensors.values():
            values = random.standard_normal(shape, dtype=np.float32) * np.float32(deviation) + np.float32(mean)
            file.write(stored(values, dtype))
    return at


def write_weights(take, tensors):
    random = np.random.default_rng(take.seed)
    if take.shards == 1:
        write_safetensors(take.folder / "model.safetensors", tensors, take.dtype, random)
        return
    names, size, where = list(tensors), 0, {}
    each = math.ceil(len(names) / take.shards)
    for n in range(take.shards):
        name = f"model-{n + 1:05}-of-{take.shards:05}.safetensors"
        part = {key: tensors[key] for key in names[n * each:(n + 1) * each]}
        size += write_safetensors(take.folder / name, part, take.dtype, random)
        where |= dict.fromkeys(part, name)
    index = {"metadata": {"total_size": size}, "weight_map": where}
    (take.folder / "model.safetensors.index.json").write_text(json.dumps(index, indent=1) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--family", choices=["gpt2", "llama"], default="gpt2")
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--heads", type=int, default=12)
    parser.add_argument("--kv-heads", type=int, help="of llama: heads that share keys and values (default: as many as heads)")
    parser.add_argument("--mlp-width", type=int, help="of llama (default: 8/3 of the width, a multiple of 64)")
    parser.add_argument("--vocab", type=int, default=50257)
    parser.add_argument("--positions", type=int, default=1024)
    parser.add_argument("--dtype", choices=["F32", "BF16"], default="F32")
    parser.add_argument("--shards", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    take = parser.parse_args()
    take.kv_heads = take.kv_heads or take.heads
    take.mlp_width = take.mlp_width or 64 * round(take.width * 8 / 3 / 64)
    take.folder.mkdir(parents=True, exist_ok=True)
    (take.folder / "config.json").write_text(json.dumps(config_of(take), indent=1) + "\n", encoding="utf-8")
    for name in ["tokenizer.json", "tokenizer_config.json", "vocab.json", "merges.txt"]:
        shutil.copyfile(TOKENIZER / name, take.folder / name)
    write_weights(take, plan_gpt2(take) if take.family == "gpt2" else plan_llama(take))


if __name__ == "__main__":
    main()
