"""A program without a window that keeps one model open: `headscope serve`."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import subprocess
import tempfile
import threading
import weakref
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

import numpy

from . import _safetensors
from ._errors import HeadscopeError, NoProgram, ProgramEnded, Refused

PROTOCOL = 1
_MEMORY = "/dev/shm"  # a file system in memory
_NAME = "headscope: "


def program_of(program: Optional[str]) -> str:
    """Returns the program that was named, else that of HEADSCOPE, else headscope in PATH."""
    return os.fspath(program or os.environ.get("HEADSCOPE") or "headscope")


def start(command: Sequence[str], **options: Any) -> subprocess.Popen:
    """Starts a program. Raises NoProgram if there is none."""
    try:
        return subprocess.Popen(command, **options)
    except OSError as fault:
        folder = options.get("cwd")
        if folder is not None and fault.filename == folder:
            raise HeadscopeError(f"the folder {folder}, in which the model was opened, cannot be entered ({fault.strerror}); open the model again") from None
        raise NoProgram(
            f"the program {command[0]} cannot be started ({fault.strerror}); install Headscope, or name the program in the "
            "environment variable HEADSCOPE"
        ) from None


def _working_folder() -> Optional[str]:
    try:
        return os.getcwd()
    except OSError:  # the folder was removed
        return None


def how_it_ended(code: int) -> str:
    return f"it was killed by signal {-code}" if code < 0 else f"its exit code is {code}"


def _discard(process: Any, errors: Any, owner: int) -> None:
    errors.close()
    if os.getpid() != owner:  # a fork of the process that started it
        return
    if process is not None:
        if process.poll() is None:
            process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            try:
                pipe.close()
            except OSError:
                pass  # an unsent request


class Session:
    """Sends requests to one program, one at a time; any thread may call it. A program that was killed is started again by
    the next request."""

    def __init__(self, model: str, program: Optional[str], arguments: Sequence[str]) -> None:
        self._command = [program_of(program), "serve", "--model=" + model, *arguments]
        # Kept for a program that is started again: the script may be in another folder by then, and names may be relative.
        self._folder = _working_folder()
        self._lock = threading.RLock()
        self._process: Any = None  # a subprocess.Popen with pipes; None: ended
        self._finalizer: Optional[weakref.finalize] = None
        self._closed = False
        self._number = 0
        self.facts: Dict[str, Any] = {}
        with self._lock:
            self._open()

    def _open(self) -> None:
        self._owner = os.getpid()
        self._errors = tempfile.TemporaryFile()
        try:
            # In a session of its own, so that Ctrl C in a terminal does not reach it.
            process: Any = start(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, start_new_session=True,
                                 cwd=self._folder)  # fmt: skip
        except BaseException:
            _discard(None, self._errors, self._owner)
            raise
        self._process = process
        self._finalizer = weakref.finalize(self, _discard, process, self._errors, self._owner)
        try:
            self.facts = self._greeting(process.stdout.readline())
        except BaseException:
            self._kill()
            raise

    def _greeting(self, line: bytes) -> Dict[str, Any]:
        if not line:
            code = self._process.wait()
            sentence = self._last_error()
            if "no command \"serve\"" in sentence or code == 0:
                raise NoProgram(f"{self._command[0]} is a program of another version, without the command serve; use that of this package")
            raise Refused(sentence or f"the program ended; {how_it_ended(code)}", code if code > 0 else 4)
        try:
            facts = json.loads(line)
            protocol, version = facts["protocol"], facts["version"]
        except (ValueError, KeyError, TypeError):
            raise NoProgram(f"{self._command[0]} is not Headscope, or another version; name another program in HEADSCOPE") from None
        if protocol != PROTOCOL:
            raise NoProgram(
                f"{self._command[0]} is Headscope {version}, whose requests have another form (protocol {protocol}, not {PROTOCOL}); "
                "use the package of that version"
            )
        return facts

    def __reduce__(self) -> Any:
        raise TypeError("a model is a running program and cannot be pickled; open it in the other process")

    def _last_error(self) -> str:
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1].removeprefix(_NAME) if lines else ""

    def _kill(self) -> None:
        if self._finalizer is not None:
            self._finalizer()
        self._process = self._finalizer = None

    def close(self) -> None:
        """Ends the program. Later requests raise HeadscopeError."""
        with self._lock:
            self._closed = True
            self._kill()

    def ask(self, command: str, arguments: Sequence[str], **more: Any) -> Dict[str, Any]:
        """Runs a command. Returns the answer. Raises Refused with the program's sentence, and ProgramEnded."""
        with self._lock:
            if self._closed:
                raise HeadscopeError("the model is closed; open it again")
            if os.getpid() != self._owner:
                raise HeadscopeError("the model was opened in another process; open it in this one too")
            if self._process is None:
                self._open()
            try:
                answer = self._exchange({"command": command, "arguments": list(arguments), **more})
            except BaseException:  # for example KeyboardInterrupt: an answer would follow that nobody reads
                self._kill()
                raise
        if not answer["ok"]:
            raise Refused(answer["error"], answer["code"])
        return answer

    def _exchange(self, request: Dict[str, Any]) -> Dict[str, Any]:
        self._number += 1
        try:
            self._process.stdin.write(json.dumps({"id": self._number, **request}).encode() + b"\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = b""
        if not line.endswith(b"\n"):
            code, sentence = self._process.wait(), self._last_error()
            raise ProgramEnded(f"the program ended during {request['command']}: {sentence or how_it_ended(code)}; the next call starts it again")
        return json.loads(line)

    def draw(self, scene: Dict[str, Any], path: str) -> None:
        """Draws a scene as a .png, .svg or .pdf file."""
        self.ask("draw", [], scene=scene, path=path)

    def json(self, command: str, arguments: Sequence[str]) -> Any:
        """Returns the JSON that a command prints."""
        return json.loads(self.ask(command, arguments)["output"])

    def arrays(self, command: str, arguments: Sequence[str]) -> Tuple[Dict[str, numpy.ndarray], Dict[str, str], List[str]]:
        """Returns the arrays of a file that a command writes, its metadata and the program's warnings."""
        try:
            return self._arrays(command, arguments, in_memory=True)
        except Refused as fault:
            if "No space left" not in str(fault):
                raise
        return self._arrays(command, arguments, in_memory=False)

    def _arrays(self, command: str, arguments: Sequence[str], in_memory: bool) -> Tuple[Dict[str, numpy.ndarray], Dict[str, str], List[str]]:
        with _folder(in_memory) as folder:
            path = os.path.join(folder, "answer.safetensors")
            answer = self.ask(command, [*arguments, "-o", path])
            return (*_safetensors.load(path), answer["warnings"])


def _folder(in_memory: bool) -> "tempfile.TemporaryDirectory[str]":
    """Returns a folder that only this user can open. It is removed at the end of a with block."""
    place = _MEMORY if in_memory and os.access(_MEMORY, os.W_OK) else None
    return tempfile.TemporaryDirectory(prefix=f"headscope-{os.getpid()}-", dir=place)


@contextlib.contextmanager
def saved(arrays: Mapping[str, numpy.ndarray]) -> Iterator[str]:
    """Writes arrays to a file, which is removed at the end of the with block. Gives its path."""
    with contextlib.ExitStack() as folders:
        path = os.path.join(folders.enter_context(_folder(True)), "input.safetensors")
        try:
            _safetensors.save(path, arrays)
        except OSError as fault:
            if fault.errno != errno.ENOSPC:
                raise
            path = os.path.join(folders.enter_context(_folder(False)), "input.safetensors")
            _safetensors.save(path, arrays)
        yield path
