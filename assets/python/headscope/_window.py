"""A window of the program, controlled through its socket."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from typing import Any, Dict, List, Optional, Sequence

from ._attention import weights_of
from ._errors import NoProgram, Refused
from ._session import how_it_ended, program_of, start


def _text(value: Any) -> Any:
    """A path as text, in which each byte that is not UTF-8 is a surrogate; JSON writes these as the program reads them."""
    return os.fsdecode(value) if isinstance(value, (bytes, os.PathLike)) else value


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
        if not answer["ok"]:
            raise Refused(answer["error"])
        return answer

    def do(self, action: str, value: Any = None) -> None:
        """Performs an action by its name, and waits until the window shows the result. Raises Refused.

        value: a text, or a path as str, bytes or pathlib.Path."""
        self._ask(action, value)
        self.settle()

    def settle(self) -> None:
        """Waits until all computation and motion has ended."""
        self._ask("settle")

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

    Raises TypeError or ValueError for anything else, and Refused if the program refuses the input; no window and no process
    is left then."""
    weights = weights_of(attention, tokens, key_tokens=key_tokens, mask=mask, index=index, stack=stack)
    folder = tempfile.TemporaryDirectory(prefix="headscope-")
    try:
        window = Window(weights.save(folder.name), program=program)
    except BaseException:
        folder.cleanup()
        raise
    window._shown = folder
    return window
