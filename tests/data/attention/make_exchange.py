#!/usr/bin/env python3
"""Writes the .npz files and the JSON for CircuitsVis of this folder with NumPy, and their contents to expected_exchange.json."""
import io
import json
import pathlib
import struct
import zipfile

import numpy as np

HERE = pathlib.Path(__file__).parent
rng = np.random.default_rng(21)
expected = {}


def attention(*shape):
    weights = np.exp(rng.normal(size=shape)) * np.tril(np.ones(shape[-2:]))
    return weights / weights.sum(-1, keepdims=True)


def note(name, numbers, choice=None):
    """Records the weights of one choice, (L, H, Tq, Tk), as they are stored."""
    expected.setdefault(name, []).append({**(choice or {}), "shape": list(numbers.shape),
                                          "numbers": [float(x) for x in numbers.astype(np.float64).ravel()]})  # fmt: skip


weights = attention(2, 3, 4, 4)
np.savez(HERE / "stored.npz", attentions=weights.astype("<f2"), hidden=np.zeros((2, 4, 8), "<f4"), tokens=["The", "Ġcat", "Ġsat", "ĠÃł"])
note("stored.npz", weights.astype("<f2"))
np.savez_compressed(HERE / "deflated.npz", **{f"layer{n}": weights[k] for k, n in enumerate((3, 10))}, tokens=np.array(["a", "bb", "c", "d"], "S"))
note("deflated.npz", weights)
np.savez(HERE / "arr.npz", *weights.astype("<f4"))
note("arr.npz", weights.astype("<f4"))
with zipfile.ZipFile(HERE / "wide.npz", "w") as archive, archive.open("attn.npy", "w", force_zip64=True) as file:
    np.lib.format.write_array(file, weights.astype("<f4"))
note("wide.npz", weights.astype("<f4"))
odd = weights.astype("<f4")
odd[0, 1, 3, 2] = np.nan
np.savez(HERE / "nan.npz", weights=odd)

batch = attention(2, 3, 2, 4, 4).astype("<f4")  # layers, texts, heads
words = [["one", "two", "three", "four"], ["▁uno", "▁due", "▁tre", "[PAD]"], ["a", "b", "c", "d"]]
mask = [[1, 1, 1, 1], [1, 1, 1, 0], [1, 1, 1, 1]]
np.savez_compressed(HERE / "batch.npz", attentions=batch, tokens=words, attention_mask=mask)
np.save(HERE / "batch.npy", batch)
np.savez(HERE / "batch_layers.npz", **{f"attentions_{n}": batch[n] for n in range(2)})
for name in ("batch.npz", "batch.npy", "batch_layers.npz"):
    for text in range(3):
        note(name, batch[:, text], {"text": text})

encoder, decoder, cross = attention(2, 2, 2, 3, 3), attention(3, 2, 2, 4, 4), np.full((3, 2, 2, 4, 3), 1 / 3)
np.savez(HERE / "triple.npz", encoder_attentions=encoder, decoder_attentions=decoder, cross_attentions=cross, encoder_hidden_states=np.zeros((2, 3, 8)),
         encoder_tokens=[["le", "chat", "dort"], ["il", "fait", "beau"]], decoder_tokens=[list("abcd"), list("efgh")])  # fmt: skip
for part, numbers in (("encoder", encoder), ("decoder", decoder), ("cross", cross)):
    for text in range(2):
        note("triple.npz", numbers[:, text], {"part": part, "text": text})

# CircuitsVis: what its attention_heads() gets.
heads = attention(3, 4, 4).astype("<f4")
(HERE / "one.circuitsvis.json").write_text(json.dumps({"tokens": ["The", " cat", " sat", "."], "attention": heads.tolist()}))
note("one.circuitsvis.json", heads[None])
named = [f"L{layer}H{head}" for layer in (0, 5) for head in range(3)]
both = attention(2, 3, 4, 4).astype("<f4")
(HERE / "layers.circuitsvis.json").write_text(json.dumps({"attention_head_names": named, "attention": both.reshape(6, 4, 4).tolist(), "tokens": list("abcd")}))
note("layers.circuitsvis.json", both)
(HERE / "axis.circuitsvis.json").write_text(json.dumps({"tokens": list("abcd"), "attention": both.tolist()}))
note("axis.circuitsvis.json", both)
(HERE / "list.circuitsvis.json").write_text(json.dumps([{"tokens": list("abcd"), "attention": one.tolist(), "maskUpperTri": False} for one in both]))
note("list.circuitsvis.json", both)

# Damaged and refused.
whole = bytearray((HERE / "stored.npz").read_bytes())
at = whole.index(weights.astype("<f2").tobytes()[:16])
whole[at + 5] ^= 1
(HERE / "bad_checksum.npz").write_bytes(whole)
(HERE / "bad_cut.npz").write_bytes((HERE / "stored.npz").read_bytes()[:-30])
packed = bytearray((HERE / "deflated.npz").read_bytes())
begin = packed.index(b"layer3.npy") + len("layer3.npy")
begin += struct.unpack_from("<H", packed, begin - len("layer3.npy") - 2)[0]
packed[begin + 200] ^= 0xFF
(HERE / "bad_deflate.npz").write_bytes(packed)
locked = bytearray((HERE / "arr.npz").read_bytes())
for record, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
    start = 0
    while (start := locked.find(record, start)) >= 0:
        locked[start + flags] |= 1
        start += 4
(HERE / "bad_encrypted.npz").write_bytes(locked)
with zipfile.ZipFile(HERE / "bad_method.npz", "w", zipfile.ZIP_BZIP2) as archive:
    data = io.BytesIO()
    np.save(data, weights)
    archive.writestr("attn.npy", data.getvalue())
np.savez(HERE / "bad_objects.npz", attentions=weights, tokens=np.array(["a", "b", "c", "d"], object))
np.savez(HERE / "bad_none.npz", ids=np.zeros((2, 3), "<i8"))
np.savez(HERE / "bad_fortran.npz", attn=np.asfortranarray(weights))
for name, text in {
    "nan": '{"tokens": ["a"], "attention": [[[NaN]]]}',
    "ragged": '{"tokens": ["a", "b"], "attention": [[[1, 0], [1]]]}',
    "text": '{"tokens": ["a"], "attention": [[["1"]]]}',
    "flat": '{"tokens": ["a"], "attention": [1]}',
    "names": '{"tokens": ["a"], "attention": [[[1]]], "attention_head_names": ["x", "y"]}',
    "tokens": '{"tokens": ["a", "b"], "attention": [[[1]]]}',
    "other": '{"words": ["a"]}',
}.items():
    (HERE / f"bad_{name}.circuitsvis.json").write_text(text)

(HERE / "expected_exchange.json").write_text(json.dumps(expected) + "\n")
