"""Shows attention weights in Headscope's window and controls that window.

    import headscope
    window = headscope.show(attention, tokens)  # (heads, T, T) or (layers, heads, T, T), for example of NumPy or PyTorch
    window.do("arcs")
    window.do("stage", "weights")
    window.close()

Needs the program headscope in PATH, or in the environment variable HEADSCOPE, and NumPy to show an array.
"""

import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time

__all__ = ["Refused", "Window", "show"]


class Refused(Exception):
    """The window refused an action; the message is the window's own."""


def _text(value):
    """A path as text, in which each byte that is not UTF-8 is a surrogate; JSON writes these as the program reads them."""
    return os.fsdecode(value) if isinstance(value, (bytes, os.PathLike)) else value


class Window:
    """A private window, which other programs cannot reach. Closed by close() or at the end of a with block."""

    def __init__(self, *arguments, program=None, patience=60):
        """arguments: the same as on the command line, such as "pocket" or "--sentence", "The cat sat down"; paths may be
        bytes."""
        self._folder = tempfile.mkdtemp(prefix="headscope-")
        path = os.path.join(self._folder, "control")
        command = [program or os.environ.get("HEADSCOPE", "headscope"), "--control", path, *(str(_text(one)) for one in arguments)]
        try:
            self._process = subprocess.Popen(command)
            self._lines = self._connect(path, time.monotonic() + patience)
            self._next = 1
            self.settle()  # refuses inputs that cannot be opened
        except BaseException:
            self.close()
            raise

    def _connect(self, path, end):
        while True:
            self._socket = socket.socket(socket.AF_UNIX)
            try:
                self._socket.connect(path)
                return self._socket.makefile("r", encoding="utf-8")
            except OSError:
                self._socket.close()
                if self._process.poll() is not None:
                    raise Refused(f"the program ended with exit code {self._process.returncode}") from None
                if time.monotonic() > end:
                    raise
                time.sleep(0.02)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _ask(self, action, value=None):
        line = {"id": self._next, "action": action}
        if value is not None:
            line["value"] = _text(value)
        self._next += 1
        self._socket.sendall((json.dumps(line) + "\n").encode())
        answer = self._lines.readline()
        if not answer:
            raise Refused("the window is closed")
        answer = json.loads(answer)
        if not answer["ok"]:
            raise Refused(answer["error"])
        return answer

    def do(self, action, value=None):
        """Performs an action by its name, and waits until the window shows the result. Raises Refused.

        value: a text, or a path as str, bytes or pathlib.Path."""
        self._ask(action, value)
        self.settle()

    def settle(self):
        """Waits until all computation and motion has ended."""
        self._ask("settle")

    def actions(self):
        """Returns the available actions of the current screen: a list of dictionaries."""
        return self._ask("actions")["actions"]

    def report(self):
        """Returns a description of the screen, in the format of assets/manual/automation.md. os.fsencode() gives the bytes
        of a path."""
        return self._ask("report")["report"]

    def close(self):
        """Ends the program without asking about unsaved changes."""
        process = getattr(self, "_process", None)
        if hasattr(self, "_socket"):
            self._socket.close()
        if process is not None and process.poll() is None:
            process.terminate()
            process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)


def _checked(attention, tokens):
    """Returns the weights as an array and the tokens as a list. Raises TypeError or ValueError before a window is
    opened."""
    import numpy

    if hasattr(attention, "detach"):  # a tensor of PyTorch
        attention = attention.detach().cpu().numpy()
    attention = numpy.ascontiguousarray(attention)
    if attention.dtype.kind not in "fiub":
        raise TypeError(f"attention holds {attention.dtype}; give real numbers")
    if attention.ndim not in (3, 4) or attention.size == 0:
        raise ValueError(f"attention has the shape {attention.shape}; give (heads, T, T) or (layers, heads, T, T)")
    if tokens is None:
        return attention, None
    if isinstance(tokens, (str, bytes)):
        raise TypeError("tokens is one text; give a list with one text for each token")
    tokens = list(tokens)
    for token in tokens:
        if not isinstance(token, str):
            raise TypeError(f"a token is {type(token).__name__}; give each token as str")
    rows, columns = attention.shape[-2:]
    if rows != len(tokens) or columns != len(tokens):
        raise ValueError(f"there are {len(tokens)} tokens for {rows} rows and {columns} columns; give one for each")
    return attention, tokens


def show(attention, tokens=None, program=None):
    """Opens a window with attention weights, (heads, T, T) or (layers, heads, T, T), and T tokens.

    Raises TypeError or ValueError for an invalid array or list, and Refused if the program refuses the input; no window is
    left open then."""
    import numpy

    attention, tokens = _checked(attention, tokens)
    folder = tempfile.TemporaryDirectory(prefix="headscope-")
    try:
        path = pathlib.Path(folder.name) / "attention.npy"
        numpy.save(path, attention)
        if tokens is not None:
            path.with_suffix(".tokens.json").write_text(json.dumps(tokens), encoding="utf-8")
        window = Window(path, program=program)
    except BaseException:
        folder.cleanup()
        raise
    window._shown = folder  # the window reads from the file while it is open
    return window
