"""Reads and writes .safetensors files with NumPy alone."""

from __future__ import annotations

import json
import mmap
import os
import struct
from typing import Dict, Mapping, Tuple

import numpy

_DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1", "U8": "u1", "BOOL": "?"}
_NAMES = {numpy.dtype(text).newbyteorder("<"): name for name, text in _DTYPES.items()}


def load(path: str) -> Tuple[Dict[str, numpy.ndarray], Dict[str, str]]:
    """Returns the arrays of a file and its metadata. The arrays share one private mapping of the file: the file may be
    removed afterwards, and changes of an array do not reach it."""
    with open(path, "rb") as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    (length,) = struct.unpack_from("<Q", data)
    entries = json.loads(data[8 : 8 + length].decode())
    metadata = entries.pop("__metadata__", {})
    arrays = {}
    for name, entry in entries.items():
        begin, end = entry["data_offsets"]
        dtype = numpy.dtype(_DTYPES[entry["dtype"]])
        array = numpy.frombuffer(data, dtype, (end - begin) // dtype.itemsize, 8 + length + begin)
        arrays[name] = array.reshape(entry["shape"])
    return arrays, metadata


def save(path: str, arrays: Mapping[str, numpy.ndarray]) -> None:
    """Writes arrays of real numbers or bools. Raises TypeError for others."""
    header, parts, at = {}, [], 0
    for name, array in arrays.items():
        array = numpy.ascontiguousarray(array)
        little = array.dtype.newbyteorder("<")
        if little not in _NAMES:
            raise TypeError(f"{name} holds {array.dtype}; give real numbers")
        data = array.astype(little, copy=False).tobytes()
        header[name] = {"dtype": _NAMES[little], "shape": list(array.shape), "data_offsets": [at, at + len(data)]}
        at += len(data)
        parts.append(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.writelines(parts)
