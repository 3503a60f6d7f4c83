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
import re
import struct

import numpy as np

ALIGNMENT = 32

# Values of metadata: (type, bytes).
U16, U32, I32, F32, BOOL, STRING, ARRAY = 2, 4, 5, 6, 7, 8, 9


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


E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)


def mxfp4(x):
    e = np.floor(np.log2(np.maximum(np.abs(x).max(axis=1), 1e-30))) - 2
    q = np.abs((x / np.exp2(e)[:, None])[:, :, None] - E2M1).argmin(axis=2).astype(np.uint8)
    return np.concatenate([(e + 127).astype(np.uint8)[:, None], pack_nibbles(q)], axis=1)


def from_mxfp4(raw):
    return E2M1[nibbles(raw[:, 1:])] * np.exp2(raw[:, :1].astype(np.float32) - 127)


def e4m3(raw):
    """Numbers of bytes without sign: as the upper bits of a half, which has 8 more in the bias of its exponent."""
    numbers = ((raw & 127).astype(np.uint16) << 7).view(np.float16).astype(np.float32) * 256
    return np.where(raw & 127 == 127, np.float32(0), numbers)


def nvfp4(x):
    groups = x.reshape(len(x), 4, 16)
    table = e4m3(np.arange(127, dtype=np.uint8))
    d = np.abs((np.abs(groups).max(axis=2) / 6)[:, :, None] - table).argmin(axis=2).astype(np.uint8)
    q = np.abs((groups * inverse(e4m3(d))[:, :, None])[..., None] - E2M1).argmin(axis=3).astype(np.uint8)
    return np.concatenate([d, (q[:, :, :8] | q[:, :, 8:] << 4).reshape(len(x), 32)], axis=1)


def from_nvfp4(raw):
    q = raw[:, 4:].reshape(len(raw), 4, 8)
    return (E2M1[np.concatenate([q & 15, q >> 4], axis=2)] * e4m3(raw[:, :4])[:, :, None]).reshape(len(raw), 64)


def q1_0(x):
    return np.concatenate([half(np.abs(x).mean(axis=1)), np.packbits(x > 0, axis=1, bitorder="little")], axis=1)


def from_q1_0(raw):
    return as_float(raw[:, :2]) * np.where(np.unpackbits(raw[:, 2:], axis=1, bitorder="little") > 0, 1, -1).astype(np.float32)


def q2_0(x):
    d = half(np.abs(x).max(axis=1) / 2)
    q = np.clip(np.rint(x * inverse(as_float(d))) + 1, 0, 3).astype(np.uint8)
    return np.concatenate([d, np.bitwise_or.reduce(q.reshape(len(x), 16, 4) << np.array([0, 2, 4, 6], np.uint8), axis=2)], axis=1)


def from_q2_0(raw):
    q = (raw[:, 2:, None] >> np.array([0, 2, 4, 6], np.uint8) & 3).reshape(len(raw), 64)
    return (q.astype(np.float32) - 1) * as_float(raw[:, :2])


def ternary(x):
    d = half(np.abs(x).max(axis=1))
    return d, (np.clip(np.rint(x * inverse(as_float(d))), -1, 1) + 1).astype(np.uint8)


def tq2_0(x):
    d, q = ternary(x)
    return np.concatenate([gathered(q, 32, [0, 2, 4, 6]), d], axis=1)


def from_tq2_0(raw):
    return ((spread(raw[:, :64], 32, [0, 2, 4, 6]) & 3).astype(np.float32) - 1) * as_float(raw[:, 64:])


def thirds(digits):
    """Digits of base 3, the first the largest, as a fraction of 256, rounded up: (n, digits, width) to (n, width)."""
    whole = np.zeros((len(digits), digits.shape[2]), int)
    for place in range(5):
        whole = whole * 3 + (digits[:, place] if place < digits.shape[1] else 0)
    return ((whole * 256 + 242) // 243).astype(np.uint8)


def from_thirds(raw, count):
    digits = [((raw.astype(int) * 3**place & 255) * 3 >> 8) for place in range(count)]
    return np.stack(digits, axis=1).reshape(len(raw), -1)


def tq1_0(x):
    d, q = ternary(x)
    parts = [thirds(q[:, :160].reshape(-1, 5, 32)), thirds(q[:, 160:240].reshape(-1, 5, 16)), thirds(q[:, 240:].reshape(-1, 4, 4))]
    return np.concatenate([*parts, d], axis=1)


def from_tq1_0(raw):
    parts = [from_thirds(raw[:, :32], 5), from_thirds(raw[:, 32:48], 5), from_thirds(raw[:, 48:52], 4)]
    return (np.concatenate(parts, axis=1).astype(np.float32) - 1) * as_float(raw[:, 52:])


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
    "MXFP4": (39, 32, 17, mxfp4, from_mxfp4),
    "NVFP4": (40, 64, 36, nvfp4, from_nvfp4),
    "Q1_0": (41, 128, 18, q1_0, from_q1_0),
    "Q2_0": (42, 64, 18, q2_0, from_q2_0),
    "TQ1_0": (34, 256, 54, tq1_0, from_tq1_0),
    "TQ2_0": (35, 256, 66, tq2_0, from_tq2_0),
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
OLMO2 = LLAMA | {"post_attention_layernorm": "post_attention_norm", "post_feedforward_layernorm": "post_ffw_norm"}
PHI = LLAMA | {
    "model.final_layernorm": "output_norm",
    "self_attn.dense": "attn_output",
    "mlp.fc1": "ffn_up",
    "mlp.fc2": "ffn_down",
}
STARCODER2 = LLAMA | {"mlp.c_fc": "ffn_up", "mlp.c_proj": "ffn_down"}
MPT = {
    "wte": "token_embd",
    "norm_f": "output_norm",
    "norm_1": "attn_norm",
    "attn.Wqkv": "attn_qkv",
    "attn.out_proj": "attn_output",
    "norm_2": "ffn_norm",
    "ffn.up_proj": "ffn_up",
    "ffn.down_proj": "ffn_down",
}
BLOOM = {
    "word_embeddings": "token_embd",
    "word_embeddings_layernorm": "token_embd_norm",
    "ln_f": "output_norm",
    "input_layernorm": "attn_norm",
    "self_attention.query_key_value": "attn_qkv",
    "self_attention.dense": "attn_output",
    "post_attention_layernorm": "ffn_norm",
    "mlp.dense_h_to_4h": "ffn_up",
    "mlp.dense_4h_to_h": "ffn_down",
    "ln_attn": "attn_norm_2",
    "ln_mlp": "attn_norm",
}
MIXTURE = LLAMA | {
    "mlp.gate": "ffn_gate_inp",
    "block_sparse_moe.gate": "ffn_gate_inp",
    "block_sparse_moe.router.layer": "ffn_gate_inp",
    "mlp.shared_expert.gate_proj": "ffn_gate_shexp",
    "mlp.shared_expert.up_proj": "ffn_up_shexp",
    "mlp.shared_expert.down_proj": "ffn_down_shexp",
    "mlp.shared_expert_gate": "ffn_gate_inp_shexp",
    "mlp.shared_experts.gate_proj": "ffn_gate_shexp",
    "mlp.shared_experts.up_proj": "ffn_up_shexp",
    "mlp.shared_experts.down_proj": "ffn_down_shexp",
    "self_attn.q_a_proj": "attn_q_a",
    "self_attn.q_a_layernorm": "attn_q_a_norm",
    "self_attn.q_b_proj": "attn_q_b",
    "self_attn.kv_a_proj_with_mqa": "attn_kv_a_mqa",
    "self_attn.kv_a_layernorm": "attn_kv_a_norm",
    "self_attn.kv_b_proj": "attn_kv_b",
}
LLAMA4 = LLAMA | {
    "feed_forward.gate_proj": "ffn_gate",
    "feed_forward.up_proj": "ffn_up",
    "feed_forward.down_proj": "ffn_down",
    "feed_forward.router": "ffn_gate_inp",
    "feed_forward.shared_expert.gate_proj": "ffn_gate_shexp",
    "feed_forward.shared_expert.up_proj": "ffn_up_shexp",
    "feed_forward.shared_expert.down_proj": "ffn_down_shexp",
}
GPT_OSS = LLAMA | {"post_attention_layernorm": "post_attention_norm", "mlp.router": "ffn_gate_inp"}
# model_type -> (general.architecture, names)
FAMILIES = {
    "gemma": ("gemma", LLAMA),
    "phi": ("phi2", PHI),
    "gpt_bigcode": ("starcoder", GPT2),
    "starcoder2": ("starcoder2", STARCODER2),
    "stablelm": ("stablelm", LLAMA),
    "mpt": ("mpt", MPT),
    "bloom": ("bloom", BLOOM),
    "falcon": ("falcon", BLOOM),
    "olmo2": ("olmo2", OLMO2),
    "olmoe": ("olmoe", MIXTURE),
    "qwen2_moe": ("qwen2moe", MIXTURE),
    "qwen3_moe": ("qwen3moe", MIXTURE),
    "mixtral": ("llama", MIXTURE),
    "granite": ("granite", LLAMA),
    "granitemoe": ("granitemoe", MIXTURE),
    "cohere": ("command-r", LLAMA),
    "glm": ("chatglm", LLAMA),
    "smollm3": ("smollm3", LLAMA),
    "deepseek_v2": ("deepseek2", MIXTURE),
    "deepseek_v3": ("deepseek2", MIXTURE),
    "gpt_oss": ("gpt-oss", GPT_OSS),
    "llama4_text": ("llama4", LLAMA4),
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


PERMUTED = ("llama", "mistral", "mixtral", "granite", "granitemoe", "smollm3", "olmo")


def mixtures(tensors, config, single=False):
    """Takes the tensors of experts out of `tensors`; returns them as the format has them, one for all experts of a layer, or
    in files of 2023 (single) one for each."""
    out, stacks = {}, {}
    for name in list(tensors):
        found = re.fullmatch(r".*layers\.(\d+)\.(?:mlp|block_sparse_moe)\.experts\.(\d+)\.(\w+)\.weight", name)
        if found:
            part = {"gate_proj": "gate", "w1": "gate", "up_proj": "up", "w3": "up", "down_proj": "down", "w2": "down"}[found[3]]
            if single:
                out[f"blk.{found[1]}.ffn_{part}.{found[2]}.weight"] = tensors.pop(name)
            else:
                stacks.setdefault(f"blk.{found[1]}.ffn_{part}_exps.weight", {})[int(found[2])] = tensors.pop(name)
    for name, stack in stacks.items():
        out[name] = np.stack([stack[i] for i in range(len(stack))])
    for name in list(tensors):
        layer = re.search(r"layers\.(\d+)\.", name)
        exps = layer and f"blk.{layer[1]}.ffn_{{}}_exps.{{}}"
        if name.endswith("block_sparse_moe.input_linear.weight"):
            gate, up = np.split(tensors.pop(name), 2, axis=1)
            out |= {exps.format("gate", "weight"): gate, exps.format("up", "weight"): up}
        elif name.endswith("block_sparse_moe.output_linear.weight"):
            out[exps.format("down", "weight")] = tensors.pop(name)
        elif name.endswith("experts.gate_up_proj"):
            turned = tensors.pop(name).swapaxes(1, 2)
            one_by_one = turned[:, ::2], turned[:, 1::2]
            gate, up = np.split(turned, 2, axis=1) if config["model_type"] == "llama4_text" else one_by_one
            out |= {exps.format("gate", "weight"): gate, exps.format("up", "weight"): up}
        elif name.endswith("experts.gate_up_proj_bias"):
            both = tensors.pop(name)
            out |= {exps.format("gate", "bias"): both[:, ::2], exps.format("up", "bias"): both[:, 1::2]}
        elif name.endswith("experts.down_proj"):
            out[exps.format("down", "weight")] = tensors.pop(name).swapaxes(1, 2)
        elif name.endswith("experts.down_proj_bias"):
            out[exps.format("down", "bias")] = tensors.pop(name)
        elif name.endswith("e_score_correction_bias"):
            out[f"blk.{layer[1]}.exp_probs_b.bias"] = tensors.pop(name)
        elif name.endswith("self_attn.sinks"):
            out[f"blk.{layer[1]}.attn_sinks.weight"] = tensors.pop(name)
    return out


def latent(tensors, config):
    """Cuts DeepSeek's kv_b as newer converters do."""
    for name in list(tensors):
        if name.endswith("attn_kv_b.weight"):
            whole = tensors.pop(name)
            heads = whole.reshape(config["num_attention_heads"], -1, whole.shape[-1])
            keys, values = np.split(heads, [config["qk_nope_head_dim"]], axis=1)
            tensors[name.replace("kv_b", "k_b")] = np.ascontiguousarray(keys.swapaxes(1, 2))
            tensors[name.replace("kv_b", "v_b")] = np.ascontiguousarray(values)


def changed(name, tensor, config, H, Hkv):
    """Makes the changes of llama.cpp's converter to the numbers."""
    kind = config["model_type"]
    if kind in PERMUTED and ("q_proj" in name or "k_proj" in name):
        # Numbers c and c + dk/2 of a head, which rotate together, become neighbors in memory.
        heads = H if "q_proj" in name else Hkv
        return tensor.reshape(heads, 2, -1, *tensor.shape[1:]).swapaxes(1, 2).reshape(tensor.shape)
    if kind.startswith("gemma") and "norm" in name:
        return tensor + np.float32(1)
    if kind == "gpt2" and tensor.ndim == 2 and ".h." in "." + name:
        return tensor.T
    if kind == "falcon" and "query_key_value" in name:
        # From the queries, the key and the value of each key head to all queries, all keys, all values.
        parts = tensor.reshape(Hkv, H // Hkv + 2, -1, *tensor.shape[1:])
        cut = [parts[:, :-2], parts[:, -2:-1], parts[:, -1:]]
        return np.concatenate([part.reshape(-1, *tensor.shape[1:]) for part in cut])
    if name.endswith("shared_expert_gate.weight"):
        return tensor.reshape(-1)
    if kind in ("gpt_neox", "bloom") and "query_key_value" in name:
        # From q, k, v of each head to all queries, all keys, all values.
        return tensor.reshape(H, 3, -1, *tensor.shape[1:]).swapaxes(0, 1).reshape(tensor.shape)
    return tensor


def keys_of(config):
    architecture, _ = FAMILIES[config["model_type"]]
    get = lambda *names, otherwise=None: next((config[n] for n in names if config.get(n) is not None), otherwise)
    D, H = get("hidden_size", "n_embd", "d_model"), get("num_attention_heads", "n_head", "n_heads")
    dk = get("head_dim", "qk_rope_head_dim", otherwise=D // H)
    kind, deepseek = config["model_type"], architecture == "deepseek2"
    keys = {"general.architecture": value(STRING, architecture), "general.name": value(STRING, "made for a test")}

    def add(name, kind, one):
        if one is not None:
            keys[f"{architecture}.{name}"] = value(kind, one)

    add("block_count", U32, get("num_hidden_layers", "n_layer", "n_layers"))
    add("context_length", U32, get("max_position_embeddings", "n_positions", "max_seq_len", otherwise=2048))
    add("embedding_length", U32, D)
    add("feed_forward_length", U32, get("intermediate_size_mlp", "intermediate_size", "n_inner", otherwise=4 * D))
    add("attention.head_count", U32, H)
    one_key = kind in ("gpt_bigcode", "falcon") and config.get("multi_query") and not config.get("new_decoder_architecture")
    add("attention.head_count_kv", U32, 1 if one_key or deepseek else get("num_kv_heads", "num_key_value_heads"))
    add("attention.layer_norm_rms_epsilon", F32, get("rms_norm_eps"))
    add("attention.layer_norm_epsilon", F32, get("layer_norm_eps", "layer_norm_epsilon", "norm_epsilon"))
    if "head_dim" in config:
        add("attention.key_length", U32, dk)
        add("attention.value_length", U32, dk)
    theta = get("rope_theta", "rotary_emb_base")
    add("rope.freq_base", F32, theta)
    if theta is not None:
        add("rope.dimension_count", U32, int(dk * get("partial_rotary_factor", "rotary_pct", otherwise=1)))
    if config.get("use_sliding_window", True) and not kind.startswith(("qwen", "mixtral")):
        add("attention.sliding_window", U32, get("sliding_window"))
    add("attn_logit_softcapping", F32, get("attn_logit_softcapping"))
    add("final_logit_softcapping", F32, get("final_logit_softcapping"))
    if architecture == "gptneox":
        add("use_parallel_residual", BOOL, get("use_parallel_residual", otherwise=True))
    if "query_pre_attn_scalar" in config:
        add("attention.scale", F32, config["query_pre_attn_scalar"] ** -0.5)
    add("logit_scale", F32, get("logit_scale", "logits_scaling"))
    add("attention.scale", F32, get("attention_multiplier"))
    add("embedding_scale", F32, get("embedding_multiplier"))
    add("residual_scale", F32, get("residual_multiplier"))
    if kind == "stablelm":
        add("use_parallel_residual", BOOL, config["use_parallel_residual"])
    if kind == "mpt":
        add("attention.max_alibi_bias", F32, 8.0)
        add("attention.clamp_kqv", F32, config["attn_config"]["clip_qkv"])
    add("expert_count", U32, get("num_local_experts", "num_experts", "n_routed_experts"))
    add("expert_used_count", U32, get("num_experts_per_tok"))
    add("expert_feed_forward_length", U32, get("moe_intermediate_size"))
    add("expert_shared_feed_forward_length", U32, get("shared_expert_intermediate_size"))
    if kind == "llama4_text":
        add("expert_feed_forward_length", U32, config["intermediate_size"])
        add("interleave_moe_layer_step", U32, config["interleave_moe_layer_step"])
        if config["attention_chunk_size"] is None:
            add("attention.sliding_window", U32, 0)
    if deepseek:
        add("leading_dense_block_count", U32, config["first_k_dense_replace"])
        add("expert_shared_count", U32, config["n_shared_experts"])
        add("expert_weights_scale", F32, config["routed_scaling_factor"])
        add("expert_weights_norm", BOOL, config["norm_topk_prob"])
        add("expert_gating_func", U32, 2 if config["scoring_func"] == "sigmoid" else 1)
        add("expert_group_count", U32, config["n_group"])
        add("expert_group_used_count", U32, config["topk_group"])
        add("attention.q_lora_rank", U32, config["q_lora_rank"])
        rank, turning, still = config["kv_lora_rank"], config["qk_rope_head_dim"], config["qk_nope_head_dim"]
        add("attention.kv_lora_rank", U32, rank)
        add("attention.key_length", U32, rank + turning)
        add("attention.value_length", U32, rank)
        add("attention.key_length_mla", U32, still + turning)
        add("attention.value_length_mla", U32, config["v_head_dim"])
    if "layer_types" in config and kind != "gpt_oss":
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


def tensors_of(folder, config, single=False, split_latent=True):
    """Returns the numbers by name, in the order of llama.cpp's converter."""
    _, names = FAMILIES[config["model_type"]]
    H = config.get("num_attention_heads") or config.get("n_head") or config["n_heads"]
    Hkv = config.get("num_key_value_heads") or config.get("num_kv_heads") or (1 if config.get("multi_query") else H)
    tensors = {}
    stored = read_safetensors(pathlib.Path(folder) / "model.safetensors")
    tensors |= {name: np.ascontiguousarray(tensor) for name, tensor in mixtures(stored, config, single).items()}
    for name, tensor in stored.items():
        known = name_in_gguf(name, names)
        if known:
            tensors[known] = np.ascontiguousarray(changed(name, tensor, config, H, Hkv))
    if split_latent:
        latent(tensors, config)
    return tensors | factors_of(config)


def convert(folder, out, kind="F32", version=3, tokenizer=None, more_keys=None, parts=1, **how):
    """parts: above 1, `out` is the beginning of the names of as many files."""
    folder = pathlib.Path(folder)
    config = json.loads((folder / "config.json").read_text())
    keys = keys_of(config) | (tokenizer_keys(tokenizer) if tokenizer else {}) | (more_keys or {})
    tensors = {}
    for name, tensor in tensors_of(folder, config, **how).items():
        own = fitting(tensor, kind)
        tensors[name] = (own, tensor.shape, encode(tensor, own))
    if parts == 1:
        return write(out, keys, tensors, version)
    names = list(tensors)
    paths = []
    for number in range(parts):
        own = {name: tensors[name] for name in names[number * len(names) // parts : (number + 1) * len(names) // parts]}
        split = {"split.no": struct.pack("<IH", U16, number), "split.count": struct.pack("<IH", U16, parts),
                 "split.tensors.count": value(I32, len(tensors))}  # fmt: skip
        paths.append(pathlib.Path(f"{out}-{number + 1:05}-of-{parts:05}.gguf"))
        write(paths[-1], (keys if number == 0 else {}) | split, own, version)
    return paths


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
