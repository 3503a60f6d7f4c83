"""Self-contained HTML of results, for notebooks: no file and no network is needed to show it."""

from __future__ import annotations

import html
import json
import pathlib
import re
import uuid
from typing import Any, List, Optional, Sequence, Tuple

import numpy

_LETTERS = numpy.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", numpy.uint8)
_FEW = 240_000  # letters up to which numbers have 12 bits, else 9
_CELL = "text-align:left;padding:1px 12px 1px 0"
_MOST = 2_000_000  # letters of a page; beyond it, layers and then tokens are left out


def text(value: Any) -> str:
    """Returns a value as HTML text, in which nothing looks like an address."""
    return html.escape(str(value)).replace("/", "&#47;")


def _json(value: Any) -> str:
    return json.dumps(value).replace("<", "\\u003c").replace("/", "\\/")


def _is_lower(maps: numpy.ndarray) -> bool:
    rows, columns = maps.shape[-2:]
    return rows == columns and rows > 1 and not maps[..., numpy.triu(numpy.ones((rows, columns), bool), 1)].any()


def _coded(maps: numpy.ndarray, low: numpy.ndarray, high: numpy.ndarray, bits: int) -> str:
    """Returns the numbers of each head, (heads, n), as text: from low to high in 2^bits - 1 steps."""
    span = numpy.where(high > low, high - low, 1)[:, None]
    codes = numpy.rint((maps - low[:, None]) / span * ((1 << bits) - 1)).astype(numpy.uint32).ravel()
    if bits == 12:
        letters = numpy.stack([codes >> 6, codes & 63], 1)
    else:
        codes = numpy.append(codes, numpy.zeros(codes.size % 2, numpy.uint32))
        both = codes[0::2] << 9 | codes[1::2]
        letters = numpy.stack([both >> 12, both >> 6 & 63, both & 63], 1)
    return _LETTERS[letters].tobytes().decode()


def _fitting(maps: numpy.ndarray) -> Tuple[int, int]:
    """Returns the number of layers and of tokens that fit on a page."""
    layers, heads, rows, columns = maps.shape
    per_layer = 1.5 * heads * rows * columns * (0.5 if _is_lower(maps) else 1)
    if per_layer <= _MOST:
        return max(1, min(layers, int(_MOST / per_layer))), max(rows, columns)
    return 1, int((_MOST / (1.5 * heads)) ** 0.5)


def maps_page(title: str, maps: numpy.ndarray, rows: Sequence[str], columns: Sequence[str], *, layers: Optional[Sequence[str]] = None,
              heads: Optional[Sequence[str]] = None, arrow: str = "→", note: str = "") -> str:
    """Returns a page with matrices, (layers, heads, rows, columns), of which one is shown large. Rows and columns are tokens
    if layers have names."""
    tokens = layers is not None
    kept, most = _fitting(maps)
    left_out = []
    if kept < maps.shape[0]:
        left_out.append(f"Layers 0 to {kept - 1} of {maps.shape[0]} fit on this page; show others with page(layers=[...]).")
    if most < max(maps.shape[-2:]):
        left_out.append(f"The first {most} tokens fit on this page.")
    layers = list(layers or [f"L{number}" for number in range(maps.shape[0])])[:kept]
    maps = numpy.asarray(maps, numpy.float32)[:kept, :, :most, :most]
    rows, columns = list(rows)[:most], list(columns)[:most]
    heads = list(heads or [f"H{number}" for number in range(maps.shape[1])])
    lower = _is_lower(maps)
    flat = maps[..., numpy.tril(numpy.ones(maps.shape[-2:], bool))] if lower else maps.reshape(*maps.shape[:2], -1)
    flat = flat.reshape(maps.shape[0] * maps.shape[1], -1)
    low, high = numpy.minimum(flat.min(1), 0), flat.max(1)
    bits = 12 if 2 * flat.size <= _FEW else 9
    note = " ".join([*filter(None, [note]), "Hover over a cell to read its value.", *left_out])
    data = {"rows": rows, "columns": columns, "layers": layers, "heads": heads, "lower": lower, "bits": bits, "arrow": arrow, "note": note,
            "low": [float(f"{value:.6g}") for value in low], "high": [float(f"{value:.6g}") for value in high],
            "text": _coded(flat, low, high, bits)}  # fmt: skip
    words = " ".join(rows[:200]) if rows == columns else " ".join([*rows[:200], arrow, *columns[:200]])
    words = words if tokens else ""
    parts = {"ID": "headscope-" + uuid.uuid4().hex[:12], "TITLE": text(title), "WORDS": text(words), "LAYER": "Layer", "HEADS": "All heads",
             "HEAD": "Head", "NOTE": text(note), "DATA": _json(data)}  # fmt: skip
    page = (pathlib.Path(__file__).parent / "page.html").read_text(encoding="utf-8")
    longest_first = sorted(parts, key=len, reverse=True)  # HEADS before HEAD
    return re.sub("|".join(longest_first), lambda found: parts[found[0]], page)


def table(headings: Sequence[str], lines: Sequence[Sequence[Any]], caption: str = "") -> str:
    """Returns a table whose headings sort it when they are clicked."""
    name = "headscope-" + uuid.uuid4().hex[:12]
    head = "".join(f'<th style="cursor:pointer;text-align:left;padding:2px 12px 2px 0" scope="col">{text(one)}</th>' for one in headings)
    body = "".join("<tr>" + "".join(_cell(one) for one in line) + "</tr>" for line in lines)
    script = (
        f'(function(){{var t=document.getElementById("{name}"),b=t.tBodies[0];Array.from(t.tHead.rows[0].cells).forEach(function(c,n){{'
        "var up=false;c.onclick=function(){up=!up;var v=function(r){var s=r.cells[n].dataset.v,x=parseFloat(s);return isNaN(x)?s:x;};"
        "Array.from(b.rows).sort(function(p,q){var x=v(p),y=v(q);return (x<y?1:x>y?-1:0)*(up?1:-1);}).forEach(function(r){b.appendChild(r);});"
        "};});})();"
    )
    return (
        f'<div style="overflow-x:auto;font:13px system-ui,sans-serif;color:inherit"><div style="max-width:720px"><b>{text(caption)}</b></div>'
        f'<table id="{name}" class="headscope" style="font:inherit;border-collapse:collapse;white-space:nowrap"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table><script>{script}</script></div>"
    )


class Bar(float):
    """A number of a table that is drawn as a bar too."""

    largest = 1.0


def bars(values: Sequence[float]) -> List[Bar]:
    largest = max((abs(value) for value in values), default=0) or 1.0
    made = [Bar(value) for value in values]
    for bar in made:
        bar.largest = largest
    return made


def _cell(value: Any) -> str:
    if isinstance(value, Bar):
        color = "#d97706" if value < 0 else "#2563eb"
        width = round(120 * abs(value) / value.largest)
        drawn = f'<span style="display:inline-block;height:.8em;width:{width}px;background:{color}"></span>'
        return f'<td data-v="{float(value)!r}" style="{_CELL}"><span style="display:inline-block;width:5em">{value:.4g}</span>{drawn}</td>'
    if isinstance(value, float):
        return f'<td data-v="{value!r}" style="{_CELL}">{value:.4g}</td>'
    shown = text("" if value is None else value)
    return f'<td data-v="{shown}" style="{_CELL}">{shown}</td>'
