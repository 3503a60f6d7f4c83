#!/usr/bin/env python3
"""write_quantized.py FOLDER OUT --scheme gptq4: writes a Hugging Face checkpoint folder with quantized matrices, as the packages
AutoGPTQ, AutoAWQ, bitsandbytes, compressed-tensors and the publishers of DeepSeek-V3 and gpt-oss store them, and OUT-float with
the numbers that these stand for.

Based on the packages' public descriptions. Uses only NumPy. The quantizers only have to be valid, not good.
"""
import argparse
import json
import pathlib
import shutil
import struct
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from write_gguf import read_safetensors  # noqa: E402

NAMES = {"float32": "F32", "float16": "F16", "int64": "I64", "int32": "I32", "int8": "I8", "uint8": "U8", "uint16": "BF16"}


class Float8(np.ndarray):
    """Bytes of E4M3 numbers."""


def write_safetensors(path, tensors, metadata=None):
    header, data = {"__metadata__": metadata} if metadata else {}, b""
    for name, tensor in tensors.items():
        raw = np.ascontiguousarray(tensor).tobytes()
        kind = "F8_E4M3" if isinstance(tensor, Float8) else NAMES[tensor.dtype.name]
        header[name] = {"dtype": kind, "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    head = json.dumps(header).encode()
    pathlib.Path(path).write_bytes(struct.pack("<Q", len(head)) + head + data)


def half(numbers):
    return np.asarray(numbers).astype(np.float16)


def single(numbers):
    return np.asarray(numbers).astype(np.float32)


def stream(columns, bits):
    """Packs each column as one long number, number k times 2^(bits k), cut into words of 32 bits: (words, columns)."""
    packed = []
    for column in columns.T.tolist():
        whole = sum(int(number) << bits * k for k, number in enumerate(column))
        packed.append([whole >> 32 * word & 0xFFFFFFFF for word in range(len(column) * bits // 32)])
    return np.array(packed, np.uint32).T.view(np.int32)


def grouped(matrix, group_of, bits):
    """Quantizes (d_in, d_out) with a scale and a zero for each group and column. Returns q, zeros, scales, numbers."""
    most, groups = 2**bits - 1, group_of.max() + 1
    zeros, scales = np.zeros((groups, matrix.shape[1]), int), np.zeros((groups, matrix.shape[1]), np.float16)
    for group in range(groups):
        rows = matrix[group_of == group]
        low, high = np.minimum(rows.min(0), 0), np.maximum(rows.max(0), 1e-3)
        scales[group] = half((high - low) / most)
        zeros[group] = np.clip(np.rint(-low / single(scales[group])), 0, most)
    q = np.clip(np.rint(matrix / single(scales)[group_of]) + zeros[group_of], 0, most).astype(int)
    return q, zeros, scales, single(scales)[group_of] * (q - zeros[group_of]).astype(np.float32)


def gptq(name, matrix, random, bits=4, group=16, shuffled=False, version=1, index=True):
    d_in = matrix.shape[1]
    group_of = np.arange(d_in) // group
    if shuffled:  # desc_act: groups are of columns in another order
        group_of = group_of[random.permutation(d_in)]
    q, zeros, scales, numbers = grouped(matrix.T, group_of, bits)
    if version == 1:  # a zero of 0 cannot be stored
        zeros = np.maximum(zeros, 1)
        q = np.clip(np.rint(matrix.T / single(scales)[group_of]) + zeros[group_of], 0, 2**bits - 1).astype(int)
        numbers = single(scales)[group_of] * (q - zeros[group_of]).astype(np.float32)
    stored = zeros - 1 if version == 1 else zeros
    parts = {"qweight": stream(q, bits), "qzeros": np.ascontiguousarray(stream(stored.T, bits).T), "scales": scales}
    if index:
        parts["g_idx"] = group_of.astype(np.int32)
    return {f"{name}.{part}": one for part, one in parts.items()}, numbers.T


def awq(name, matrix, random, group=32):
    order = [0, 2, 4, 6, 1, 3, 5, 7]
    q, zeros, scales, numbers = grouped(matrix.T, np.arange(matrix.shape[1]) // group, 4)

    def packed(rows):
        words = np.zeros((rows.shape[0], rows.shape[1] // 8), np.uint32)
        for i, column in enumerate(order):
            words |= rows[:, column::8].astype(np.uint32) << np.uint32(4 * i)
        return words.view(np.int32)

    return {f"{name}.qweight": packed(q), f"{name}.qzeros": packed(zeros), f"{name}.scales": scales}, numbers.T


NF4 = [-1.0, -0.6961928, -0.52507305, -0.3949175, -0.28444138, -0.18477343, -0.091050036, 0.0, 0.0795803, 0.1609302, 0.2461123,
       0.33791524, 0.44070983, 0.562617, 0.72295684, 1.0]  # fmt: skip
FP4 = [0.0, 0.005208333, 0.6666667, 1.0, 0.33333334, 0.5, 0.16666667, 0.25]


def bitsandbytes(name, matrix, random, kind="nf4", twice=False, block=64):
    table = single(NF4 if kind == "nf4" else FP4 + [-number for number in FP4])
    flat = matrix.reshape(-1)
    blocks = -(-flat.size // block)
    rows = np.pad(flat, (0, blocks * block - flat.size)).reshape(blocks, block)
    largest = single(np.abs(rows).max(1))
    state = {"quant_type": kind, "blocksize": block, "dtype": "bfloat16", "shape": list(matrix.shape)}
    parts = {"quant_map": table}
    if twice:
        nested, offset = 256, np.float32(largest.mean())
        map_of = np.sort(random.uniform(-1, 1, 256)).astype(np.float32)
        padded = np.pad(largest - offset, (0, -blocks % nested)).reshape(-1, nested)
        sizes = single(np.abs(padded).max(1))
        positions = np.abs((padded / sizes[:, None])[:, :, None] - map_of).argmin(2).astype(np.uint8).reshape(-1)[:blocks]
        largest = map_of[positions] * sizes[np.arange(blocks) // nested] + offset
        parts |= {"absmax": positions, "nested_absmax": sizes, "nested_quant_map": map_of}
        state |= {"nested_blocksize": nested, "nested_dtype": "float32", "nested_offset": float(offset)}
    else:
        parts["absmax"] = largest
    q = np.abs((rows / largest[:, None])[:, :, None] - table).argmin(2).astype(np.uint8).reshape(-1)[: flat.size]
    numbers = table[q] * largest[np.arange(flat.size) // block]
    q = np.pad(q, (0, flat.size % 2))
    parts[f"quant_state.bitsandbytes__{kind}"] = np.frombuffer(json.dumps(state).encode(), np.uint8)
    packed = {f"{name}.weight": (q[0::2] << 4 | q[1::2]).reshape(-1, 1)}
    return packed | {f"{name}.weight.{part}": one for part, one in parts.items()}, numbers.reshape(matrix.shape)


def int8(name, matrix, random):
    largest = single(np.abs(matrix).max(1))
    q = np.rint(matrix * 127 / largest[:, None]).astype(np.int8)
    parts = {f"{name}.weight": q, f"{name}.SCB": largest, f"{name}.weight_format": np.array(0, np.uint8)}
    return parts, q.astype(np.float32) * largest[:, None] * (np.float32(1) / np.float32(127))


def e4m3_numbers():
    """The numbers of all bytes: as the upper bits of a half, which has 8 more in the bias of its exponent."""
    every = np.arange(256, dtype=np.uint16)
    numbers = ((every & 128) << 8 | (every & 127) << 7).view(np.float16).astype(np.float32) * 256
    numbers[[127, 255]] = np.nan
    return numbers


def float8(name, matrix, random, block=None, ending="weight_scale_inv", scale=np.float32):
    """block: (height, width), None for one scale, "rows" for one of each row."""
    height, width = matrix.shape if block is None else (1, matrix.shape[1]) if block == "rows" else block
    rows, columns = -(-matrix.shape[0] // height), -(-matrix.shape[1] // width)
    spread = lambda scales: scales.repeat(height, 0).repeat(width, 1)[: matrix.shape[0], : matrix.shape[1]]
    scales = np.array([[np.abs(matrix[r * height : (r + 1) * height, c * width : (c + 1) * width]).max() / 448
                        for c in range(columns)] for r in range(rows)], np.float32)  # fmt: skip
    stored = single(scales)
    if scale == "bfloat16":
        stored = (scales.view(np.uint32) >> 16).astype(np.uint16)
        scales = (stored.astype(np.uint32) << 16).view(np.float32)
    numbers = e4m3_numbers()
    q = np.nanargmin(np.abs((matrix / spread(scales))[:, :, None] - numbers), axis=2).astype(np.uint8)
    shape = () if block is None else stored.shape
    parts = {f"{name}.weight": q.view(Float8), f"{name}.{ending}": stored.reshape(shape)}
    if ending == "weight_scale":
        parts[f"{name}.input_scale"] = single(0.5).reshape(1)
    return parts, numbers[q] * spread(scales)


E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)


def mxfp4(name, matrices, random):
    """(experts, columns, rows) as gpt-oss publishes them: blocks of 32 numbers of a column of the result."""
    turned = np.ascontiguousarray(matrices.transpose(0, 2, 1))
    blocks = turned.reshape(*turned.shape[:2], -1, 32)
    exponents = np.floor(np.log2(np.abs(blocks).max(3))) - 2
    scales = single(2.0**exponents)
    q = np.abs((blocks / scales[..., None])[..., None] - E2M1).argmin(4).astype(np.uint8)
    numbers = (E2M1[q] * scales[..., None]).reshape(turned.shape).transpose(0, 2, 1)
    parts = {f"{name}_blocks": q[..., 0::2] | q[..., 1::2] << 4, f"{name}_scales": (exponents + 127).astype(np.uint8)}
    return parts, np.ascontiguousarray(numbers)


def method(name, **more):
    return {"quant_method": name, **more}


# name -> (quantization_config, function, its arguments)
SCHEMES = {
    "gptq2": (method("gptq", bits=2, group_size=16), gptq, {"bits": 2}),
    "gptq3": (method("gptq", bits=3, group_size=32), gptq, {"bits": 3, "group": 32}),
    "gptq4": (method("gptq", bits=4, group_size=16, desc_act=False), gptq, {}),
    "gptq4_order": (method("gptq", bits=4, group_size=16, desc_act=True), gptq, {"shuffled": True}),
    "gptq4_v2": (method("gptq", bits=4, group_size=32, checkpoint_format="gptq_v2"), gptq, {"group": 32, "version": 2}),
    "gptq4_plain": (method("gptq", bits=4, group_size=16), gptq, {"index": False}),
    "gptq8": (method("gptq", bits=8, group_size=-1), gptq, {"bits": 8, "group": 10**6}),
    "awq": (method("awq", bits=4, group_size=32, version="gemm", zero_point=True), awq, {}),
    "nf4": (method("bitsandbytes", load_in_4bit=True, bnb_4bit_quant_type="nf4"), bitsandbytes, {}),
    "nf4_twice": (method("bitsandbytes", load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_use_double_quant=True),
                  bitsandbytes, {"twice": True}),
    "fp4": (method("bitsandbytes", load_in_4bit=True, bnb_4bit_quant_type="fp4"), bitsandbytes, {"kind": "fp4", "block": 128}),
    "int8": (method("bitsandbytes", load_in_8bit=True), int8, {}),
    "fp8_blocks": (method("fp8", weight_block_size=[24, 40]), float8, {"block": (24, 40)}),
    "fp8_usual": (method("fp8"), float8, {"block": (128, 128)}),
    "fp8_tensor": (method("compressed-tensors", format="float-quantized"), float8, {"ending": "weight_scale"}),
    "fp8_rows": (method("compressed-tensors", format="float-quantized"), float8,
                 {"block": "rows", "ending": "weight_scale", "scale": "bfloat16"}),
    "mxfp4": (method("mxfp4"), mxfp4, {}),
}  # fmt: skip


def is_packed(name, tensor, scheme):
    if scheme == "mxfp4":
        return name.endswith(("experts.gate_up_proj", "experts.down_proj"))
    if scheme == "gptq3" and any(extent % 32 for extent in tensor.shape):
        return False  # words hold whole rows only
    return tensor.ndim == 2 and name.endswith(".weight") and (".layers." in name or ".h." in "." + name)


def convert(folder, out, scheme, seed=3, tensors=None, config=None):
    """Writes OUT and OUT-float. GPT-2's matrices, which are (d_in, d_out), are packed as all others."""
    folder, out = pathlib.Path(folder), pathlib.Path(out)
    settings, quantise, arguments = SCHEMES[scheme]
    config = config or json.loads((folder / "config.json").read_text())
    tensors = tensors or read_safetensors(folder / "model.safetensors")
    random, packed, plain = np.random.default_rng(seed), {}, {}
    turned = config["model_type"] == "gpt2"
    for name, tensor in tensors.items():
        tensor = single(tensor)
        if not is_packed(name, tensor, scheme):
            packed[name] = plain[name] = tensor
            continue
        own = dict(arguments)
        if "group" in own:
            own["group"] = min(own["group"], tensor.shape[0 if turned else 1])
        parts, numbers = quantise(name.removesuffix(".weight"), tensor.T if turned else tensor, random, **own)
        packed |= parts
        plain[name] = np.ascontiguousarray(numbers.T if turned else numbers)
    for path, ours, more in ((out, packed, {"quantization_config": settings}), (out.with_name(out.name + "-float"), plain, {})):
        path.mkdir(parents=True, exist_ok=True)
        (path / "config.json").write_text(json.dumps(config | more))
        write_safetensors(path / "model.safetensors", ours)
        for extra in folder.glob("*token*"):
            shutil.copy(extra, path)
    return packed, plain


def write_examples(folder):
    """Writes tests/data/corpus/quantized: a small matrix in each scheme, with its config.json in the metadata."""
    folder, random = pathlib.Path(folder), np.random.default_rng(2)
    folder.mkdir(parents=True, exist_ok=True)
    for scheme, (settings, quantise, arguments) in SCHEMES.items():
        matrix = single(random.standard_normal((2, 32, 4) if scheme == "mxfp4" else (32, 32)))
        own = dict(arguments) | ({"group": 32} if arguments.get("group", 0) > 32 else {})
        name = "layers.0.experts.gate_up_proj" if scheme == "mxfp4" else "layers.0.mlp.up_proj"
        config = json.dumps({"model_type": "llama", "quantization_config": settings})
        write_safetensors(folder / f"good_{scheme}.safetensors", quantise(name, matrix, random, **own)[0], {"config": config})


def main():
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--examples", action="store_true", help="write tests/data/corpus/quantized; FOLDER is not read")
    parser.add_argument("--scheme", default="gptq4", choices=SCHEMES)
    options = parser.parse_args()
    if options.examples:
        return write_examples(options.out)
    convert(options.folder, options.out, options.scheme)


if __name__ == "__main__":
    main()
