"""Reads and writes safetensors files as dictionaries of PyTorch tensors, for the checks in this folder."""
import hashlib
import json
import pathlib
import struct

import torch

TYPES = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16, "I64": torch.int64, "BOOL": torch.bool}


def read_safetensors(path):
    data = pathlib.Path(path).read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    tensors = {}
    for name, entry in json.loads(data[8 : 8 + length]).items():
        if name != "__metadata__":
            begin, end = (8 + length + offset for offset in entry["data_offsets"])
            flat = torch.frombuffer(bytearray(data[begin:end]), dtype=TYPES[entry["dtype"]])
            tensors[name] = flat.reshape(entry["shape"])
    return tensors


def write_safetensors(path, tensors, metadata=None):
    header, data = ({"__metadata__": metadata} if metadata else {}), b""
    for name, tensor in tensors.items():
        dtype = next(key for key, value in TYPES.items() if value == tensor.dtype)
        bits = tensor.contiguous()
        raw = (bits.view(torch.int16) if dtype == "BF16" else bits).numpy().tobytes()  # NumPy does not have bfloat16
        header[name] = {"dtype": dtype, "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    pathlib.Path(path).write_bytes(struct.pack("<Q", len(text)) + text + data)


def header_of(path):
    data = pathlib.Path(path).read_bytes()
    return data[: 8 + struct.unpack_from("<Q", data)[0]]  # with the length before it


def digest(data):
    return hashlib.sha256(data).hexdigest()


def write_patch(path, folder, layers):
    """Writes a patch in the format that the manual describes. layers: {number: {name: (original, tensor or {position:
    value})}}, both in the layout of the patch; "gains" is a list."""
    folder, tensors, listed = pathlib.Path(folder), {}, []
    for number, changes in layers.items():
        entry = {"layer": number} | ({"gains": changes["gains"]} if "gains" in changes else {})
        entry["original_sha256"] = {}
        for name, change in changes.items():
            if name == "gains":
                continue
            original, changed = change
            entry["original_sha256"][name] = digest(original.contiguous().numpy().tobytes())
            place = f"layers.{number}.{name}"
            if isinstance(changed, dict):
                tensors[place + ".at"] = torch.tensor(list(changed))
                tensors[place + ".to"] = torch.tensor(list(changed.values()))
            else:
                tensors[place] = changed
        listed.append(entry)
    weights = folder / "model.safetensors"
    made_for = {"name": folder.name, "config_sha256": digest((folder / "config.json").read_bytes()),
                "files": [{"name": weights.name, "bytes": weights.stat().st_size, "header_sha256": digest(header_of(weights))}]}  # fmt: skip
    text = json.dumps({"version": 1, "checkpoint": made_for, "layers": listed})
    write_safetensors(path, tensors, {"headscope.patch": text})
