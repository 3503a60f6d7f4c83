"""A window of the program, controlled through its socket."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from ._errors import Asked, NoProgram, Question, Refused
from ._session import how_it_ended, program_of, start
from ._whole import whole_of

Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]


def _text(value: Any) -> Any:
    """A path as text, in which each byte that is not UTF-8 is a surrogate; JSON writes these as the program reads them.
    Also inside a dictionary."""
    if isinstance(value, Mapping):
        return {str(name): _text(one) for name, one in value.items()}
    return os.fsdecode(value) if isinstance(value, (bytes, os.PathLike)) else value


def _question(answer: Mapping[str, Any]) -> Optional[Question]:
    asked = answer.get("question")
    return None if asked is None else Question(asked["number"], asked["kind"], asked["text"], list(asked["choices"]), asked["takes"])


def _given(**fields: Any) -> Dict[str, Any]:
    """The fields that are not None, with the names that the program has for them: text_pair is "text-pair"."""
    return {name.replace("_", "-"): value for name, value in fields.items() if value is not None}


class Window:
    """A private window, which other programs cannot reach. Closed by close() or at the end of a with block."""

    def __init__(self, *arguments: Any, program: Optional[str] = None, patience: float = 60) -> None:
        """arguments: the same as on the command line, such as "pocket" or "--sentence", "The cat sat down"; paths may be
        bytes. patience: seconds until the window must have opened. Raises NoProgram and Refused."""
        self._folder = tempfile.mkdtemp(prefix="headscope-")
        path = os.path.join(self._folder, "control")
        self._program = program_of(program)
        command = [self._program, "--control", path, *(str(_text(one)) for one in arguments)]
        self._shown: Optional[tempfile.TemporaryDirectory] = None  # files that the window reads while it is open
        try:
            self._process: subprocess.Popen = start(command)
            self._lines = self._connect(path, time.monotonic() + patience)
            self._next = 1
            self.settle()  # refuses inputs that cannot be opened
        except BaseException:
            self.close()
            raise

    def _connect(self, path: str, end: float) -> Any:
        while True:
            self._socket = socket.socket(socket.AF_UNIX)
            try:
                self._socket.connect(path)
                return self._socket.makefile("r", encoding="utf-8")
            except OSError:
                self._socket.close()
                if self._process.poll() is not None:
                    raise Refused(f"the program ended; {how_it_ended(self._process.returncode)}") from None
                if time.monotonic() > end:
                    raise NoProgram(f"{self._program} has not opened a window yet; raise patience, or name another program") from None
                time.sleep(0.02)

    def __enter__(self) -> "Window":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(self, action: str, value: Any = None) -> Dict[str, Any]:
        line = {"id": self._next, "action": action}
        if value is not None:
            line["value"] = _text(value)
        self._next += 1
        try:
            self._socket.sendall((json.dumps(line) + "\n").encode())
            answer = self._lines.readline()
        except OSError:
            answer = ""
        if not answer:
            raise Refused("the window is closed")
        answer = json.loads(answer)
        question = _question(answer)
        if not answer["ok"] and question is not None:
            raise Asked(answer["error"], question)
        if not answer["ok"]:
            raise Refused(answer["error"])
        return answer

    def do(self, action: str, value: Any = None) -> None:
        """Performs an action or a request by its name, and waits until the window shows the result.

        value: a text, a number, a bool, a path as str, bytes or pathlib.Path, or a dictionary of these; see
        assets/manual/automation.md. Raises Refused, and Asked if the window has to ask a question first."""
        self._ask(action, value)
        question = _question(self._ask("settle"))
        if question is not None:
            raise Asked(question.text, question)

    def settle(self) -> None:
        """Waits until all computation and motion has ended."""
        self._ask("settle")

    def open(self, path: Path, *, text: Optional[str] = None, text_pair: Optional[str] = None, decoder_text: Optional[str] = None) -> None:
        """Opens a file, the folder of a checkpoint or "pocket". The texts are those of a checkpoint. Raises Refused, and Asked
        if work would be lost or a model has to be named."""
        self.do("open", _given(path=path, text=text, text_pair=text_pair, decoder_text=decoder_text))

    def save(self, path: Path) -> None:
        """Saves the project; replaces an existing file. Raises Refused."""
        self.do("save", path)

    def picture(self, path: Path, *, theme: Optional[str] = None, background: Optional[str] = None, crop: Optional[bool] = None,
                title: Optional[bool] = None, all_heads: Optional[bool] = None, scale: Optional[int] = None, width: Optional[str] = None,
                font_size: Optional[str] = None) -> None:
        """Writes a picture of the view as .png, .svg or .pdf; replaces an existing file. The settings are those of headscope
        render: width="180mm" or "2000px", font_size="8pt". Raises Refused."""
        self.do("picture", _given(path=path, theme=theme, background=background, crop=crop, title=title, all_heads=all_heads,
                                  scale=scale, width=width, font_size=font_size))

    def numbers(self, path: Path) -> None:
        """Writes the numbers of the stage, or the table of the screen; replaces an existing file. Raises Refused."""
        self.do("save numbers", path)

    def select(self, cell: str) -> None:
        """Selects a number or a block such as "weights[0][sat, cat]"; empty: none. report()["inspector"] explains it."""
        self.do("select", cell)

    def edit(self, cell: str, value: float) -> None:
        """Sets a number of the input, a weight or a bias, such as "W_Q[0, 1]". Raises Refused."""
        self.do("cell", {"cell": cell, "value": float(value)})

    def gain(self, head: int, gain: float, *, layer: Optional[int] = None, stack: Optional[str] = None) -> None:
        """Sets the gain of a head; 0: ablated, 1: unchanged. layer, stack: of another attention of a checkpoint."""
        self.do("gain", _given(head=int(head), gain=float(gain), layer=layer, stack=stack))

    def question(self) -> Optional[Question]:
        """Returns the open question or dialog; None if there is none."""
        return _question(self.report())

    def reply(self, answer: Path, question: Optional[Question] = None) -> None:
        """Answers the open question: with one of its choices, or with the path or name that it takes.

        question: refuses if another question has been opened since. Raises Refused, and Asked if another question follows."""
        self.do("reply", _given(answer=answer, question=None if question is None else question.number))

    def cancel(self) -> None:
        """Closes the open question or dialog without an answer, or stops the work in progress. Raises Refused."""
        self.do("cancel")

    def quit(self) -> None:
        """Ends the program like a person does. Raises Asked if work would be lost; the window then stays open."""
        self._ask("quit")
        self._process.wait()
        self.close()

    def actions(self) -> List[Dict[str, Any]]:
        """Returns the available actions of the current screen: a list of dictionaries."""
        return self._ask("actions")["actions"]

    def report(self) -> Dict[str, Any]:
        """Returns a description of the screen, in the format of assets/manual/automation.md. os.fsencode() gives the bytes
        of a path."""
        return self._ask("report")["report"]

    def close(self) -> None:
        """Ends the program without asking about unsaved changes."""
        process = getattr(self, "_process", None)
        if hasattr(self, "_socket"):
            self._socket.close()
        if process is not None and process.poll() is None:
            process.terminate()
            process.wait()
        if getattr(self, "_lines", None) is not None:
            self._lines.close()
        shutil.rmtree(self._folder, ignore_errors=True)
        shown = getattr(self, "_shown", None)
        if shown is not None:
            shown.cleanup()


def show(attention: Any, tokens: Optional[Sequence] = None, program: Optional[str] = None, *, key_tokens: Optional[Sequence] = None,
         mask: Any = None, index: Optional[int] = None, stack: Optional[str] = None) -> Window:
    """Opens a window with attention weights.

    attention: an array of NumPy or a tensor of PyTorch in any type, (heads, Tq, Tk) or (layers, heads, Tq, Tk); a tuple with
    (batch, heads, Tq, Tk) for each layer; or the output of a model that has attentions, or encoder_attentions,
    decoder_attentions and cross_attentions, of which `stack` ("encoder", "decoder" or "cross") chooses one. tokens: one for
    each row, or a list for each text of the batch; key_tokens: one for each column, where these have others. mask: 1 for a
    token and 0 for padding, one for each column, or a row for each text. index: the text of a batch.

    Without index or stack, the window gets all texts and attentions and asks which to show. For an encoder-decoder, tokens are
    then the decoder's, and key_tokens the encoder's.

    Raises TypeError or ValueError for anything else, and Refused if the program refuses the input; no window and no process
    is left then."""
    weights = whole_of(attention, tokens, key_tokens=key_tokens, mask=mask, index=index, stack=stack)
    folder = tempfile.TemporaryDirectory(prefix="headscope-")
    try:
        window = Window(weights.save(folder.name), program=program)
    except BaseException:
        folder.cleanup()
        raise
    window._shown = folder
    return window
