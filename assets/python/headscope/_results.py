"""Results of a model. Each is shown by a notebook as a page (HTML) and, where it has a matrix, as a picture (PNG)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Set, Union

import numpy

from . import _page
from ._content import Content, Displayed, Maps, Table
from ._errors import HeadscopeError
from ._labels import labels
from ._names import wanted

if TYPE_CHECKING:
    from ._model import Model


class LayerWeights(numpy.ndarray):
    """The attention weights of one layer as an array (B, H, Tq, Tk), with one exception: weights[h] is head h of the first
    text, (Tq, Tk). Everything computed from it is an ordinary array."""

    _by_head = False

    def __new__(cls, weights: numpy.ndarray) -> "LayerWeights":
        made = weights.view(cls)
        made._by_head = True
        return made

    def __getitem__(self, index: Any) -> Any:
        plain = self.view(numpy.ndarray)
        if self._by_head and isinstance(index, (int, numpy.integer)) and not isinstance(index, bool):
            heads = self.shape[1]
            if not -heads <= index < heads:
                raise IndexError(f"there is no head {index}; heads are numbered 0 to {heads - 1}")
            return plain[0, index]
        return plain[index]


class Layers(Sequence):
    """The attention weights of each layer: layers[l] is an array (B, H, Tq, Tk), and layers[l][h] head h of the first
    text."""

    def __init__(self, arrays: Mapping, prefix: str, count: int) -> None:
        self._arrays, self._prefix, self._count = arrays, prefix, count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, layer: Any) -> Any:
        if isinstance(layer, slice):
            return [self[number] for number in range(*layer.indices(self._count))]
        if not -self._count <= layer < self._count:
            raise IndexError(f"there is no layer {layer}; layers are numbered 0 to {self._count - 1}")
        weights = self._arrays.get(f"{self._prefix}layers.{layer % self._count}.weights")
        if weights is None:
            raise HeadscopeError(f"layer {layer % self._count} of this model has no attention weights; see has_attention()")
        return LayerWeights(weights)

    def has_attention(self, layer: int) -> bool:
        return f"{self._prefix}layers.{layer}.weights" in self._arrays


class Run(Displayed):
    """One pass of a model over a text or a batch, with the numbers of `headscope trace`.

    weights: of the layers, or of the decoder's self-attention; encoder_weights and cross_weights of an encoder-decoder.
    warnings: sentences of the program."""

    def __init__(self, model: "Model", prompt: Optional[Dict[str, Any]], arguments: List[str], inputs: Dict[str, numpy.ndarray], arrays: Dict[str, numpy.ndarray],
                 metadata: Dict[str, str], warnings: List[str]) -> None:
        self._model, self._arguments, self._inputs, self._arrays = model, arguments, inputs, arrays
        self._prompt = prompt
        self._session = model._session
        self.config: Dict[str, Any] = json.loads(metadata["config"])
        self.warnings = warnings
        self._metadata = metadata
        self._traced: Set[str] = set()  # names with several stages that were computed for this run
        encoder = self.config.get("encoder")
        self.weights = Layers(arrays, "decoder." if encoder else "", self.config["layers"])
        self.encoder_weights = Layers(arrays, "encoder.", encoder["layers"]) if encoder else None
        self.cross_weights = Layers(arrays, "cross.", self.config["layers"]) if encoder else None

    @property
    def ids(self) -> numpy.ndarray:
        """Token ids, (B, T); in an encoder-decoder those that the decoder reads."""
        return self._arrays.get("decoder_input_ids", self._arrays["input_ids"])

    @property
    def encoder_ids(self) -> Optional[numpy.ndarray]:
        return self._arrays["input_ids"] if self.encoder_weights is not None else None

    @property
    def tokens(self) -> List[str]:
        """Tokens of the first text in the vocabulary's spelling, or # and the id without a tokenizer. In an encoder-decoder
        those that the decoder reads."""
        return self.tokens_of(0)

    @property
    def encoder_tokens(self) -> Optional[List[str]]:
        return None if self.encoder_ids is None else self._tokens("tokens", self.encoder_ids, 0)

    def tokens_of(self, text: int) -> List[str]:
        """Returns the tokens of one text of a batch."""
        return self._tokens("decoder_tokens" if self.encoder_weights is not None else "tokens", self.ids, text)

    def _tokens(self, entry: str, ids: numpy.ndarray, text: int) -> List[str]:
        count, length = ids.shape
        if not 0 <= text < count:
            raise IndexError(f"there is no text {text}; the batch has {count}")
        tokens = json.loads(self._metadata.get(entry, "[]"))[text * length : (text + 1) * length]
        return tokens or [f"#{number}" for number in ids[text]]

    @property
    def logits(self) -> numpy.ndarray:
        """(B, T, vocabulary). Raises HeadscopeError for a model without a language-model head."""
        if "logits" not in self._arrays:
            raise HeadscopeError("this model has no language-model head, so there are no logits")
        return self._arrays["logits"]

    def activation(self, name: str) -> numpy.ndarray:
        """Returns an activation by its name in `headscope trace`, such as "layers.3.mlp_act", or by its hook name in
        TransformerLens, such as "blocks.3.mlp.hook_post". The shapes are those of trace: (B, T, width), or (B, H, T, dk)
        where there are heads. Computes it if this run does not have it yet.

        Raises ValueError for a name of another form, and HeadscopeError if the model has no such activation."""
        want = wanted(name)
        found = [tensor for tensor in want.tensors if tensor in self._arrays]
        # A run that has a later one of several stages may lack the first one only because nobody asked for it.
        incomplete = len(want.stages) > 1 and name not in self._traced and bool(found) and not found[0].endswith(want.stages[0])
        if want.stages and (not found or incomplete):
            arrays, _, warnings = self._model._trace(self._arguments, self._inputs, want.stages, want.layer)
            for tensor, array in arrays.items():
                self._arrays.setdefault(tensor, array)
            found = [tensor for tensor in want.tensors if tensor in self._arrays]
            if not found:
                reason = warnings[-1].partition("; the other stages")[0] if warnings else "name another activation"
                raise HeadscopeError(f"there is no {name} in this run: {reason}")
            self._traced.add(name)
        if not found:
            raise HeadscopeError(f"there is no {name} in this run; name another activation")
        array = self._arrays[found[0]]
        return self._by_head(array) if want.by_head else array

    def _by_head(self, joined: numpy.ndarray) -> numpy.ndarray:
        texts, tokens, width = joined.shape
        split = joined.reshape(texts, tokens, -1, self.config["dk"])
        assert split.size == texts * tokens * width
        return numpy.swapaxes(split, 1, 2)

    def heads(self, **options: Any) -> "Heads":
        """Measures the heads on the text of this run; see Model.heads."""
        return self._model.heads(**self._own_prompt("heads"), **options)

    def explain(self, what: str = "logits", **options: Any) -> "Explanation":
        """Splits a prediction or a score of this run into its parts; see Model.explain."""
        return self._model.explain(what=what, **self._own_prompt("explain"), **options)

    def _own_prompt(self, method: str) -> Dict[str, Any]:
        if self._prompt is None:
            raise ValueError(f"{method} reads one text; call it on a run of a text or of one list of ids")
        return self._prompt

    def __repr__(self) -> str:
        count, length = self.ids.shape
        texts = "" if count == 1 else f"{count} texts of "
        return f"<headscope.Run of {self._model.name}: {texts}{length} tokens, {len(self.weights)} layers>"

    def page(self, layers: Optional[Sequence] = None, stack: str = "decoder", text: int = 0) -> str:
        """Returns the page of a notebook. layers: the layers that it shows (default: as many as fit). stack: "encoder",
        "decoder" or "cross" of an encoder-decoder. text: of a batch, from 0."""
        return self._content(layers, stack, text).html()

    def _content(self, layers: Optional[Sequence] = None, stack: str = "decoder", text: int = 0) -> Maps:
        own, source = self.tokens_of(text), None if self.encoder_ids is None else self._tokens("tokens", self.encoder_ids, text)
        stacks = {"encoder": (self.encoder_weights, source, source), "decoder": (self.weights, own, own), "cross": (self.cross_weights, own, source)}
        weights, queries, keys = stacks.get(stack, (None, None, None))
        if weights is None or queries is None or keys is None:
            raise ValueError(f"there is no stack {stack!r} in this run; the stacks are {', '.join(name for name in stacks if stacks[name][0])}")
        chosen = [layer for layer in (range(len(weights)) if layers is None else layers) if weights.has_attention(layer)]
        if not chosen:
            raise HeadscopeError("none of these layers has attention weights; name others")
        names = [f"L{layer}" for layer in chosen]
        return Maps(f"Attention weights of {self._model.name}", numpy.stack([numpy.asarray(weights[layer])[text] for layer in chosen]),
                    labels(queries), labels(keys), layers=names)  # fmt: skip


class Heads(Displayed, Sequence):
    """The scores of each head, one dictionary per head, as `headscope heads --json` prints them."""

    def __init__(self, rows: List[Dict[str, Any]], session: Any = None) -> None:
        self._rows, self._session = rows, session

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, number: Any) -> Any:
        return self._rows[number]

    def score(self, name: str) -> numpy.ndarray:
        """Returns a score of all heads, (layers, heads); NaN where it does not apply. With several texts, those of the first one."""
        rows = [row for row in self._rows if row.get("sequence", 0) == 0]
        if not rows or name not in rows[0] or name == "label":
            raise ValueError(f"{name} was not measured; these scores were: {', '.join(self.names())}")
        made = numpy.full((1 + max(row["layer"] for row in rows), 1 + max(row["head"] for row in rows)), numpy.nan)
        for row in rows:
            if row[name] is not None:
                made[row["layer"], row["head"]] = row[name]
        return made

    def names(self) -> List[str]:
        """Returns the names of the scores that some head has."""
        others = ("sequence", "layer", "head", "label", "beside_first_token", "hide_first_token", "warnings")
        return [name for name in (self._rows[0] if self._rows else ()) if name not in others and any(row[name] is not None for row in self._rows)]

    def __repr__(self) -> str:
        return f"<headscope.Heads: {len(self._rows)} heads, {', '.join(self.names())}>"

    def _content(self) -> Content:
        headings = [name for name in ("sequence", "layer", "head", "label") if self._rows and name in self._rows[0]]
        lines = [[*(row[name] for name in headings), *(row[name] for name in self.names())] for row in self._rows]
        return Table([*headings, *self.names()], lines, "Scores of the heads")


class Explanation(Displayed, Mapping):
    """The parts of a prediction or a score: the JSON of `headscope explain` as a dictionary. what: the kind that was asked
    for."""

    def __init__(self, what: str, found: Dict[str, Any], session: Any = None) -> None:
        self.what, self._found, self._session = what, found, session

    def __getitem__(self, name: str) -> Any:
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __repr__(self) -> str:
        return f"<headscope.Explanation {self.what}: {', '.join(self._found)}>"

    def _content(self) -> Content:
        contents = {"logits": self._logits, "why": self._why, "lens": self._lens, "score": self._score, "vocabulary": self._vocabulary,
                    "ablation": self._ablation, "composition": self._composition}  # fmt: skip
        return contents[self.what]()

    def _logits(self) -> Content:
        against = self["against"]["token"] if isinstance(self["against"], dict) else "the mean over the vocabulary"
        caption = f"Logit of {labels([self['token']['token']])[0]} minus {against}, after token {self['position']}: {self['logit']:.4g}"
        return _bars_of(["component", "logit"], [(writer["name"], writer["value"]) for writer in self["writers"]], caption)

    def _why(self) -> Content:
        causes = [(cause["name"], cause["value"]) for cause in self["causes"]] + [("everything else", self["rest"])]
        return _bars_of(["cause", "logit"], causes, self["sentence"])

    def _lens(self) -> Content:
        tokens = labels([place["read"]["token"] for place in self["layers"][0]["positions"]])
        lines = []
        for layer in self["layers"]:
            best = [place["top"][0] for place in layer["positions"]]
            words = labels([one["token"] for one in best])
            lines.append([layer["layer"], *(f"{word} {one['probability']:.2f}" for word, one in zip(words, best))])
        return Table(["layer", *tokens], lines, "The likeliest next token after each layer, and its probability")

    def _score(self) -> Content:
        names, terms = self["writers"], numpy.asarray(self["terms"])[None, None]
        note = "Query component (rows) times key component (columns)."
        return Maps(f"Scaled score {self['scaled']:.4g}", terms, names, names, arrow="·", note=note)

    def _vocabulary(self) -> Content:
        lines = []
        for name, words in (("promotes", "promotes"), ("suppresses", "suppresses"), ("looks_for", "looks for")):
            bars = _page.bars([entry["value"] for entry in self[name]])
            lines += [[words, label, bar] for label, bar in zip(labels([entry["token"] for entry in self[name]]), bars)]
        return Table(["the head", "token", "value"], lines, f"A head that reads {labels([self['token']['token']])[0]}")

    def _ablation(self) -> Content:
        token = labels([self["token"]["token"]])[0]
        token += f" minus {labels([self['against']['token']])[0]}" if self["against"] else ""
        caption = f"Without each head ({self['ablation']} ablation): logit of {token}, after token {self['position']}, which is {self['logit']:.4g} with all"
        heads = self["heads"]
        divergences, lost = (_page.bars([head[name] for head in heads]) for name in ("divergence", "loss"))
        lines = [[head["name"], divergence, head["logit"], loss] for head, divergence, loss in zip(heads, divergences, lost)]
        return Table(["head", "divergence", "logit", "lost"], lines, caption)

    def _composition(self) -> Content:
        pairs, names = self["pairs"], ("queries", "keys", "values")
        columns = [_page.bars([pair[name] for pair in pairs]) for name in names]
        lines = [[pair["from"], pair["to"], *bars] for pair, *bars in zip(pairs, *columns)]
        return Table(["from", "to", *names], lines, "How much of a head's output a later head can read")


def _bars_of(headings: List[str], values: List[Any], caption: str) -> Table:
    bars = _page.bars([value for _, value in values])
    return Table(headings, [[name, bar] for (name, _), bar in zip(values, bars)], caption)


class Patching(Displayed):
    """The fraction of the answer that each patched activation recovers, as `headscope patch` prints it.

    recovered: (layers, positions) or (layers, heads) of float32; for "residual" one row more; a float for a path. clean,
    corrupted: logit differences. clean_tokens, corrupted_tokens: in the vocabulary's spelling."""

    def __init__(self, found: Dict[str, Any], session: Any = None) -> None:
        self._session = session
        self.what: str = found["what"]
        self.clean: float = found["clean"]
        self.corrupted: float = found["corrupted"]
        self.clean_tokens: List[str] = found["clean_tokens"]
        self.corrupted_tokens: List[str] = found["corrupted_tokens"]
        recovered = found["recovered"]
        self.recovered: Union[float, numpy.ndarray] = numpy.asarray(recovered, numpy.float32) if isinstance(recovered, list) else recovered

    def __repr__(self) -> str:
        shape = getattr(self.recovered, "shape", self.recovered)
        return f"<headscope.Patching of {self.what}: {self.clean:.4g} clean, {self.corrupted:.4g} corrupted, recovered {shape}>"

    def _matrix(self) -> numpy.ndarray:
        return numpy.nan_to_num(numpy.atleast_2d(self.recovered))

    def _content(self) -> Content:
        matrix = self._matrix()
        by_position = self.what in ("residual", "attention", "mlp")
        columns = labels(self.clean_tokens) if by_position else [f"H{number}" for number in range(matrix.shape[1])]
        note = f"Logit difference: {self.corrupted:.4g} of the corrupted prompt, {self.clean:.4g} of the clean one."
        rows = [f"L{number}" for number in range(matrix.shape[0])]
        return Maps(f"Recovered by patching {self.what}", matrix[None, None], rows, columns, arrow="at", note=note)


class Generation(Displayed):
    """A continued text, as `headscope generate` prints it. text: prompt and continuation. tokens, ids, probabilities: one
    entry for each new token; alternatives: the likeliest tokens of each step, if they were asked for."""

    def __init__(self, found: Dict[str, Any], session: Any = None) -> None:
        self._session = session
        self.text: str = found["text"]
        self.prompt_tokens: List[str] = found["prompt_tokens"]
        self.prompt_ids: List[int] = found["prompt_ids"]
        self.tokens: List[str] = found["tokens"]
        self.ids: List[int] = found["ids"]
        self.probabilities: List[float] = found["probabilities"]
        self.alternatives: Optional[List[List[Dict[str, Any]]]] = found.get("alternatives")
        self.stopped: str = found["stopped"]
        self.found = found

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<headscope.Generation: {self.text!r}>"

    def _repr_html_(self) -> str:
        words = [f'<span style="opacity:.6">{_page.text(" ".join(labels(self.prompt_tokens)))}</span>']
        for step, (label, probability) in enumerate(zip(labels(self.tokens), self.probabilities)):
            others = "".join(f"; {labels([one['token']])[0]} {one['probability']:.3f}" for one in (self.alternatives or [[]] * (step + 1))[step][1:])
            title = _page.text(f"{label}: probability {probability:.3f}{others}")
            words.append(f'<span title="{title}" style="background:rgba(37,99,235,{0.5 * probability:.3f})">{_page.text(label)}</span>')
        return '<div class="headscope" style="line-height:1.8">' + " ".join(words) + "</div>"

    def _content(self) -> Content:
        lines = [[label, bar] for label, bar in zip(labels(self.tokens), _page.bars(self.probabilities))]
        return Table(["token", "probability"], lines, f"Continues {' '.join(labels(self.prompt_tokens))}")
