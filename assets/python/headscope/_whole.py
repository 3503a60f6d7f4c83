"""Batches and outputs of encoder-decoders as a whole: the window asks which text and which attention it shows."""

from __future__ import annotations

import pathlib
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Union

import numpy

from ._attention import _STACKS, Weights, _array, _member, _of_output, _stacked, weights_of

Tokens = Optional[List[List[str]]]


class Whole(NamedTuple):
    """The arrays of a file by their names, each (layers, B, heads, Tq, Tk), and what belongs to them."""

    arrays: Dict[str, numpy.ndarray]

    def save(self, folder: str) -> pathlib.Path:
        """Writes a file that the program opens."""
        path = pathlib.Path(folder) / "attention.npz"
        numpy.savez(path, **{name: numpy.ascontiguousarray(array) for name, array in self.arrays.items()})
        return path


def _attentions(value: Any, stack: Optional[str]) -> Dict[str, Any]:
    """Returns the attentions by their names in a file; several if none is chosen."""
    if stack is None and isinstance(value, tuple) and len(value) == 3 and all(isinstance(one, (tuple, list)) for one in value):
        return dict(zip(_STACKS.values(), value))
    if stack is None and not isinstance(value, (numpy.ndarray, list, tuple)) and not hasattr(value, "detach"):
        held = {name: _member(value, name) for name in _STACKS.values() if _member(value, name) is not None}
        if len(held) > 1:
            return held
    return {"attentions": _of_output(value, stack)}


def _lists(tokens: Optional[Sequence], texts: int, count: int, name: str) -> Tokens:
    """Returns one list of tokens for each text. Raises TypeError and ValueError."""
    if tokens is None:
        return None
    if isinstance(tokens, (str, bytes)):
        raise TypeError(f"{name} is one text; give a list with one text for each token")
    listed = list(tokens)
    if listed and all(isinstance(one, (list, tuple)) for one in listed):
        lists = [list(one) for one in listed]
        if len(lists) != texts:
            raise ValueError(f"{name} has {len(lists)} lists for {texts} texts; give one for each")
    else:
        lists = [listed] * texts
    for one in lists:
        if any(not isinstance(token, str) for token in one):
            raise TypeError(f"{name} holds more than texts; give each token as str")
        if len(one) != count:
            raise ValueError(f"there are {len(one)} {name} for {count} positions; give one for each")
    return lists


def _lists_of_text(tokens: Optional[Sequence], texts: int, index: int, name: str) -> Optional[Sequence]:
    """Returns the list of one text if there is one for each, otherwise all tokens. Raises ValueError."""
    if tokens is None or isinstance(tokens, (str, bytes)):
        return tokens
    listed = list(tokens)
    if not listed or not all(isinstance(one, (list, tuple)) for one in listed):
        return listed
    if len(listed) != texts:
        raise ValueError(f"{name} has {len(listed)} lists for {texts} texts; give one for each")
    return [listed[index]]


def _mask_of_text(mask: Any, texts: int, index: int) -> Any:
    """Returns the row of one text if there is one for each, otherwise the mask. Raises ValueError."""
    if mask is None or (array := _array(mask)).ndim != 2:
        return mask
    if len(array) != texts:
        raise ValueError(f"the mask has {len(array)} rows for {texts} texts; give one for each")
    return array[[index]]


def whole_of(attention: Any, tokens: Optional[Sequence] = None, *, key_tokens: Optional[Sequence] = None, mask: Any = None,
             index: Optional[int] = None, stack: Optional[str] = None) -> Union[Weights, Whole]:
    """Returns what the arguments of show() hold: one text of one attention, as weights_of() returns it, or all texts and
    attentions between which nothing was chosen. Raises TypeError or ValueError."""
    found = _attentions(attention, stack)
    single = len(found) == 1
    if single:
        stacked = _stacked(next(iter(found.values()))) if index is None and stack in (None, *_STACKS) else None
        if stacked is None or stacked.ndim != 5 or stacked.shape[1] == 1:
            return weights_of(attention, tokens, key_tokens=key_tokens, mask=mask, index=index, stack=stack)
        arrays = {"attentions": stacked}
    else:
        arrays = {name: _stacked(layers) for name, layers in found.items()}
    for name, array in arrays.items():
        if array.ndim != 5:
            raise ValueError(f"{name} has the shape {array.shape}; give one (batch, heads, Tq, Tk) for each layer")
    if not single:
        _check_sizes(arrays)
        if index is not None:
            texts = next(iter(arrays.values())).shape[1]
            if not -texts <= index < texts:
                raise ValueError(f"there is no text {index}; the batch has {texts}")
            arrays = {name: array[:, [index]] for name, array in arrays.items()}
            tokens, key_tokens = _lists_of_text(tokens, texts, index, "tokens"), _lists_of_text(key_tokens, texts, index, "key_tokens")
            mask = _mask_of_text(mask, texts, index)
    for name, array in arrays.items():
        if array.size == 0 or not numpy.isfinite(array).all():
            raise ValueError(f"{name} has no numbers, or numbers that are not finite; replace them")
    return Whole({**arrays, **_words(arrays, tokens, key_tokens, mask, single)})


def _check_sizes(arrays: Mapping[str, numpy.ndarray]) -> None:
    """Raises ValueError for arrays that are not of one encoder-decoder, such as three steps of a generated text."""
    sizes = {name: array.shape[1:2] + array.shape[3:] for name, array in arrays.items()}
    sides = {"encoder_attentions": ("encoder", "encoder"), "decoder_attentions": ("decoder", "decoder"), "cross_attentions": ("decoder", "encoder")}
    known: Dict[str, tuple] = {}
    for name, (texts, rows, columns) in sizes.items():
        for side, count in zip(sides[name], (rows, columns)):
            if known.setdefault(side, (texts, count)) != (texts, count):
                shapes = ", ".join(f"{one} {array.shape}" for one, array in arrays.items())
                raise ValueError(f'these are not the attentions of one encoder-decoder: {shapes}; choose with stack="encoder", "decoder" or "cross"')


def _words(arrays: Mapping[str, numpy.ndarray], tokens: Optional[Sequence], key_tokens: Optional[Sequence], mask: Any,
           single: bool) -> Dict[str, numpy.ndarray]:
    """Returns tokens and mask under the names that the program reads. For an encoder-decoder, tokens are the decoder's and
    key_tokens the encoder's, as for its cross-attention."""
    sizes = {name: array.shape for name, array in arrays.items()}
    first = next(iter(sizes.values()))
    texts = first[1]
    rows = sizes.get("decoder_attentions", sizes.get("cross_attentions", first))[3]
    columns = sizes.get("encoder_attentions", sizes.get("cross_attentions", first))[4]
    queries, keys = _lists(tokens, texts, rows, "tokens"), _lists(key_tokens, texts, columns, "key_tokens")
    if single and keys is not None and queries is None:
        raise ValueError("key_tokens were given without tokens; give both")
    if single and queries is not None and keys is None and rows != columns:
        raise ValueError(f"there are {rows} rows and {columns} columns; give the tokens of the columns as key_tokens")
    names = ("tokens", "kv_tokens") if single else ("decoder_tokens", "encoder_tokens")
    words = {name: numpy.array(lists, str) for name, lists in zip(names, (queries, keys)) if lists is not None}
    if mask is not None:
        flags = (_array(mask) != 0).astype(numpy.int64)
        if flags.shape not in ((columns,), (texts, columns)):
            raise ValueError(f"the mask has the shape {flags.shape}; give one number for each of {columns} keys of {texts} texts")
        words["attention_mask"] = flags
    return words
