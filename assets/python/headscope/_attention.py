"""Attention weights as people have them: arrays, tensors, outputs of models."""

from __future__ import annotations

import json
import pathlib
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence

import numpy

from ._content import Displayed, Maps
from ._labels import labels

_STACKS = {"encoder": "encoder_attentions", "decoder": "decoder_attentions", "cross": "cross_attentions"}
_SHAPES = "give (heads, Tq, Tk), (layers, heads, Tq, Tk), or one (batch, heads, Tq, Tk) for each layer"


def _member(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _of_output(value: Any, stack: Optional[str]) -> Any:
    """Returns the layers of a model's output; anything else as it is."""
    names = ["attentions", *_STACKS.values()]
    if isinstance(value, (numpy.ndarray, list)) or hasattr(value, "detach"):
        return value
    if not any(hasattr(value, name) or isinstance(value, Mapping) and name in value for name in names):
        return value
    held = {name: _member(value, name) for name in names if _member(value, name) is not None}
    if stack is not None:
        name = _STACKS[stack]
        name = "attentions" if name == "decoder_attentions" and name not in held else name
        if name not in held:
            raise ValueError(f"the output has no {name}; it has {', '.join(held) or 'no attention weights'}")
        return held[name]
    if not held:
        raise ValueError("the output has no attention weights; call the model with output_attentions=True and, in newer versions of transformers, "
                         'load it with attn_implementation="eager"')
    if len(held) > 1:
        raise ValueError(f"the output has {', '.join(held)}; choose with stack=\"encoder\", \"decoder\" or \"cross\"")
    return next(iter(held.values()))


def _of_triple(value: Any, stack: Optional[str]) -> Any:
    """Returns one of three tuples of layers (encoder, decoder, cross)."""
    if not (isinstance(value, tuple) and len(value) == 3 and all(isinstance(one, (tuple, list)) for one in value)):
        return value
    if stack is None:
        raise ValueError('attention has three tuples of layers; choose with stack="encoder", "decoder" or "cross"')
    return value[list(_STACKS).index(stack)]


def _array(value: Any) -> numpy.ndarray:
    """Returns an array or tensor as real numbers that the program reads."""
    if hasattr(value, "detach"):  # a tensor of PyTorch, which may have a type that NumPy lacks
        value = value.detach().cpu()
        value = (value.float() if "bfloat16" in str(value.dtype) or "float8" in str(value.dtype) else value).numpy()
    array = numpy.asarray(value)
    if "bfloat16" in array.dtype.name:
        array = array.astype(numpy.float32)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"attention holds {array.dtype}; give real numbers")
    if array.dtype.itemsize > 8:
        array = array.astype(numpy.float64)
    return array


def _stacked(value: Any) -> numpy.ndarray:
    """Returns layers as one array. Raises ValueError for layers of different shapes."""
    if not isinstance(value, (tuple, list)):
        return _array(value)
    if any(one is None for one in value):
        raise ValueError('attention has None for a layer; load the model with attn_implementation="eager" and call it with output_attentions=True')
    if value and all(isinstance(one, (tuple, list)) and one and hasattr(one[0], "shape") for one in value):
        return _of_steps(value)
    layers = [_array(one) for one in value]
    shapes = {layer.shape for layer in layers}
    if len(shapes) > 1:
        raise ValueError(f"the layers have the shapes {', '.join(map(str, sorted(shapes)))}; they should be equal")
    if not layers:
        raise ValueError(f"attention has no layers; {_SHAPES}")
    return numpy.stack(layers)


def _of_steps(steps: Sequence) -> numpy.ndarray:
    """Returns the layers of a generated text, for which a model returns a tuple of layers for each step: first the rows of
    the prompt, then one row for each new token, over the keys so far."""
    count = len(steps[0])
    if any(len(step) != count for step in steps):
        raise ValueError("the steps of the generated text have different numbers of layers; give those of one step, such as attentions[0]")
    layers = []
    for layer in range(count):
        parts = [_array(step[layer]) for step in steps]
        if any(part.ndim != 4 or part.shape[:2] != parts[0].shape[:2] for part in parts):
            raise ValueError(f"the steps of the generated text have the shapes {', '.join(str(part.shape) for part in parts[:3])}, ...; each should be "
                             "(batch, heads, rows, keys)")  # fmt: skip
        keys = max(part.shape[3] for part in parts)
        layers.append(numpy.concatenate([numpy.pad(part, ((0, 0), (0, 0), (0, 0), (0, keys - part.shape[3]))) for part in parts], 2))
    return numpy.stack(layers)


def _of_batch(weights: numpy.ndarray, index: Optional[int]) -> numpy.ndarray:
    """Returns one text of a batch, (layers, B, heads, Tq, Tk)."""
    count = weights.shape[1]
    if index is None and count > 1:
        raise ValueError(f"attention has a batch of {count} texts; choose one with index=0 to {count - 1}")
    if not -count <= (index or 0) < count:
        raise ValueError(f"there is no text {index}; the batch has {count}")
    return weights[:, index or 0]


def _tokens(tokens: Optional[Sequence], count: int, index: Optional[int], name: str, what: str) -> Optional[List[str]]:
    """Returns the tokens of one text. Raises TypeError for anything but texts, ValueError for another number of them."""
    if tokens is None:
        return None
    if isinstance(tokens, (str, bytes)):
        raise TypeError(f"{name} is one text; give a list with one text for each token")
    listed = list(tokens)
    if listed and all(isinstance(one, (list, tuple)) for one in listed):  # a list for each text of a batch
        if index is None and len(listed) > 1:
            raise ValueError(f"{name} has {len(listed)} lists; choose one with index=")
        if not -len(listed) <= (index or 0) < len(listed):
            raise ValueError(f"{name} has {len(listed)} lists, and index is {index}")
        listed = list(listed[index or 0])
    for token in listed:
        if not isinstance(token, str):
            raise TypeError(f"a token is {type(token).__name__}; give each token as str")
    if len(listed) != count:
        raise ValueError(f"there are {len(listed)} {name} for {count} {what}; give one for each")
    return listed


def _mask(mask: Any, count: int, index: Optional[int]) -> Optional[List[int]]:
    if mask is None:
        return None
    array = _array(mask)
    if array.ndim == 2:
        if index is None and len(array) > 1:
            raise ValueError(f"the mask has {len(array)} rows; choose one with index=")
        if not -len(array) <= (index or 0) < len(array):
            raise ValueError(f"there is no row {index} in the mask; its rows are numbered 0 to {len(array) - 1}")
        array = array[index or 0]
    if array.shape != (count,):
        raise ValueError(f"the mask has the shape {array.shape}; give one number for each of {count} keys: 1 for a token, 0 for padding")
    return [int(one != 0) for one in array]


class Weights(NamedTuple):
    """Attention weights of one text, (layers, heads, Tq, Tk) or (heads, Tq, Tk), and their tokens."""

    array: numpy.ndarray
    tokens: Optional[List[str]]
    key_tokens: Optional[List[str]]
    mask: Optional[List[int]]

    def save(self, folder: str) -> pathlib.Path:
        """Writes a file that the program opens, and its tokens."""
        path = pathlib.Path(folder) / "attention.npy"
        numpy.save(path, self.array)
        named: Dict[str, Any] = {"tokens": self.tokens, "key_tokens": self.key_tokens, "attention_mask": self.mask}
        named = {name: value for name, value in named.items() if value is not None}
        if named:
            path.with_suffix(".tokens.json").write_text(json.dumps(named), encoding="utf-8")
        return path


def weights_of(attention: Any, tokens: Optional[Sequence] = None, *, key_tokens: Optional[Sequence] = None, mask: Any = None,
               index: Optional[int] = None, stack: Optional[str] = None) -> Weights:
    """Returns what the arguments of show() hold. Raises TypeError or ValueError."""
    if stack is not None and stack not in _STACKS:
        raise ValueError(f"stack is {stack!r}; it should be encoder, decoder or cross")
    layers = _of_output(attention, stack)
    weights = _stacked(_of_triple(layers, stack) if layers is attention else layers)
    if weights.ndim == 5:
        weights = _of_batch(weights, index)
    if weights.ndim not in (3, 4) or weights.size == 0:
        raise ValueError(f"attention has the shape {weights.shape}; {_SHAPES}")
    finite = numpy.isfinite(weights)
    if not finite.all():
        first = tuple(int(one) for one in numpy.argwhere(~finite)[0])
        raise ValueError(f"attention has {int((~finite).sum())} numbers that are not finite, the first at {list(first)}; replace them")
    rows, columns = weights.shape[-2:]
    if tokens is not None and key_tokens is None and rows != columns:
        raise ValueError(f"there are {rows} rows and {columns} columns; give the tokens of the columns as key_tokens")
    if key_tokens is not None and tokens is None:
        raise ValueError("key_tokens were given without tokens; give both")
    named = _tokens(tokens, rows, index, "tokens", f"rows and {columns} columns" if key_tokens is None else "rows")
    keys = _tokens(key_tokens, columns, index, "key_tokens", "columns")
    padding = _mask(mask, columns, index)
    if padding is not None and named is None:
        raise ValueError("a mask says which tokens are padding; give the tokens too")
    return Weights(numpy.ascontiguousarray(weights), named, keys, padding)


class View(Displayed):
    """Attention weights in a notebook, without a window and without the program. Made by headscope.view()."""

    def __init__(self, weights: Weights) -> None:
        array = weights.array if weights.array.ndim == 4 else weights.array[None]
        self.weights: numpy.ndarray = array
        self.tokens = weights.tokens or [str(number) for number in range(array.shape[2])]
        self.key_tokens = weights.key_tokens or (self.tokens if weights.tokens else [str(number) for number in range(array.shape[3])])

    def __repr__(self) -> str:
        layers, heads, rows, columns = self.weights.shape
        return f"<headscope.View: {layers} layers of {heads} heads, {rows} x {columns} tokens>"

    def page(self, layers: Optional[Sequence[int]] = None) -> str:
        """Returns the page of a notebook. layers: the layers that it shows (default: as many as fit)."""
        return self._content(layers).html()

    def _content(self, layers: Optional[Sequence[int]] = None) -> Maps:
        chosen = list(range(len(self.weights)) if layers is None else layers)
        return Maps("Attention weights", self.weights[chosen], labels(self.tokens), labels(self.key_tokens), layers=[f"L{layer}" for layer in chosen])


def view(attention: Any, tokens: Optional[Sequence] = None, *, key_tokens: Optional[Sequence] = None, index: Optional[int] = None,
         stack: Optional[str] = None) -> View:
    """Returns attention weights as a result that a notebook shows. The arguments and errors are those of show()."""
    return View(weights_of(attention, tokens, key_tokens=key_tokens, index=index, stack=stack))
