#!/usr/bin/env python3
"""write_gguf.py FOLDER OUT.gguf [--type Q8_0] [--version 3]: writes a Hugging Face checkpoint folder as one GGUF file.

Based on the public description of the format (ggml's docs/gguf.md), of its blocks (ggml-common.h) and of the changes that
llama.cpp's converter makes to the tensors. Uses only NumPy. The quantizers only have to be valid, not good.

A file holds, little-endian: "GGUF", the version (u32), the numbers of tensors and of keys (u64 each); each key as a string
(u64 length, bytes), a type (u32) and a value; each tensor as its name, the number of axes (u32), the extents with the
innermost first (u64 each), a type (u32) and an offset (u64); zeros up to a multiple of general.alignment (32); the tensors,
each at a multiple of it.
"""
import argparse
import json
import pathlib
import struct

import numpy as np

ALIGNMENT = 32

# Values of metadata: (type, bytes).
U32, I32, F32, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9


def text(value):
    raw = value.encode()
    return struct.pack("<Q", len(raw)) + raw


PACK = {
    U32: lambda v: struct.pack("<I", v),
    I32: lambda v: struct.pack("<i", v),
    F32: lambda v: struct.pack("<f", v),
    BOOL: lambda v: struct.pack("<?", v),
    STRING: text,
}


def value(kind, one):
    return struct.pack("<I", kind) + PACK[kind](one)


def array(kind, many):
    return struct.pack("<IIQ", ARRAY, kind, len(many)) + b"".join(PACK[kind](one) for one in many)


# Numbers of tensors: name -> (type, numbers of a block, bytes of a block, quantizer, dequantizer). The quantizer takes
# blocks (n, numbers) of float32 and returns (n, bytes) of uint8; the dequantizer is its inverse.


def half(numbers):
    return numbers.astype("<f2").view(np.uint8).reshape(len(numbers), 2)


def as_float(two_bytes):
    return np.ascontiguousarray(two_bytes).view("<f2").astype(np.float32)


def inverse(d):
    return np.divide(1.0, d, out=np.zeros_like(d), where=d != 0)


def pack_nibbles(q):
    """Packs number i of 32 and number i + 16 into byte i."""
    return (q[:, :16] | q[:, 16:] << 4).astype(np.uint8)


def nibbles(raw):
    return np.concatenate([raw & 15, raw >> 4], axis=1).astype(np.uint8)


def quantise_symmetric(x, bits):
    """Q4_0 and Q5_0: q - 2^(bits-1) times d, where the number of largest size is the lowest q."""
    middle = 1 << bits - 1
    largest = np.take_along_axis(x, np.abs(x).argmax(axis=1, keepdims=True), axis=1)
    d = half(largest[:, 0] / -middle)
    q = np.clip(np.rint(x * inverse(as_float(d))) + middle, 0, 2 * middle - 1).astype(np.uint32)
    return d, q


def quantise_from_least(x, bits):
    """Q4_1 and Q5_1: q times d plus the least number."""
    least = x.min(axis=1, keepdims=True)
    d, m = half((x.max(axis=1) - least[:, 0]) / ((1 << bits) - 1)), half(least[:, 0])
    q = np.clip(np.rint((x - as_float(m)) * inverse(as_float(d))), 0, (1 << bits) - 1).astype(np.uint32)
    return d, m, q


def fifth_bits(q):
    return np.packbits((q >> 4).astype(np.uint8), axis=1, bitorder="little")


def with_fifth(low, bits):
    return low | np.unpackbits(bits, axis=1, bitorder="little") << 4


def q4_0(x):
    d, q = quantise_symmetric(x, 4)
    return np.concatenate([d, pack_nibbles(q)], axis=1)


def from_q4_0(raw):
    return (nibbles(raw[:, 2:]).astype(np.float32) - 8) * as_float(raw[:, :2])


def q4_1(x):
    d, m, q = quantise_from_least(x, 4)
    return np.concatenate([d, m, pack_nibbles(q)], axis=1)


def from_q4_1(raw):
    return nibbles(raw[:, 4:]).astype(np.float32) * as_float(raw[:, :2]) + as_float(raw[:, 2:4])


def q5_0(x):
    d, q = quantise_symmetric(x, 5)
    return np.concatenate([d, fifth_bits(q), pack_nibbles(q & 15)], axis=1)


def from_q5_0(raw):
    return (with_fifth(nibbles(raw[:, 6:]), raw[:, 2:6]).astype(np.float32) - 16) * as_float(raw[:, :2])


def q5_1(x):
    d, m, q = quantise_from_least(x, 5)
    return np.concatenate([d, m, fifth_bits(q), pack_nibbles(q & 15)], axis=1)


def from_q5_1(raw):
    return with_fifth(nibbles(raw[:, 8:]), raw[:, 4:8]).astype(np.float32) * as_float(raw[:, :2]) + as_float(raw[:, 2:4])


def q8_0(x):
    d = half(np.abs(x).max(axis=1) / 127)
    q = np.clip(np.rint(x * inverse(as_float(d))), -127, 127).astype(np.int8)
    return np.concatenate([d, q.view(np.uint8)], axis=1)


def from_q8_0(raw):
    return raw[:, 2:].view(np.int8).astype(np.float32) * as_float(raw[:, :2])


STEPS = np.array([-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113], np.float32)


def iq4_nl(x):
    d = half(np.abs(x).max(axis=1) / 127)
    q = np.abs((x * inverse(as_float(d)))[:, :, None] - STEPS).argmin(axis=2)
    return np.concatenate([d, pack_nibbles(q)], axis=1)


def from_iq4_nl(raw):
    return as_float(raw[:, :2]) * STEPS[nibbles(raw[:, 2:])]


def spread(raw, width, shifts):
    """Unpacks the bits of 256 numbers: for every `width` bytes first the lowest bits of all, then the next ones."""
    parts = raw.reshape(len(raw), -1, 1, width) >> np.array(shifts, np.uint8).reshape(1, 1, -1, 1)
    return parts.reshape(len(raw), -1)


def gathered(q, width, shifts):
    """The inverse of spread."""
    parts = q.reshape(len(q), -1, len(shifts), width).astype(np.uint32) << np.array(shifts, np.uint32).reshape(1, 1, -1, 1)
    return np.bitwise_or.reduce(parts, axis=2).reshape(len(q), -1).astype(np.uint8)


def quantise_groups(x, size, steps, scale_steps):
    """Groups of `size` numbers: q in 0..steps times a scale less a least number, both whole multiples of one number of the
    block of 256. Returns d, dmin (halves), scales, mins, q."""
    groups = x.reshape(len(x), -1, size)
    least = np.maximum(-groups.min(axis=2), 0)
    scales = (groups.max(axis=2) + least) / steps
    d, dmin = half(scales.max(axis=1) / scale_steps), half(least.max(axis=1) / scale_steps)
    s = np.clip(np.rint(scales * inverse(as_float(d))), 0, scale_steps).astype(np.uint8)
    m = np.clip(np.rint(least * inverse(as_float(dmin))), 0, scale_steps).astype(np.uint8)
    own = (as_float(d) * s)[:, :, None]
    q = np.clip(np.rint((groups + (as_float(dmin) * m)[:, :, None]) * inverse(own)), 0, steps).astype(np.uint8)
    return d, dmin, s, m, q.reshape(len(x), -1)


def q2_k(x):
    d, dmin, s, m, q = quantise_groups(x, 16, 3, 15)
    return np.concatenate([s | m << 4, gathered(q, 32, [0, 2, 4, 6]), d, dmin], axis=1)


def from_q2_k(raw):
    s, m = as_float(raw[:, 80:82]) * (raw[:, :16] & 15), as_float(raw[:, 82:84]) * (raw[:, :16] >> 4)
    q = (spread(raw[:, 16:80], 32, [0, 2, 4, 6]) & 3).reshape(len(raw), 16, 16).astype(np.float32)
    return (s[:, :, None] * q - m[:, :, None]).reshape(len(raw), 256).astype(np.float32)


def signed_groups(x, middle, scale_middle):
    """Groups of 16: q - middle times a scale, which is a whole multiple, -scale_middle or more, of one number."""
    groups = x.reshape(len(x), 16, 16)
    scales = np.abs(groups).max(axis=2) / (middle - 1 if middle > 4 else middle)
    d = half(scales.max(axis=1) / (scale_middle - 1))
    s = np.clip(np.rint(scales * inverse(as_float(d))), 0, scale_middle - 1).astype(np.int8)
    q = np.rint(groups * inverse((as_float(d) * s)[:, :, None])) + middle
    return d, s, np.clip(q, 0, 2 * middle - 1).astype(np.uint8).reshape(len(x), 256)


def q3_k(x):
    d, s, q = signed_groups(x, 4, 32)
    u = (s + 32).astype(np.uint8)
    low = (u[:, :8] & 15) | (u[:, 8:] & 15) << 4
    return np.concatenate([gathered(q >> 2, 32, range(8)), gathered(q & 3, 32, [0, 2, 4, 6]), low,
                           gathered(u >> 4, 4, [0, 2, 4, 6]), d], axis=1)  # fmt: skip


def from_q3_k(raw):
    low = np.concatenate([raw[:, 96:104] & 15, raw[:, 96:104] >> 4], axis=1)
    u = low | (spread(raw[:, 104:108], 4, [0, 2, 4, 6]) & 3) << 4
    q = spread(raw[:, 32:96], 32, [0, 2, 4, 6]) & 3 | (spread(raw[:, :32], 32, range(8)) & 1) << 2
    s = as_float(raw[:, 108:110]) * (u.astype(np.float32) - 32)
    return (s[:, :, None] * (q.reshape(len(raw), 16, 16).astype(np.float32) - 4)).reshape(len(raw), 256)


def pack_six_bits(s, m):
    """8 scales and 8 minima of 6 bits in 12 bytes: the last four of each are cut into 4 and 2 bits."""
    return np.concatenate([s[:, :4] | s[:, 4:] >> 4 << 6, m[:, :4] | m[:, 4:] >> 4 << 6,
                           (s[:, 4:] & 15) | (m[:, 4:] & 15) << 4], axis=1)  # fmt: skip


def six_bits(raw):
    a, b, c = raw[:, :4], raw[:, 4:8], raw[:, 8:]
    return (np.concatenate([a & 63, c & 15 | a >> 6 << 4], axis=1), np.concatenate([b & 63, c >> 4 | b >> 6 << 4], axis=1))


def q4_k(x):
    d, dmin, s, m, q = quantise_groups(x, 32, 15, 63)
    return np.concatenate([d, dmin, pack_six_bits(s, m), gathered(q, 32, [0, 4])], axis=1)


def q5_k(x):
    d, dmin, s, m, q = quantise_groups(x, 32, 31, 63)
    return np.concatenate([d, dmin, pack_six_bits(s, m), gathered(q >> 4, 32, range(8)), gathered(q & 15, 32, [0, 4])], axis=1)


def from_scaled(raw, q):
    s, m = six_bits(raw[:, 4:16])
    q = q.reshape(len(raw), 8, 32).astype(np.float32)
    scaled = (as_float(raw[:, :2]) * s.astype(np.float32))[:, :, None] * q
    return (scaled - (as_float(raw[:, 2:4]) * m.astype(np.float32))[:, :, None]).reshape(len(raw), 256)


def from_q4_k(raw):
    return from_scaled(raw, spread(raw[:, 16:], 32, [0, 4]) & 15)


def from_q5_k(raw):
    return from_scaled(raw, spread(raw[:, 48:], 32, [0, 4]) & 15 | (spread(raw[:, 16:48], 32, range(8)) & 1) << 4)


def q6_k(x):
    d, s, q = signed_groups(x, 32, 128)
    return np.concatenate([gathered(q & 15, 64, [0, 4]), gathered(q >> 4, 32, [0, 2, 4, 6]), s.view(np.uint8), d], axis=1)


def from_q6_k(raw):
    q = spread(raw[:, :128], 64, [0, 4]) & 15 | (spread(raw[:, 128:192], 32, [0, 2, 4, 6]) & 3) << 4
    s = as_float(raw[:, 208:210]) * np.ascontiguousarray(raw[:, 192:208]).view(np.int8).astype(np.float32)
    return (s[:, :, None] * (q.reshape(len(raw), 16, 16).astype(np.float32) - 32)).reshape(len(raw), 256)


def iq4_xs(x):
    """Groups of 32 with a scale of 6 bits: 4 bits of two share a byte, 2 bits of four another."""
    groups = x.reshape(len(x), 8, 32)
    scales = np.abs(groups).max(axis=2) / 127
    d = half(scales.max(axis=1) / 31)
    s = np.clip(np.rint(scales * inverse(as_float(d))), 0, 31).astype(np.int8)
    q = np.abs((groups * inverse((as_float(d) * s)[:, :, None]))[..., None] - STEPS).argmin(axis=3)
    u = (s + 32).astype(np.uint8)
    return np.concatenate([d, gathered(u >> 4, 1, [0, 2, 4, 6]), gathered(u & 15, 1, [0, 4]),
                           pack_nibbles(q.reshape(-1, 32)).reshape(len(x), 128)], axis=1)  # fmt: skip


def from_iq4_xs(raw):
    u = spread(raw[:, 4:8], 1, [0, 4]) & 15 | (spread(raw[:, 2:4], 1, [0, 2, 4, 6]) & 3) << 4
    q = STEPS[nibbles(np.ascontiguousarray(raw[:, 8:]).reshape(-1, 16))].reshape(len(raw), 8, 32)
    return ((as_float(raw[:, :2]) * (u.astype(np.float32) - 32))[:, :, None] * q).reshape(len(raw), 256)


def bf16(x):
    bits = np.ascontiguousarray(x, "<f4").view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype("<u2").view(np.uint8).reshape(len(x), 2)


TYPES = {
    "F32": (0, 1, 4, lambda x: x.astype("<f4").view(np.uint8), lambda raw: raw.view("<f4").astype(np.float32)),
    "F16": (1, 1, 2, lambda x: x.astype("<f2").view(np.uint8), as_float),
    "BF16": (30, 1, 2, bf16, lambda raw: (np.ascontiguousarray(raw).view("<u2").astype(np.uint32) << 16).view(np.float32)),
    "F64": (28, 1, 8, lambda x: x.astype("<f8").view(np.uint8), lambda raw: raw.view("<f8").astype(np.float32)),
    "Q8_0": (8, 32, 34, q8_0, from_q8_0),
    "Q4_0": (2, 32, 18, q4_0, from_q4_0),
    "Q4_1": (3, 32, 20, q4_1, from_q4_1),
    "Q5_0": (6, 32, 22, q5_0, from_q5_0),
    "Q5_1": (7, 32, 24, q5_1, from_q5_1),
    "Q2_K": (10, 256, 84, q2_k, from_q2_k),
    "Q3_K": (11, 256, 110, q3_k, from_q3_k),
    "Q4_K": (12, 256, 144, q4_k, from_q4_k),
    "Q5_K": (13, 256, 176, q5_k, from_q5_k),
    "Q6_K": (14, 256, 210, q6_k, from_q6_k),
    "IQ4_NL": (20, 32, 18, iq4_nl, from_iq4_nl),
    "IQ4_XS": (23, 256, 136, iq4_xs, from_iq4_xs),
}


def encode(tensor, kind):
    _, numbers, _, quantise, _ = TYPES[kind]
    return np.ascontiguousarray(quantise(np.ascontiguousarray(tensor, np.float32).reshape(-1, numbers))).tobytes()


def decode(raw, kind, shape):
    _, _, size, _, dequantise = TYPES[kind]
    return np.ascontiguousarray(dequantise(np.frombuffer(raw, np.uint8).reshape(-1, size).copy())).reshape(shape)


def fitting(tensor, kind):
    """Vectors, and rows that are not a whole number of blocks, stay float32."""
    return kind if tensor.ndim > 1 and tensor.shape[-1] % TYPES[kind][1] == 0 else "F32"


def write(path, keys, tensors, version=3):
    """tensors: name -> (type, shape, bytes)."""
    keys = {"general.alignment": value(U32, ALIGNMENT), **keys}
    head = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(keys))
    head += b"".join(text(key) + raw for key, raw in keys.items())
    offset = 0
    for name, (kind, shape, raw) in tensors.items():
        head += text(name) + struct.pack("<I", len(shape)) + struct.pack(f"<{len(shape)}Q", *reversed(shape))
        head += struct.pack("<IQ", TYPES[kind][0], offset)
        offset += len(raw) + -len(raw) % ALIGNMENT
    parts = [raw + b"\0" * (-len(raw) % ALIGNMENT) for _, _, raw in tensors.values()]
    last = list(tensors.values())[-1:]  # the last tensor may end the file
    parts[-1:] = [raw for _, _, raw in last]
    pathlib.Path(path).write_bytes(head + b"\0" * (-len(head) % ALIGNMENT) + b"".join(parts))


def read_safetensors(path):
    data = pathlib.Path(path).read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    tensors = {}
    for name, entry in json.loads(data[8 : 8 + length]).items():
        if name == "__metadata__":
            continue
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        if entry["dtype"] == "BF16":
            numbers = (np.frombuffer(data[begin:end], "<u2").astype(np.uint32) << 16).view(np.float32)
        else:
            numbers = np.frombuffer(data[begin:end], {"F32": "<f4", "F16": "<f2", "I64": "<i8"}[entry["dtype"]])
        tensors[name] = numbers.reshape(entry["shape"])
    return tensors


# Parts of names before and after the layer number, in both formats. Names of modules; .weight and .bias follow.
LLAMA = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "self_attn.qkv_proj": "attn_qkv",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.gate_up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
GEMMA = LLAMA | {
    "post_attention_layernorm": "post_attention_norm",
    "pre_feedforward_layernorm": "ffn_norm",
    "post_feedforward_layernorm": "post_ffw_norm",
}
GPT2 = {
    "wte": "token_embd",
    "wpe": "position_embd",
    "ln_f": "output_norm",
    "ln_1": "attn_norm",
    "attn.c_attn": "attn_qkv",
    "attn.c_proj": "attn_output",
    "ln_2": "ffn_norm",
    "mlp.c_fc": "ffn_up",
    "mlp.c_proj": "ffn_down",
}
NEOX = {
    "embed_in": "token_embd",
    "final_layer_norm": "output_norm",
    "embed_out": "output",
    "input_layernorm": "attn_norm",
    "attention.query_key_value": "attn_qkv",
    "attention.dense": "attn_output",
    "post_attention_layernorm": "ffn_norm",
    "mlp.dense_h_to_4h": "ffn_up",
    "mlp.dense_4h_to_h": "ffn_down",
}
BERT = {
    "embeddings.word_embeddings": "token_embd",
    "embeddings.position_embeddings": "position_embd",
    "embeddings.token_type_embeddings": "token_types",
    "embeddings.LayerNorm": "token_embd_norm",
    "attention.self.query": "attn_q",
    "attention.self.key": "attn_k",
    "attention.self.value": "attn_v",
    "attention.output.dense": "attn_output",
    "attention.output.LayerNorm": "attn_output_norm",
    "intermediate.dense": "ffn_up",
    "output.dense": "ffn_down",
    "output.LayerNorm": "layer_output_norm",
}
# model_type -> (general.architecture, names)
FAMILIES = {
    "llama": ("llama", LLAMA),
    "mistral": ("llama", LLAMA),
    "qwen2": ("qwen2", LLAMA),
    "qwen3": ("qwen3", LLAMA),
    "gemma2": ("gemma2", GEMMA),
    "gemma3_text": ("gemma3", GEMMA),
    "phi3": ("phi3", LLAMA),
    "gpt2": ("gpt2", GPT2),
    "gpt_neox": ("gptneox", NEOX),
    "bert": ("bert", BERT),
}


def name_in_gguf(name, names):
    module, part = name.rsplit(".", 1)
    for prefix in ("transformer.", "gpt_neox.", "bert."):
        module = module.removeprefix(prefix)
    pieces = module.split(".")
    layer = next((i for i, piece in enumerate(pieces) if piece.isdigit()), None)
    if layer is not None:
        known = names.get(".".join(pieces[layer + 1 :]))
        return known and f"blk.{pieces[layer]}.{known}.{part}"
    known = names.get(module) or names.get(module.removeprefix("model.")) or names.get("model." + module)
    return known and f"{known}.{part}"


def changed(name, tensor, config, H, Hkv):
    """Makes the changes of llama.cpp's converter to the numbers."""
    kind = config["model_type"]
    if kind in ("llama", "mistral") and ("q_proj" in name or "k_proj" in name):
        # Numbers c and c + dk/2 of a head, which rotate together, become neighbors in memory.
        heads = H if "q_proj" in name else Hkv
        return tensor.reshape(heads, 2, -1, *tensor.shape[1:]).swapaxes(1, 2).reshape(tensor.shape)
    if kind.startswith("gemma") and "norm" in name:
        return tensor + np.float32(1)
    if kind == "gpt2" and tensor.ndim == 2 and ".h." in "." + name:
        return tensor.T
    if kind == "gpt_neox" and "query_key_value" in name:
        # From q, k, v of each head to all queries, all keys, all values.
        return tensor.reshape(H, 3, -1, *tensor.shape[1:]).swapaxes(0, 1).reshape(tensor.shape)
    return tensor


def keys_of(config):
    architecture, _ = FAMILIES[config["model_type"]]
    get = lambda *names, otherwise=None: next((config[n] for n in names if config.get(n) is not None), otherwise)
    D, H = get("hidden_size", "n_embd"), get("num_attention_heads", "n_head")
    dk = get("head_dim", otherwise=D // H)
    keys = {"general.architecture": value(STRING, architecture), "general.name": value(STRING, "made for a test")}

    def add(name, kind, one):
        if one is not None:
            keys[f"{architecture}.{name}"] = value(kind, one)

    add("block_count", U32, get("num_hidden_layers", "n_layer"))
    add("context_length", U32, get("max_position_embeddings", "n_positions"))
    add("embedding_length", U32, D)
    add("feed_forward_length", U32, get("intermediate_size", "n_inner", otherwise=4 * D))
    add("attention.head_count", U32, H)
    add("attention.head_count_kv", U32, get("num_key_value_heads"))
    add("attention.layer_norm_rms_epsilon", F32, get("rms_norm_eps"))
    add("attention.layer_norm_epsilon", F32, get("layer_norm_eps", "layer_norm_epsilon"))
    if "head_dim" in config:
        add("attention.key_length", U32, dk)
        add("attention.value_length", U32, dk)
    theta = get("rope_theta", "rotary_emb_base")
    add("rope.freq_base", F32, theta)
    if theta is not None:
        add("rope.dimension_count", U32, int(dk * get("partial_rotary_factor", "rotary_pct", otherwise=1)))
    if config.get("use_sliding_window", True):
        add("attention.sliding_window", U32, get("sliding_window"))
    add("attn_logit_softcapping", F32, get("attn_logit_softcapping"))
    add("final_logit_softcapping", F32, get("final_logit_softcapping"))
    if architecture == "gptneox":
        add("use_parallel_residual", BOOL, get("use_parallel_residual", otherwise=True))
    if "query_pre_attn_scalar" in config:
        add("attention.scale", F32, config["query_pre_attn_scalar"] ** -0.5)
    if "layer_types" in config:
        slides = [kind == "sliding_attention" for kind in config["layer_types"]]
        keys[f"{architecture}.attention.sliding_window_pattern"] = array(BOOL, slides)
    add("attention.causal", BOOL, False if architecture == "bert" else None)
    scaling = config.get("rope_scaling")
    if scaling:
        kind = scaling.get("rope_type", scaling.get("type"))
        if kind in ("linear", "yarn"):
            add("rope.scaling.type", STRING, kind)
            add("rope.scaling.factor", F32, scaling["factor"])
        add("rope.scaling.original_context_length", U32, scaling.get("original_max_position_embeddings"))
        add("rope.scaling.attn_factor", F32, scaling.get("attention_factor"))
    for name in ("bos", "eos"):
        if isinstance(config.get(f"{name}_token_id"), int):
            keys[f"tokenizer.ggml.{name}_token_id"] = value(U32, config[f"{name}_token_id"])
    return keys


def factors_of(config):
    """Returns tensors with factors of rotary frequencies by name."""
    scaling = config.get("rope_scaling") or {}
    kind = scaling.get("rope_type", scaling.get("type"))
    if kind == "longrope":
        return {f"rope_factors_{which}.weight": np.array(scaling[f"{which}_factor"], np.float32) for which in ("long", "short")}
    if kind != "llama3":
        return {}
    dk = config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]
    waves = 2 * np.pi * config["rope_theta"] ** (np.arange(0, dk, 2) / dk)
    low = scaling["original_max_position_embeddings"] / scaling["low_freq_factor"]
    high = scaling["original_max_position_embeddings"] / scaling["high_freq_factor"]
    smooth = (scaling["original_max_position_embeddings"] / waves - scaling["low_freq_factor"]) / (
        scaling["high_freq_factor"] - scaling["low_freq_factor"])  # fmt: skip
    factors = np.where(waves < high, 1, np.where(waves > low, scaling["factor"], 1 / ((1 - smooth) / scaling["factor"] + smooth)))
    return {"rope_freqs.weight": factors.astype(np.float32)}


NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = 1, 2, 3, 4, 5, 6


def tokenizer_keys(folder):
    """Returns tokenizer.ggml.* of the folder's tokenizer.json, for the kinds that the format supports."""
    described = json.loads((pathlib.Path(folder) / "tokenizer.json").read_text())
    model, vocab = described["model"], dict(described["model"]["vocab"])
    types = {}
    for token in described["added_tokens"]:
        vocab[token["content"]] = token["id"]
        types[token["id"]] = CONTROL if token["special"] else USER_DEFINED
    tokens = [name for name, _ in sorted(vocab.items(), key=lambda pair: pair[1])]
    around = [piece["SpecialToken"]["id"] for processor in processors(described) for piece in processor.get("single", [])
              if "SpecialToken" in piece]  # fmt: skip
    keys = {}

    def add(name, raw):
        keys["tokenizer.ggml." + name] = raw

    if model["type"] == "WordPiece":
        add("model", value(STRING, "bert"))
        # The prefix "##" is removed; a piece that begins a word gets the sign for a blank.
        pieces = [t if i in types else t.removeprefix("##") if t.startswith("##") else "\u2581" + t for i, t in enumerate(tokens)]
        add("cls_token_id", value(U32, vocab[around[0]]))
        add("seperator_token_id", value(U32, vocab[around[1]]))
        add("unknown_token_id", value(U32, vocab[model["unk_token"]]))
        tokens = pieces
    elif model.get("byte_fallback"):
        add("model", value(STRING, "llama"))
        types |= {i: BYTE for i, t in enumerate(tokens) if len(t) == 6 and t.startswith("<0x")}
        types[vocab[model["unk_token"]]] = UNKNOWN
        # A text has blanks, not their sign: such a token is never found in it, and here no merge makes it.
        types |= {token["id"]: UNUSED for token in described["added_tokens"] if set(token["content"]) == {"\u2581"}}
        # SentencePiece's pieces come in the order in which they were merged.
        order = {"".join(m.split(" ") if isinstance(m, str) else m): -float(i) for i, m in enumerate(model["merges"])}
        keys["tokenizer.ggml.scores"] = array(F32, [order.get(t, -1e6 - i) for i, t in enumerate(tokens)])
        prefix = any(step["type"] == "Prepend" for step in described["normalizer"].get("normalizers", []))
        add("add_space_prefix", value(BOOL, prefix))
        add("unknown_token_id", value(U32, vocab[model["unk_token"]]))
    else:
        add("model", value(STRING, "gpt2"))
        add("pre", value(STRING, "llama-bpe" if model.get("ignore_merges") else "gpt-2"))
        steps = described["pre_tokenizer"].get("pretokenizers", [described["pre_tokenizer"]])
        add("add_space_prefix", value(BOOL, any(step.get("add_prefix_space", False) for step in steps)))
        add("merges", array(STRING, [m if isinstance(m, str) else " ".join(m) for m in model["merges"]]))
    if model["type"] == "BPE":
        add("add_bos_token", value(BOOL, bool(around)))
        if around:
            add("bos_token_id", value(U32, vocab[around[0]]))
    add("tokens", array(STRING, tokens))
    add("token_type", array(I32, [types.get(i, NORMAL) for i in range(len(tokens))]))
    return keys


def processors(described):
    processor = described.get("post_processor") or {}
    return processor.get("processors", [processor])


def tensors_of(folder, config):
    """Returns the numbers by name, in the order of llama.cpp's converter."""
    _, names = FAMILIES[config["model_type"]]
    H = config.get("num_attention_heads") or config["n_head"]
    Hkv = config.get("num_key_value_heads") or H
    tensors = {}
    for name, tensor in read_safetensors(pathlib.Path(folder) / "model.safetensors").items():
        known = name_in_gguf(name, names)
        if known:
            tensors[known] = np.ascontiguousarray(changed(name, tensor, config, H, Hkv))
    return tensors | factors_of(config)


def convert(folder, out, kind="F32", version=3, tokenizer=None, more_keys=None):
    folder = pathlib.Path(folder)
    config = json.loads((folder / "config.json").read_text())
    keys = keys_of(config) | (tokenizer_keys(tokenizer) if tokenizer else {}) | (more_keys or {})
    tensors = {}
    for name, tensor in tensors_of(folder, config).items():
        own = fitting(tensor, kind)
        tensors[name] = (own, tensor.shape, encode(tensor, own))
    write(out, keys, tensors, version)


def write_examples(folder):
    """Writes tests/data/corpus/gguf: small files for the tests and the fuzzer, named good_ or bad_ as in the other
    corpora."""
    folder = pathlib.Path(folder)
    random = np.random.default_rng(1)
    D, vocab = 8, 12
    config = {"model_type": "llama", "hidden_size": D, "num_attention_heads": 2, "num_key_value_heads": 1,
              "num_hidden_layers": 1, "intermediate_size": 8, "max_position_embeddings": 16, "rms_norm_eps": 1e-5,
              "rope_theta": 1e4}  # fmt: skip
    shapes = {"token_embd": (vocab, D), "output_norm": (D,), "blk.0.attn_norm": (D,), "blk.0.ffn_norm": (D,),
              "blk.0.attn_q": (D, D), "blk.0.attn_k": (D // 2, D), "blk.0.attn_v": (D // 2, D), "blk.0.attn_output": (D, D),
              "blk.0.ffn_gate": (8, D), "blk.0.ffn_up": (8, D), "blk.0.ffn_down": (D, 8)}  # fmt: skip
    tensors = {}
    for name, shape in shapes.items():
        tensor = random.standard_normal(shape).astype(np.float32)
        tensors[name + ".weight"] = ("F32", shape, encode(tensor, "F32"))
    pieces = ["<unk>", "<s>", "</s>", "<0x41>", "\u2581", "a", "b", "\u2581a", "ab", "\u2581ab", "c", "d"]
    scored = {"model": value(STRING, "llama"), "tokens": array(STRING, pieces), "bos_token_id": value(U32, 1),
              "scores": array(F32, [-float(i) for i in range(vocab)]), "eos_token_id": value(U32, 2),
              "token_type": array(I32, [UNKNOWN, CONTROL, CONTROL, BYTE] + [NORMAL] * 8)}  # fmt: skip
    letters = ["a", "b", "ab", "\u0120", "\u0120a", "c", "d", "e", "f", "g", "h", "<|end|>"]
    merged = {"model": value(STRING, "gpt2"), "pre": value(STRING, "qwen2"), "tokens": array(STRING, letters),
              "merges": array(STRING, ["a b", "\u0120 a"]), "token_type": array(I32, [NORMAL] * 11 + [CONTROL])}  # fmt: skip
    marked = ["[UNK]", "[CLS]", "[SEP]", "\u2581a", "b", "\u2581ab", "c", "d", "e", "f", "g", "h"]
    words = {"model": value(STRING, "bert"), "tokens": array(STRING, marked), "cls_token_id": value(U32, 1),
             "seperator_token_id": value(U32, 2), "unknown_token_id": value(U32, 0),
             "token_type": array(I32, [CONTROL] * 3 + [NORMAL] * 9)}  # fmt: skip
    for name, tokenizer in {"scored": scored, "merged": merged, "words": words}.items():
        write(folder / f"good_{name}.gguf", keys_of(config) | {"tokenizer.ggml." + k: v for k, v in tokenizer.items()}, tensors)
    gemma = config | {"model_type": "gemma3_text", "layer_types": ["full_attention"], "query_pre_attn_scalar": 4,
                      "rope_scaling": {"type": "linear", "factor": 8.0}, "sliding_window": 4}  # fmt: skip
    nested = struct.pack("<IIQ", ARRAY, ARRAY, 1) + struct.pack("<IQ", U32, 2) + struct.pack("<2I", 1, 2)
    write(folder / "good_keys.gguf", keys_of(gemma) | {"general.nested": nested}, {"token_embd.weight": tensors["token_embd.weight"]}, 2)
    blocks = {}
    for kind, (_, numbers, size, _, _) in TYPES.items():
        blocks[kind] = (kind, (numbers,), random.bytes(size))
    write(folder / "good_types.gguf", {}, blocks)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("out", help="a .gguf file; with --examples a folder for small files of every kind")
    parser.add_argument("--examples", action="store_true", help="write those of tests/data/corpus/gguf; FOLDER is not read")
    parser.add_argument("--type", default="F32", choices=TYPES)
    parser.add_argument("--version", type=int, default=3)
    options = parser.parse_args()
    if options.examples:
        return write_examples(options.out)
    tokenizer = options.folder if (options.folder / "tokenizer.json").exists() else None
    convert(options.folder, options.out, options.type, options.version, tokenizer)


if __name__ == "__main__":
    main()
