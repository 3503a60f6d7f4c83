"""Pictures of results: as scenes that the program draws with its fonts, in the form of `headscope serve`."""

from __future__ import annotations

import textwrap
import unicodedata
from typing import Any, Dict, List, Sequence

import numpy

from ._png import colored

_INK, _FAINT, _EDGE, _POSITIVE, _NEGATIVE = "1F2937", "6B7280", "CBD5E1", "2563EB", "D97706"
Scene = Dict[str, Any]


def width_of(text: str, size: float) -> float:
    """Returns about the width of a text in logical pixels; never too little for most."""
    return size * sum(1.05 if unicodedata.east_asian_width(letter) in "WF" else 0.62 for letter in text)


def short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _text(x: float, y: float, text: str, **more: Any) -> Dict[str, Any]:
    return {"x": round(x, 1), "y": round(y, 1), "text": text, "color": _INK, **more}


def _grid(x: float, y: float, width: float, height: float, pixels: numpy.ndarray) -> Dict[str, Any]:
    rows, columns, _ = pixels.shape
    return {"grid": [x, y, width, height], "rows": rows, "cols": columns, "cells": numpy.ascontiguousarray(pixels).tobytes().hex()}


def _cell(value: float) -> str:
    text = f"{value:.2f}"
    return ".00" if text in ("0.00", "-0.00") else text.replace("0.", ".") if abs(value) < 1 else text


def _titled(title: str, note: str, width: float) -> List[Dict[str, Any]]:
    return [_text(16, 26, short(title, int(width / 9)), size=16, font="bold"), _text(16, 46, short(note, int(width / 7)), size=12, color=_FAINT)]


def _legend(x: float, y: float, low: float, high: float) -> List[Dict[str, Any]]:
    ramp = colored(numpy.linspace(min(low, 0), max(high, 0), 40)[None])
    ends = [_text(x, y + 24, f"{min(low, 0):.3g}", size=11, color=_FAINT), _text(x + 120, y + 24, f"{high:.3g}", size=11, color=_FAINT, align="right")]
    return [_grid(x, y, 120, 10, ramp), {"rect": [x, y, 120, 10], "stroke": _EDGE}, *ends]


def matrix_scene(title: str, note: str, matrix: numpy.ndarray, rows: Sequence[str], columns: Sequence[str]) -> Scene:
    """Returns a matrix with the names of its rows and columns."""
    count, across = matrix.shape
    cell = max(2, min(30, 720 // max(count, across)))
    step = -(-12 // cell)  # rows for each line of text
    left = 28 + min(110, max(width_of(short(name, 14), 11) for name in rows))
    top = 64 + min(100, 0.72 * max(width_of(short(name, 14), 11) for name in columns))
    wide, high = cell * across, cell * count
    width = max(left + wide + 70, 32 + 9.5 * len(title), 32 + 7.2 * len(note), 380)
    items = _titled(title, note, width)
    items += [_text(left - 6, top + (row + 0.5) * cell + 4, short(rows[row], 14), size=11, align="right") for row in range(0, count, step)]
    items += [_text(left + (column + 0.5) * cell + 4, top - 6, short(columns[column], 14), size=11, angle=-45) for column in range(0, across, step)]
    items += [_grid(left, top, wide, high, colored(matrix)), {"rect": [left - 1, top - 1, wide + 2, high + 2], "stroke": _EDGE}]
    if cell == 30 and max(count, across) <= 16:
        most = numpy.abs(matrix).max(initial=0) or 1
        for row in range(count):
            for column in range(across):
                ink = "FFFFFF" if abs(matrix[row, column]) > 0.6 * most else _INK
                items.append(_text(left + (column + 0.5) * cell, top + (row + 0.5) * cell + 3, _cell(matrix[row, column]), size=9, align="center",
                                   color=ink, font="mono"))  # fmt: skip
    items += _legend(left, top + high + 14, float(matrix.min(initial=0)), float(matrix.max(initial=0)))
    return {"width": width, "height": top + high + 50, "items": items}


def grid_scene(title: str, note: str, maps: numpy.ndarray, layers: Sequence[str], heads: Sequence[str]) -> Scene:
    """Returns matrices, (layers, heads, rows, columns), in a row for each layer; each has its own scale of colors."""
    count, across = maps.shape[:2]
    side = max(16, min(96, 900 // across))
    left, top = 16 + max(width_of(name, 11) for name in layers) + 8, 76
    width = max(left + across * side + 16, 32 + 9.5 * len(title), 380)
    items = _titled(title, note, width)
    step = -(-28 // side)
    items += [_text(left + (head + 0.5) * side, top - 6, heads[head], size=11, align="center", color=_FAINT) for head in range(0, across, step)]
    for layer in range(count):
        y = top + layer * side
        items.append(_text(left - 6, y + side / 2 + 4, layers[layer], size=11, align="right", color=_FAINT))
        for head in range(across):
            x = left + head * side
            items += [_grid(x + 1, y + 1, side - 4, side - 4, colored(maps[layer, head], side)), {"rect": [x, y, side - 2, side - 2], "stroke": _EDGE}]
    return {"width": width, "height": top + count * side + 16, "items": items}


def table_scene(headings: Sequence[str], lines: Sequence[Sequence[Any]], caption: str, bar: Any, most: int = 40) -> Scene:
    """Returns a table of at most `most` lines. bar: the type of numbers that are drawn as bars too."""
    shown = [[short("" if cell is None else f"{cell:.4g}" if isinstance(cell, float) else str(cell), 22) for cell in line] for line in lines[:most]]
    widths = [16 + max(width_of(text, 12) for text in column) for column in zip([short(heading, 22) for heading in headings], *shown)]
    drawn = [any(isinstance(line[column], bar) for line in lines) for column in range(len(headings))]
    lefts, x = [], 16.0
    for width, has_bar in zip(widths, drawn):
        lefts.append(x)
        x += width + (130 if has_bar else 0)
    width = max(x + 16, 560)
    captions = textwrap.wrap(caption, int((width - 32) / 7.4))
    items = [_text(16, 26 + 18 * number, line, size=13, font="bold") for number, line in enumerate(captions)]
    top = 56 + 18 * (len(captions) - 1)
    items += [_text(left, top - 4, short(heading, 22), size=12, color=_FAINT) for left, heading in zip(lefts, headings)]
    for row, texts in enumerate(shown):
        y = top + 18 + 20 * row
        items += [_text(left, y, text, size=12) for left, text in zip(lefts, texts) if text]
        for column, cell in enumerate(lines[row]):
            if isinstance(cell, bar) and cell:
                color = _NEGATIVE if cell < 0 else _POSITIVE
                items.append({"rect": [lefts[column] + widths[column], y - 10, max(1.0, 120 * abs(cell) / cell.largest), 12], "fill": color})
    if len(lines) > most:
        items.append(_text(16, top + 18 + 20 * most, f"{len(lines) - most} more", size=12, color=_FAINT))
    return {"width": width, "height": top + 18 + 20 * (min(len(lines), most) + (len(lines) > most)), "items": items}
