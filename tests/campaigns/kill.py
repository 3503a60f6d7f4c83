#!/usr/bin/env python3
"""Kills the program with SIGKILL at random moments of work in a real window, and checks the files that remain.

    tests/campaigns/kill.py build/release/headscope --moments 200 --seed 1

Each run of the program continues with the files of the previous one. It saves rarely, so that autosaves are needed. In a
problem the script types words, drags numbers of W_O and saves; in `pocket` it types, generates tokens, opens screens and
ablates heads. After each kill every autosave and every project must open, and in a problem the next start must restore a
sentence that was on screen at most 2 s before the kill. Needs Xvfb and xdotool. The exit status is 1 at the first loss."""
import argparse
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
import desktop  # noqa: E402
from desktop import Failure  # noqa: E402

GRACE_S = 2.0
WORDS = ["the", "cat", "sat", "down", "old", "man", "reads", "a", "paper", "dog", "barks", "and", "sees"]


class Watch(threading.Thread):
    """Records when each sentence was on screen, and kills the program at a given time."""

    def __init__(self, window, end):
        super().__init__()
        self.window, self.end, self.seen, self.killed = window, end, [], None

    def look(self):
        try:
            report = self.window.report()
        except (ValueError, OSError):
            return  # the program was writing its report
        if report and (not self.seen or report["sentence"] != self.seen[-1][1]):
            self.seen.append((time.monotonic(), report["sentence"]))

    def run(self):
        while time.monotonic() < self.end:
            self.look()
            time.sleep(0.02)
        self.window.process.kill()
        self.killed = time.monotonic()
        self.window.process.wait()
        self.look()

    def allowed(self):
        """Returns the sentences that may be restored: the one on screen 2 s before the kill, and all later ones."""
        old = [sentence for at, sentence in self.seen if at <= self.killed - GRACE_S]
        return old[-1:] + [sentence for at, sentence in self.seen if at > self.killed - GRACE_S]


def type_words(window, chance):
    window.key("slash")
    window.key("End")
    if chance.random() < 0.2:
        window.key("ctrl+a")
    window.xdotool("type", "--delay", chance.choice([5, 30, 90]), " " + " ".join(chance.sample(WORDS, chance.randint(1, 4))))
    window.key(chance.choice(["Escape", "Return"]))


def drag(window, chance):
    report = window.report()
    grids = [grid for grid in report["grids"] if grid["tensor"] in ("W_O", "W_Q", "x")]
    if not grids:
        window.key(chance.choice(["Home", "End", "Right"]))
        return
    grid = chance.choice(grids)
    x, y = (grid["area"][axis] + 0.5 * grid["pitch"][axis] for axis in (0, 1))
    window.move(x, y)
    window.xdotool("mousedown", 1)
    for step in range(chance.randint(2, 12)):
        window.move(x + 9 * step, y)
    window.xdotool("mouseup", 1)


def save(window, chance):
    window.key("Escape")
    window.key("ctrl+s")


def write_on(window, chance):
    window.key("Escape")
    window.key(chance.choice(["ctrl+Return", "ctrl+space", "ctrl+BackSpace"]))


def press(window, chance):
    window.key("Escape")
    window.key(chance.choice(["Right", "Left", "Down", "Up", "d", "ctrl+z", "ctrl+y", "End", "Home"]))


def work(window, watch, steps, chance):
    """Takes random steps until the program is dead."""
    while watch.is_alive():
        try:
            chance.choice(steps)(window, chance)
        except (Failure, subprocess.SubprocessError, ValueError, KeyError, TypeError, OSError):
            pass  # the window was killed during a step


def check_files(program, folder):
    """Opens every file that a user could open again."""
    for file in [*folder.glob("state/headscope/*.headscope"), *folder.glob("*.headscope")]:
        done = subprocess.run([program, "trace", "--project", file, "--stages", "x", "-o", folder / "x.npy"],
                              capture_output=True, text=True, timeout=desktop.PATIENCE)  # fmt: skip
        if done.returncode != 0:
            raise Failure(f"{file.name} does not open: {done.stderr}")


def make_project(program, display, folder, path):
    with desktop.Window(program, display, folder) as window:
        window.key("ctrl+s")
        window.wait("the file chooser", lambda now: now["dialog"] == "file chooser")
        window.key("ctrl+a")
        window.type(str(path))
        window.key("Return")
        window.wait("the project", lambda now: now["project"] == str(path))


def life(program, display, folder, arguments, steps, due, chance):
    """Starts, uses and kills the program once. Returns the sentences that may be restored, or None if the document is a
    checkpoint."""
    with desktop.Window(program, display, folder, *arguments) as window:
        report = window.report()
        if report["dialog"] == "recovery":
            window.key("Return")
            report = window.wait("the recovered document", lambda now: now["settled"] and not now["dialog"])
        # Text typed after the last report may have reached the disk too.
        if due is not None and report["sentence"] not in due and not report["sentence"].startswith(due[-1]):
            raise Failure(f"came back with {report['sentence']!r}, not with one of {due}")
        watch = Watch(window, time.monotonic() + chance.uniform(0.1, 6))
        watch.start()
        work(window, watch, steps, chance)
        watch.join()
    check_files(program, folder)
    return watch.allowed()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--moments", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    moment = 0
    try:
        with tempfile.TemporaryDirectory() as own, tempfile.TemporaryDirectory() as other, desktop.Display() as display:
            own, other = pathlib.Path(own), pathlib.Path(other)
            project = own / "work.headscope"
            make_project(options.program, display, own, project)
            due = None
            for moment in range(options.moments):
                if chance.random() < 0.3:
                    life(options.program, display, other, ["pocket"], [type_words, write_on, press, drag], None, chance)
                else:
                    due = life(options.program, display, own, [project],
                               [type_words, drag, press] * 6 + [save], due, chance)  # fmt: skip
                if moment % 20 == 19:
                    print(f"{moment + 1} kills", flush=True)
    except Failure as fault:
        print(f"kill.py: kill {moment + 1} of seed {options.seed}: {fault}", file=sys.stderr)
        return 1
    print(f"{options.moments} kills: every file opened, nothing older than {GRACE_S:.0f} s was lost")
    return 0


if __name__ == "__main__":
    sys.exit(main())
