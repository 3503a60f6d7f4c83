#!/usr/bin/env python3
"""Writes the files of this folder with NumPy, and their contents to expected.json."""
import json
import pathlib
import struct

import numpy as np

HERE = pathlib.Path(__file__).parent
rng = np.random.default_rng(20)


def attention(*shape):
    scores = rng.normal(size=shape)
    scores[..., np.triu_indices(shape[-2], 1, shape[-1])[0], np.triu_indices(shape[-2], 1, shape[-1])[1]] = -np.inf
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


expected = {}


def note(name, stored):
    """Records the numbers of a file in its stored type."""
    expected[name] = {"shape": list(stored.shape), "numbers": [float(x) for x in stored.astype(np.float64).ravel()]}


def npy(name, array, version=(1, 0)):
    with open(HERE / name, "wb") as file:
        np.lib.format.write_array(file, array, version=version)
    if array.dtype.kind == "f":
        note(name, array)


def bf16(array):
    """Rounds toward zero, which is enough for a test."""
    bits = array.astype(np.float32).view(np.uint32) >> 16
    return bits.astype(np.uint16), (bits << 16).astype(np.uint32).view(np.float32)


def safetensors(name, tensors, metadata=None):
    header, data = {}, b""
    if metadata:
        header["__metadata__"] = metadata
    for key, (dtype, shape, numbers) in tensors.items():
        header[key] = {"dtype": dtype, "shape": list(shape), "data_offsets": [len(data), len(data) + len(numbers)]}
        data += numbers
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    (HERE / name).write_bytes(struct.pack("<Q", len(text)) + text + data)


def f(dtype, array):
    kind = {"F16": "<f2", "F32": "<f4", "F64": "<f8", "I64": "<i8"}[dtype]
    return dtype, array.shape, array.astype(kind).tobytes()


npy("h_f16.npy", attention(3, 4, 4).astype("<f2"))
npy("lh_f32.npy", attention(2, 3, 4, 4).astype("<f4"), (2, 0))
npy("lh_f64.npy", attention(2, 3, 4, 4).astype("<f8"), (3, 0))
npy("l1h_f16.npy", attention(2, 1, 3, 4, 4).astype("<f2"))
npy("wide_f32.npy", np.full((2, 3, 5), 0.2, "<f4"))
npy("sequences.npy", attention(2, 2, 3, 3).astype("<f4"))
(HERE / "h_f16.tokens.json").write_text(json.dumps(["The", "Ġcat", "Ġsat", "ĠÃł"]))
(HERE / "wide_f32.tokens.json").write_text(json.dumps({"tokens": ["a", "b", "c"], "key_tokens": list("vwxyz")}))
(HERE / "sequences.tokens.json").write_text(json.dumps([["one", "two", "three"], ["▁uno", "▁", "\n"]]))

odd = attention(1, 3, 4, 4)
odd[0, 0, 2] *= 1.25
odd[0, 1, 1, 0], odd[0, 1, 3, 2] = np.nan, np.inf
odd[0, 2, 3] = 0
odd[0, 2, 2, 0] = -0.5
npy("odd_f32.npy", odd.astype("<f4"))

bits, held = bf16(attention(2, 3, 4, 4))
safetensors("one_bf16.safetensors", {"maps": ("BF16", bits.shape, bits.tobytes())},
            {"tokens": json.dumps(["a", "b", "c", "d"])})
note("one_bf16.safetensors", held)
named = attention(2, 2, 3, 3)
safetensors("named_f64.safetensors", {"attentions": f("F64", named), "hidden": f("F32", np.zeros((2, 3, 8)))})
note("named_f64.safetensors", named)
layers = attention(3, 2, 3, 3).astype("<f2")
safetensors("layers_f16.safetensors", {f"layers.{n}.{stage}": f("F16", layers[k][None])
                                       for k, n in enumerate((2, 10, 11)) for stage in ("weights", "scores")})
note("layers_f16.safetensors", layers)

npy("bad_rank2.npy", np.zeros((4, 4), "<f4"))
npy("bad_rank5.npy", np.zeros((2, 2, 2, 3, 3), "<f4"))
npy("bad_integers.npy", np.zeros((2, 4, 4), "<i8"))
npy("bad_big_endian.npy", np.zeros((2, 4, 4), ">f4"))
npy("bad_fortran.npy", np.asfortranarray(np.zeros((2, 3, 4), "<f4")))
npy("bad_empty.npy", np.zeros((0, 4, 4), "<f4"))
npy("bad_records.npy", np.zeros((2, 4, 4), [("weights", "<f4"), ("mask", "?")]))
np.save(HERE / "bad_objects.npy", np.array([np.zeros((2, 2)), None], object), allow_pickle=True)
npy("bad_tokens.npy", np.zeros((2, 4, 4), "<f4"))
(HERE / "bad_tokens.tokens.json").write_text('["only", "two"]')
whole = (HERE / "lh_f32.npy").read_bytes()
(HERE / "bad_cut.npy").write_bytes(whole[:-5])
(HERE / "bad_header.npy").write_bytes(whole[:30] + b"\0" * 20 + whole[50:])
safetensors("bad_two.safetensors", {"left": f("F32", np.zeros((2, 3, 3))), "right": f("F32", np.zeros((2, 3, 3)))})
safetensors("bad_layers.safetensors", {"attn.0": f("F32", np.zeros((2, 3, 3))), "attn.1": f("F32", np.zeros((2, 4, 4)))})
safetensors("bad_none.safetensors", {"ids": f("I64", np.zeros((2, 3)))})
for name in list(expected):
    if name.startswith("bad_"):
        del expected[name]
text = json.dumps(expected, allow_nan=True)
(HERE / "expected.json").write_text(text.replace("NaN", '"nan"').replace("Infinity", '"inf"') + "\n")

# A head of any length is read in parts and pooled. These files have one "layer" (H, rows, columns).
map_ = np.exp(rng.normal(size=(2, 61, 53)) * 2)
map_[0] = np.tril(map_[0])
map_ = (map_ / map_.sum(-1, keepdims=True)).astype("<f2")
map_[1, 7, 9], map_[1, 60, 52], map_[1, 30, 0] = np.nan, np.inf, -0.25
np.save(HERE / "map_f16.npy", map_)


def pooled(matrix, cells, pool):
    """Returns one pixel per cells x cells weights, NaN if one of them is not finite."""
    finite = np.where(np.isfinite(matrix), matrix, np.nan).astype(np.float64)
    rows, cols = (range(0, extent, cells) for extent in matrix.shape)
    return [[pool(finite[i:i + cells, j:j + cells]) for j in cols] for i in rows]


for cells in (4, 16):
    for name, pool in (("max", np.max), ("mean", np.mean)):
        np.save(HERE / f"map_{name}_{cells}.npy", np.array([pooled(head, cells, pool) for head in map_], "<f4"))
