"""The content of results, which a notebook shows as a page (HTML) and as a picture (PNG)."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from typing import Any, List, Optional, Sequence, Union

import numpy

from . import _figure, _page, _png
from ._errors import HeadscopeError


@dataclass
class Maps:
    """Matrices, (layers, heads, rows, columns)."""

    title: str
    maps: numpy.ndarray
    rows: Sequence[str]
    columns: Sequence[str]
    layers: Optional[Sequence[str]] = None
    heads: Optional[Sequence[str]] = None
    arrow: str = "→"
    note: str = ""

    def html(self) -> str:
        return _page.maps_page(self.title, self.maps, self.rows, self.columns, layers=self.layers, heads=self.heads, arrow=self.arrow, note=self.note)

    def scene(self) -> _figure.Scene:
        count, across = self.maps.shape[:2]
        if count * across == 1:
            return _figure.matrix_scene(self.title, self.note, self.maps[0, 0], self.rows, self.columns)
        words = " ".join(self.rows) if list(self.rows) == list(self.columns) else f"{' '.join(self.rows)} {self.arrow} {' '.join(self.columns)}"
        layers = self.layers or [f"L{layer}" for layer in range(count)]
        return _figure.grid_scene(self.title, self.note or words, self.maps, layers, self.heads or [f"H{head}" for head in range(across)])

    def plain_png(self) -> bytes:
        return _png.grid(self.maps)


@dataclass
class Table:
    """Lines of cells: texts, numbers, and numbers that are drawn as bars (_page.Bar)."""

    headings: Sequence[str]
    lines: Sequence[Sequence[Any]]
    caption: str

    def html(self) -> str:
        return _page.table(self.headings, self.lines, self.caption)

    def scene(self) -> _figure.Scene:
        return _figure.table_scene(self.headings, self.lines, self.caption, _page.Bar)

    def plain_png(self) -> bytes:
        numbers: List[List[float]] = [[float(cell) if isinstance(cell, (int, float)) else 0.0 for cell in line] for line in self.lines]
        return _png.grid(numpy.nan_to_num(numpy.asarray(numbers or [[0.0]]))[None, None], 480)


Content = Union[Maps, Table]


class Displayed:
    """A result that a notebook shows. The picture is drawn by the program; without it, it has no texts."""

    _session: Any = None  # the model's; None: a result without a program

    def _content(self) -> Content:
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return self._content().html()

    def _repr_png_(self) -> bytes:
        content = self._content()
        if self._session is not None:
            try:
                with tempfile.TemporaryDirectory(prefix="headscope-") as folder:
                    path = os.path.join(folder, "picture.png")
                    self._session.draw(content.scene(), path)
                    with open(path, "rb") as file:
                        return file.read()
            except HeadscopeError:
                pass  # the model is closed
        return content.plain_png()

    def save_figure(self, path: Any) -> None:
        """Writes the picture as a .png, .svg or .pdf file. Raises HeadscopeError if the model is closed."""
        if self._session is None:
            raise HeadscopeError("the program draws figures; use a result of a model")
        self._session.draw(self._content().scene(), os.path.abspath(os.fsdecode(path)))
