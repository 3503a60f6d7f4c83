"""PNG pictures of matrices, made with NumPy and zlib alone, so that no display and no program is needed."""

from __future__ import annotations

import struct
import zlib

import numpy

_POSITIVE, _NEGATIVE = numpy.array([37, 99, 235]), numpy.array([217, 119, 6])
_LINE = 205  # brightness of the lines around a matrix


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def encoded(pixels: numpy.ndarray) -> bytes:
    """Returns pixels, (height, width, 3) of uint8, as a PNG file."""
    height, width, _ = pixels.shape
    rows = numpy.concatenate([numpy.zeros((height, 1), numpy.uint8), pixels.reshape(height, -1)], 1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(rows.tobytes(), 6)) + _chunk(b"IEND", b"")


def colored(matrix: numpy.ndarray, most: int = 4096) -> numpy.ndarray:
    """Returns the colors of a matrix, (rows, columns, 3) of uint8: white is 0, blue positive, orange negative. A side with
    more than `most` cells shows the largest of several."""
    matrix = _pooled(numpy.asarray(matrix, numpy.float64), most)
    largest = numpy.abs(matrix).max(initial=0) or 1
    depth = (numpy.abs(matrix) / largest)[..., None]
    color = numpy.where((matrix < 0)[..., None], _NEGATIVE, _POSITIVE)
    return numpy.rint(255 + (color - 255) * depth).astype(numpy.uint8)


def _pooled(matrix: numpy.ndarray, most: int) -> numpy.ndarray:
    """Returns the largest value of each block of cells, so that no side has more than `most`."""
    for axis in (0, 1):
        size = matrix.shape[axis]
        if size > most:
            starts = numpy.unique(numpy.arange(most) * size // most)
            high, low = numpy.maximum.reduceat(matrix, starts, axis), numpy.minimum.reduceat(matrix, starts, axis)
            matrix = numpy.where(high >= -low, high, low)
    return matrix


def grid(maps: numpy.ndarray, width: int = 960) -> bytes:
    """Returns matrices, (layers, heads, rows, columns), as a picture with a row of them for each layer."""
    layers, heads, rows, columns = maps.shape
    side = max(8, width // heads - 2)
    scale = max(1, min(side // max(rows, columns), 24))
    drawn = [[numpy.kron(_pooled(numpy.asarray(maps[a, b], numpy.float64), side), numpy.ones((scale, scale))) for b in range(heads)] for a in range(layers)]
    height, across = drawn[0][0].shape
    pixels = numpy.full((layers * (height + 2), heads * (across + 2), 3), _LINE, numpy.uint8)
    for a in range(layers):
        for b in range(heads):
            top, left = a * (height + 2) + 1, b * (across + 2) + 1
            pixels[top : top + height, left : left + across] = colored(drawn[a][b])
    return encoded(pixels)
