"""A model that the program keeps open, without a window."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import weakref
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

import numpy

from ._names import wanted
from ._results import Explanation, Generation, Heads, Patching, Run
from ._session import Session, saved

Path = Union[str, bytes, "os.PathLike[str]"]
Head = Union[str, Tuple[int, int]]
Ids = Union[Sequence[int], Any]
Prompt = Union[str, Ids]
Token = Union[str, int]


def _numbers(ids: Any, name: str) -> numpy.ndarray:
    """Returns token ids as integers. Raises TypeError for anything else."""
    if hasattr(ids, "detach"):  # a tensor of PyTorch
        ids = ids.detach().cpu().numpy()
    try:
        array = numpy.asarray(ids)
    except ValueError:  # lists of different lengths
        array = numpy.empty(0)
    if array.dtype.kind not in "iu" or array.ndim not in (1, 2) or array.size == 0:
        raise TypeError(f"{name} should be whole numbers, one list or a batch of lists of equal length")
    return array.astype(numpy.int64)


def _listed(ids: numpy.ndarray) -> str:
    return ",".join(map(str, ids.tolist()))


def _one_of(name: str, ids_name: str, prompt: Prompt) -> List[str]:
    """Returns the option for a text, or for one list of token ids."""
    if isinstance(prompt, str):
        return _option(name, prompt)
    ids = _numbers(prompt, name)
    if ids.ndim != 1:
        raise ValueError(f"{name} is a batch; give one text or one list of token ids")
    return [f"--{ids_name}={_listed(ids)}"]


def _token(name: str, token: Optional[Token]) -> List[str]:
    if token is None:
        return []
    if isinstance(token, bool) or not isinstance(token, (str, int, numpy.integer)):
        raise TypeError(f"{name} should be a word or a token id, not {type(token).__name__}")
    return _option(name, token) if isinstance(token, str) else [f"--{name}-id={int(token)}"]


def _option(name: str, value: Any) -> List[str]:
    """Returns an option in a form in which its value may begin with a hyphen, or be empty."""
    text = str(value)
    if "\0" in text:
        raise ValueError(f"{name} has a character with the code 0; remove it")
    return [f"--{name}={text}"] if text else [f"--{name}", ""]


def _options(**values: Any) -> List[str]:
    """Returns the options that have a value: True is a flag, a list becomes a comma list."""
    words: List[str] = []
    for name, value in values.items():
        option = name.replace("_", "-")
        if value is True:
            words.append("--" + option)
        elif isinstance(value, (list, tuple)):
            words += _option(option, ",".join(map(str, value)))
        elif value is not None and value is not False:
            words += _option(option, value)
    return words


def _decoder(text: Optional[str], ids: Optional[Ids]) -> List[str]:
    """Returns the options for what the decoder of an encoder-decoder reads."""
    words = _options(decoder_text=text)
    return words if ids is None else [*words, *_one_of("decoder-text", "decoder-ids", _numbers(ids, "decoder_ids"))]


def _head(head: Head) -> str:
    """Returns "3.2" for (3, 2). Raises TypeError for anything but a head."""
    if isinstance(head, str):
        return head
    try:
        layer, number = head
        return f"{int(layer)}.{int(number)}"
    except (TypeError, ValueError):
        raise TypeError(f"a head is written as (layer, head) or as a text such as 3.2, not as {head!r}") from None


class _EditFile:
    """A file of edits that is removed with its last model."""

    def __init__(self) -> None:
        folder = tempfile.mkdtemp(prefix="headscope-")
        self.path = os.path.join(folder, "edits.patch.safetensors")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)


def _real(array: Any, name: str) -> numpy.ndarray:
    """Returns a parameter as float32. Raises TypeError for anything but real numbers."""
    if hasattr(array, "detach"):  # a tensor of PyTorch
        array = array.detach().cpu().float().numpy()
    array = numpy.asarray(array)
    if array.dtype.kind not in "fiu":
        raise TypeError(f"{name} holds {array.dtype}; give real numbers")
    return array.astype(numpy.float32)


class Model:
    """A checkpoint in a program without a window, which reads it once. Closed by close(), at the end of a with block, or
    with the object; models made from it by ablate() and edit() share the program. Any thread may use it.

    Every method raises Refused with the program's own sentence if the program refuses the input, TypeError or ValueError for
    arguments that cannot be passed on, and ProgramEnded if the program is killed."""

    def __init__(self, model: Path, *, program: Optional[str] = None, base: Optional[Path] = None, heads: Optional[int] = None,
                 ignore_unknown: bool = False, memory: Optional[Union[str, int]] = None) -> None:
        """model: a folder, a GGUF file, a model of the Hugging Face cache by its name, or "pocket". base: of a LoRA adapter.
        heads: the number of heads of a model whose files do not say it. memory: the most memory that the program may use, as
        "4GB" or in bytes."""
        arguments = _options(base=None if base is None else os.fsdecode(base), heads=heads, ignore_unknown=ignore_unknown, memory=memory)
        self._session = Session(os.fsdecode(model), program, arguments)
        self._gains: Tuple[str, ...] = ()
        self._patch: Tuple[str, ...] = ()  # the option for a file of edits
        self._file: Optional[_EditFile] = None  # that of edited parameters

    @property
    def _edits(self) -> Tuple[str, ...]:
        """The options for all edits. The program applies head gains after the file."""
        return (*self._patch, *self._gains)

    def __enter__(self) -> "Model":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the program, also for the models that were made from this one."""
        self._session.close()

    def __repr__(self) -> str:
        facts = self._session.facts
        words = ["edited parameters" if self._file and self._file.path in word else word for word in self._edits]
        edits = f", {' '.join(words)}" if words else ""
        return f"<headscope.Model {facts['model']}: {facts['layers']} layers of {facts['heads']} heads{edits}>"

    @property
    def name(self) -> str:
        return self._session.facts["model"]

    @property
    def layer_count(self) -> int:
        return self._session.facts["layers"]

    @property
    def head_count(self) -> int:
        """Heads of a layer."""
        return self._session.facts["heads"]

    def run(self, text: Optional[str] = None, *, ids: Optional[Ids] = None, pair: Optional[str] = None,
            inputs: Optional[Mapping[str, Any]] = None, decoder_text: Optional[str] = None, decoder_ids: Optional[Ids] = None,
            activations: Iterable[str] = ()) -> Run:
        """Runs the model over a text, token ids (one list, or a batch of lists of equal length), or what a tokenizer returns
        (input_ids, attention_mask, token_type_ids; for an encoder-decoder also decoder_input_ids).

        activations: names of activations that are computed in the same run; others are computed when they are asked for."""
        arguments, arrays = self._prompt(text, ids, pair, inputs)
        arguments += _decoder(decoder_text, decoder_ids)
        stages = ["weights"]
        for name in activations:
            stages += [stage for stage in wanted(name).stages if stage not in stages]
        prompt = {"text": text, "ids": ids, "pair": pair, "decoder_text": decoder_text, "decoder_ids": decoder_ids}
        return Run(self, None if arrays else prompt, arguments, arrays, *self._trace(arguments, arrays, stages, None))

    def _prompt(self, text: Optional[str], ids: Optional[Ids], pair: Optional[str],
                inputs: Optional[Mapping[str, Any]]) -> Tuple[List[str], Dict[str, numpy.ndarray]]:
        given = [name for name, value in (("text", text), ("ids", ids), ("inputs", inputs)) if value is not None]
        if len(given) != 1:
            raise ValueError(f"{' and '.join(given) or 'nothing'} was given; give one of text, ids and inputs")
        if text is not None:
            if not isinstance(text, str):
                raise TypeError(f"the text is {type(text).__name__}; give one text as str, or a batch as ids= or inputs=")
            return [*_option("text", text), *_options(text_pair=pair)], {}
        if pair is not None:
            raise ValueError("pair is the second of two texts; give the first one as text")
        if inputs is not None:
            return [], {name: _numbers(value, name) for name, value in inputs.items()}
        array = _numbers(ids, "ids")
        return ([f"--ids={_listed(array)}"], {}) if array.ndim == 1 else ([], {"input_ids": array})

    def _trace(self, arguments: List[str], arrays: Dict[str, numpy.ndarray], stages: Sequence[str],
               layer: Optional[int]) -> Tuple[Dict[str, numpy.ndarray], Dict[str, str], List[str]]:
        words = [*arguments, *self._edits, "--stages=" + ",".join(stages), *_options(layer=layer)]
        if not arrays:
            return self._session.arrays("trace", words)
        with saved({name: numpy.atleast_2d(array) for name, array in arrays.items()}) as path:
            return self._session.arrays("trace", [f"--inputs={path}", *words])

    def parameter(self, name: str) -> numpy.ndarray:
        """Returns a parameter by its name in `headscope export`: "layers.3.W_Q" (D, H dk), or "W_E" (vocabulary, D); in an
        encoder-decoder "cross.layers.3.W_Q", or "decoder.W_E". Edits are included."""
        parts = re.fullmatch(r"(?:(encoder|decoder|cross)\.)?(?:layers\.(\d+)\.)?(\w+)", name)
        if parts is None:
            raise ValueError(f"{name!r} is not the name of a parameter; write for example layers.3.W_Q")
        stack, layer, tensor = parts.groups()
        words = ["--ids=0", *self._edits, f"--tensor={tensor}", *_options(stack=stack, layer=layer)]
        return next(iter(self._session.arrays("export", words)[0].values()))

    def heads(self, text: Optional[str] = None, *, ids: Optional[Ids] = None, pair: Optional[str] = None, scores: Optional[Sequence[str]] = None,
              probe: bool = False, length: Optional[int] = None, batch: Optional[int] = None, seed: Optional[int] = None,
              effect: bool = False, position: Optional[int] = None, layer: Optional[int] = None, stack: Optional[str] = None,
              decoder_text: Optional[str] = None, decoder_ids: Optional[Ids] = None, hide_first_token: bool = False) -> Heads:
        """Measures what each head does, as `headscope heads`: on a text, else (probe) on random tokens that are repeated.
        stack: "encoder", "decoder" or "cross" of an encoder-decoder."""
        probe = probe or text is None and ids is None
        words = [] if text is None and ids is None else [*_prompt_of(text, ids), *_options(text_pair=pair)]
        words += _decoder(decoder_text, decoder_ids)
        if isinstance(scores, str):
            raise TypeError("scores is one text; give a list of names of scores")
        words += _options(scores=list(scores) if scores else None, probe=probe, length=length, batch=batch, seed=seed, effect=effect,
                          position=position, layer=layer, stack=stack, hide_first_token=hide_first_token)
        return Heads(self._session.json("heads", [*words, *self._edits, "--json"]), self._session)

    def explain(self, text: Optional[str] = None, what: str = "logits", *, ids: Optional[Ids] = None, pair: Optional[str] = None,
                token: Optional[Token] = None, against: Optional[Token] = None, position: Optional[int] = None,
                layer: Optional[int] = None, head: Optional[int] = None, query: Optional[int] = None, key: Optional[int] = None,
                top: Optional[int] = None, ablation: Optional[str] = None, through_mlp: bool = False,
                decoder_text: Optional[str] = None, decoder_ids: Optional[Ids] = None) -> Explanation:
        """Splits a prediction or a score into its parts, as `headscope explain`. what: "logits", "lens", "score", "why",
        "ablation" (the prediction without each head), or "vocabulary" or "composition", which read no text. token, against: a
        word or a token id. ablation: "zero" (the default) or "mean"."""
        words = [f"--what={what}"]
        if what not in ("vocabulary", "composition") or text is not None or ids is not None:
            words += [*_prompt_of(text, ids), *_options(text_pair=pair), *_decoder(decoder_text, decoder_ids)]
        words += [*_token("token", token), *_token("against", against)]
        words += _options(position=position, layer=layer, head=head, query=query, key=key, top=top, ablation=ablation,
                          through_mlp=through_mlp)
        return Explanation(what, self._session.json("explain", [*words, *self._edits, "--json"]), self._session)

    def patch(self, clean: Prompt, corrupted: Prompt, *, answer: Token, against: Token, what: Optional[str] = None,
              start: Optional[Head] = None, end: Optional[Head] = None, position: Optional[int] = None,
              pair: Optional[str] = None) -> Patching:
        """Patches activations of the clean prompt into the corrupted one, as `headscope patch`. what: "residual" (the default),
        "attention", "mlp", "head", "q", "k", "v" or "pattern"; instead of it a path from the head `start` to the head `end`,
        whose text may end in :q, :k or :v."""
        words = [*_one_of("clean", "clean-ids", clean), *_one_of("corrupted", "corrupted-ids", corrupted)]
        words += [*_token("answer", answer), *_token("against", against)]
        path = {"from": None if start is None else _head(start), "to": None if end is None else _head(end)}
        what = what if what or start is not None or end is not None else "residual"
        words += _options(what=what, position=position, text_pair=pair, **path)
        return Patching(self._session.json("patch", [*words, *self._edits]), self._session)

    def generate(self, text: Optional[str] = None, tokens: int = 20, *, ids: Optional[Ids] = None, pair: Optional[str] = None,
                 temperature: Optional[float] = None, top_k: Optional[int] = None, top_p: Optional[float] = None,
                 seed: Optional[int] = None, top: Optional[int] = None, decoder_text: Optional[str] = None,
                 decoder_ids: Optional[Ids] = None) -> Generation:
        """Continues a text by at most `tokens` tokens, as `headscope generate`: without a temperature always the likeliest
        one. top: the number of alternatives of each step in the result."""
        words = [*_prompt_of(text, ids), *_options(text_pair=pair), *_decoder(decoder_text, decoder_ids)]
        words += _options(tokens=tokens, temperature=temperature, top_k=top_k, top_p=top_p, seed=seed, top=top)
        return Generation(self._session.json("generate", [*words, *self._edits, "--json"]), self._session)

    def ablate(self, *heads: Head) -> "Model":
        """Returns the model without these heads: their outputs are multiplied by 0. A head is (layer, head), or a text such as
        "3.2", in an encoder-decoder "cross:3.2"."""
        return self.edit({head: 0 for head in heads})

    def edit(self, gains: Optional[Mapping[Head, float]] = None, *, parameters: Optional[Mapping[str, Any]] = None,
             patch: Optional[Path] = None) -> "Model":
        """Returns the model with edits, in addition to those that it has. gains: the factor of the output of a head.
        parameters: whole arrays by the names and with the shapes of parameter(). patch: a file of edits that was saved in the
        window or by save_edits(); it takes the place of earlier edits of parameters and of an earlier file."""
        words = [f"--gain={_head(head)}={float(gain):.9g}" for head, gain in (gains or {}).items()]
        edited = object.__new__(type(self))
        edited._session = self._session
        edited._gains = (*self._gains, *words)
        edited._patch, edited._file = self._patch, self._file
        if patch is not None:
            edited._patch, edited._file = tuple(_options(patch=os.path.abspath(os.fsdecode(patch)))), None
        if parameters:
            file = _EditFile()
            # Without head gains, which a later file of edits would take away with this one.
            edited._write_edits(file.path, {name: _real(array, name) for name, array in parameters.items()}, edited._patch)
            edited._patch, edited._file = (f"--patch={file.path}",), file
        return edited

    def save_edits(self, path: Path) -> None:
        """Writes the edits to a file for edit(patch=...), `--patch` of the command line and the window. Its name ends in
        .patch.safetensors."""
        self._write_edits(os.path.abspath(os.fsdecode(path)), {}, self._edits)

    def _write_edits(self, path: str, parameters: Mapping[str, numpy.ndarray], edits: Sequence[str]) -> None:
        with saved(parameters) as changed:
            self._session.ask("edit", [*edits, f"--parameters={changed}", f"--output={path}"])


def _prompt_of(text: Optional[str], ids: Optional[Ids]) -> List[str]:
    if (text is None) == (ids is None):
        raise ValueError("give either a text or token ids")
    return _one_of("text", "ids", text if ids is None else ids)
