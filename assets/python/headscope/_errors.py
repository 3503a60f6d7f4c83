"""The exceptions of this package."""

from typing import List, NamedTuple

__all__ = ["Asked", "HeadscopeError", "NoProgram", "ProgramEnded", "Question", "Refused"]


class HeadscopeError(Exception):
    """The base of the exceptions below. The message says what is wrong and what to do."""


class Refused(HeadscopeError):
    """The program refused a request; the message is the program's own sentence.

    code: the exit code that the command line has for it: 1 for an unusable text, number, name or file, 2 for arguments that
    exclude each other, 3 for something that this machine lacks, 4 for an internal fault."""

    def __init__(self, sentence: str, code: int = 1) -> None:
        super().__init__(sentence)
        self.code = code


class Question(NamedTuple):
    """A question that the window asks, or a dialog that waits for an answer.

    choices: the answers that it offers. takes: "PATH", "NAME" or "CHOICE" if another text is an answer too, otherwise
    empty."""

    number: int
    kind: str
    text: str
    choices: List[str]
    takes: str


class Asked(Refused):
    """The window asks a question that has to be answered first: Window.reply() answers it, Window.cancel() closes it."""

    def __init__(self, sentence: str, question: Question) -> None:
        super().__init__(sentence)
        self.question = question


class NoProgram(HeadscopeError, FileNotFoundError):
    """The program was not found, or is of a version that this package does not understand."""


class ProgramEnded(HeadscopeError):
    """The program ended in the middle of a request, for example because it was killed."""
