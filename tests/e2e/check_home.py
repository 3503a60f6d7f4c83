#!/usr/bin/env python3
"""check_home.py PROGRAM: runs commands and the window where no file of the user can be written: HOME is not set, does not
exist, is a file, or is a folder on a read-only file system or of another user. Everything that needs no such file must work
as usual."""
import os
import pathlib
import subprocess
import sys
import tempfile

import desktop
from desktop import Failure

PROMPT = "When Mary and John went to the shop, John gave a book to"
OTHER_PROMPT = PROMPT.replace("John gave", "Mary gave")


def check(holds, text):
    if not holds:
        raise Failure(text)


class Home:
    """An environment with this HOME (None: not set), this folder for temporary files, and no other folder of the user."""

    def __init__(self, what, path, temporary, prefix=()):
        self.what, self.prefix = what, [str(word) for word in prefix]
        self.environment = {name: value for name, value in desktop.clean_environment().items()
                            if name != "HOME" and not name.startswith("XDG_")}
        self.environment["TMPDIR"] = str(temporary)
        if path is not None:
            self.environment["HOME"] = str(path)

    def run(self, program, *words, code=0):
        """Returns standard output."""
        done = subprocess.run([*self.prefix, program, *map(str, words)], env=self.environment, capture_output=True, text=True,
                              timeout=4 * desktop.PATIENCE, stdin=subprocess.DEVNULL)  # fmt: skip
        check(done.returncode == code, f"{self.what}: {words[0]} ended with {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout


def run_commands(home, program, folder):
    """Runs one command of each kind that reads or writes a folder of the user: settings, cache, temporary files."""
    weights = folder / "weights.npy"
    home.run(program, "trace", "The cat sat down", "--stages", "weights", "-o", weights)
    check(weights.stat().st_size > 100, f"{home.what}: trace wrote nothing")
    picture = folder / "window.png"
    home.run(program, "render", "--window", "-o", picture)
    check(picture.stat().st_size > 20_000, f"{home.what}: the picture of the window is empty")
    check("first-lesson" in home.run(program, "lesson", "list"), f"{home.what}: the lessons are missing")
    home.run(program, "devices")
    home.run(program, "model", "list")
    said = home.run(program, "generate", "--model", "pocket", "--text", PROMPT, "--tokens", "1")
    check("Mary" in said, f"{home.what}: pocket says {said}")
    home.run(program, "heads", "--model", "pocket", "--text", PROMPT, "-o", folder / "heads.csv")
    home.run(program, "record", "The cat sat down", "--stages", "--size", "640x480", "-o", folder / "film.html")
    for file in folder.iterdir():
        file.unlink()


def run_other_commands(home, program, folder):
    """Runs the other commands, which should read and write the same folders."""
    texts = folder / "texts.txt"
    texts.write_text(f"{PROMPT}\n{OTHER_PROMPT}\n", encoding="utf-8")
    pocket = ("--model", "pocket", "--text", PROMPT)
    for words, name in (
            (("trace", *pocket), "trace.safetensors"),
            (("explain", *pocket, "--what", "lens"), "lens.json"),
            (("patch", "--model", "pocket", "--what", "residual", "--clean", PROMPT, "--corrupted", OTHER_PROMPT,
              "--answer", " Mary", "--against", " John"), "patch.json"),
            (("survey", "--model", "pocket", "--texts", texts, "--limit", 1), "survey.sqlite"),
            (("map", "The cat sat down", "--head", 0, "--overview", 4), "map.npy"),
            (("export", "The cat sat down"), "script.py"),
            (("render", "The cat sat down"), "stage.pdf"),
            (("record", "The cat sat down", "--stages", "--size", "640x480"), "film.gif")):  # fmt: skip
        home.run(program, *words, "-o", folder / name)
        check((folder / name).stat().st_size > 20, f"{home.what}: {words[0]} wrote nothing")
    home.run(program, "model", "info", "pocket")
    home.run(program, "tokenize", "--model", "pocket", PROMPT)
    home.run(program, "lesson", "play", "first-lesson")
    for file in folder.iterdir():
        file.unlink()


def run_window(home, program, display, folder, *arguments):
    """Opens the window, edits, and closes it without saving."""
    report = folder / "report.json"
    with desktop.Running([*home.prefix, program, "--report", str(report), *arguments],
                         {**home.environment, "DISPLAY": display.name}, report) as window:  # fmt: skip
        window.wait("the first picture", lambda now: now["settled"])
        stage = window.report()["stage"]
        window.key("ctrl+2")  # the stages
        window.key("Right")
        window.wait("the next step", lambda now: now["settled"] and now["stage"] != stage)
        window.key("ctrl+q")
        check(window.process.wait(desktop.PATIENCE) == 0, f"{home.what}: the window ended with {window.process.returncode}")
    report.unlink()


def read_only(folder):
    """The words before a command that see `folder` on a read-only file system; None if this user cannot mount."""
    words = ["unshare", "--mount", "sh", "-ec", 'mount --bind "$0" "$0"; mount -o remount,bind,ro "$0"; exec "$@"', folder]
    tried = subprocess.run([*map(str, words), "true"], capture_output=True)
    return words if tried.returncode == 0 else None


def another_user(program, folder):
    """The words before a command that run it as a user who may not write to `folder`; None if this user cannot."""
    folder.chmod(0o555)
    if os.geteuid() != 0:
        return []
    words = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    try:
        tried = subprocess.run([*words, str(program), "--version"], capture_output=True)
    except OSError:
        return None
    return words if tried.returncode == 0 else None


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as place, desktop.Display() as display:
        place = pathlib.Path(place)
        results, file, closed, foreign, temporary = (
            place / name for name in ("results", "file", "closed", "foreign", "temporary"))  # fmt: skip
        for folder in (results, closed, foreign, temporary):
            folder.mkdir()
        place.chmod(0o755)  # another user reaches the folders below
        for folder in (results, temporary):
            folder.chmod(0o777)
        file.touch()
        homes = [Home("HOME is not set", None, temporary), Home("HOME does not exist", "/proc/nowhere", temporary),
                 Home("HOME is a file", file, temporary)]
        mounted = read_only(closed)
        if mounted is None:
            print("skipped: a read-only HOME, because this user cannot mount")
        else:
            homes.append(Home("HOME is read-only", closed, temporary, mounted))
        other = another_user(program, foreign)
        if other is None:
            print("skipped: a HOME of another user, because this user cannot run the program as another")
        else:
            homes.append(Home("HOME belongs to another user", foreign, temporary, other))
        for home in homes:
            run_commands(home, program, results)
            if home in (homes[0], homes[-1]):
                run_other_commands(home, program, results)
            run_window(home, program, display, results)
            run_window(home, program, display, results, "pocket")
            print(f"{home.what}: commands and window work")


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"check_home: {failure}")
