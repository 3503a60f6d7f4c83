#!/usr/bin/env python3
"""check_files.py PROGRAM: edits, kills the program during an edit, recovers, saves, undoes, and opens again.

Compares the screen pixel by pixel, and the numbers through `headscope trace --project`."""
import json
import pathlib
import subprocess
import sys
import tempfile

import desktop
from desktop import Failure

SENTENCE = "The cat sat down"
CELL = (5, 1)  # a cell of W_O


def check(holds, text):
    if not holds:
        raise Failure(text)


def output_of(program, project):
    done = subprocess.run([program, "trace", "--project", str(project), "--stages", "output", "--format", "json", "-o",
                           "-"], check=True, capture_output=True, text=True, timeout=desktop.PATIENCE)  # fmt: skip
    return json.loads(done.stdout)["stages"]["output"]["values"]


def grid_of(report, tensor):
    found = [grid for grid in report["grids"] if grid["tensor"] == tensor]
    check(len(found) >= 1, f"{tensor} is not on the canvas")
    return found[0]


def middle(grid, row, column):
    return (grid["area"][0] + grid["pitch"][0] * (column + 0.5), grid["area"][1] + grid["pitch"][1] * (row + 0.5))


def settled(window, what, holds=lambda r: True):
    return window.wait(what, lambda r: r["settled"] and holds(r))


def go_to_output(window):
    window.key("ctrl+2")  # the stages
    window.key("End")
    return settled(window, "the output", lambda r: r["stage"] == "output")


def picture_of_output(window):
    """Returns the pixels of the output matrix without hover and selection."""
    window.move(800, 990)
    window.key("Escape")
    report = settled(window, "a still window", lambda r: r["dialog"] == "")
    left, top, width, height = (int(side) for side in grid_of(report, "output")["area"])
    return window.still_screenshot()[top : top + height, left : left + width]


def drag_cell(window, by, release=True):
    report = settled(window, "the output", lambda r: r["stage"] == "output")
    revision = report["revision"]
    x, y = middle(grid_of(report, "W_O"), *CELL)
    window.move(x, y)
    window.xdotool("mousedown", 1)
    for step in range(1, 9):
        window.move(x + by * step / 8, y)
    if release:
        window.xdotool("mouseup", 1)
    return settled(window, "the edit", lambda r: r["revision"] > revision and r["unsaved"])


def choose_path(window, keys, path):
    window.key(keys)
    window.wait("the chooser", lambda r: r["dialog"] == "file chooser" and r["typing"])
    window.type(str(path))
    window.key("Return")
    settled(window, f"{path} in place", lambda r: r["dialog"] == "" and r["project"] == str(path))


def kill_and_recover(program, display, folder, project):
    with desktop.Window(program, display, folder, "--sentence", SENTENCE) as window:
        window.move(800, 990)
        go_to_output(window)
        before = picture_of_output(window)
        drag_cell(window, 120)
        changed = picture_of_output(window)
        check((before != changed).any(), "dragging a cell of W_O changes no pixel of the output")
        window.key("ctrl+z")
        settled(window, "the undo", lambda r: not r["unsaved"])
        check((picture_of_output(window) == before).all(), "undo does not bring the old pixels back")
        drag_cell(window, 90, release=False)
        settled(window, "the autosave", lambda r: r["saved"] == "autosaved")
        window.process.kill()
        window.process.wait(desktop.PATIENCE)
        window.xdotool("mouseup", 1)
    left = list(pathlib.Path(window.environment["XDG_STATE_HOME"]).glob("headscope/*.headscope"))
    check(len(left) == 1, f"a killed program left {left}")
    numbers = output_of(program, left[0])
    print("edited, undone, killed in mid-edit")
    with desktop.Window(program, display, folder) as window:
        window.wait("the offer", lambda r: r["dialog"] == "recovery")
        window.key("Return")
        report = settled(window, "what was recovered", lambda r: r["dialog"] == "" and r["sentence"] == SENTENCE)
        check(report["unsaved"], "what was recovered counts as saved")
        go_to_output(window)
        choose_path(window, "ctrl+s", project)
        check(output_of(program, project) == numbers, "other numbers were recovered than were lost")
        window.key("ctrl+q")
        check(window.ended() == 0, "quitting a saved project asks something")
    print("recovered and saved", project.name)
    return numbers


def save_and_reopen(program, display, folder, project, numbers):
    with desktop.Window(program, display, folder, str(project)) as window:
        window.move(800, 990)
        report = settled(window, "the project", lambda r: r["project"] == str(project))
        check(not report["unsaved"] and report["dialog"] == "", "an opened project counts as changed")
        go_to_output(window)
        saved = picture_of_output(window)
        drag_cell(window, -60)
        check((picture_of_output(window) != saved).any(), "the second edit is not seen")
        window.ask_to_close()
        window.wait("the question", lambda r: r["dialog"] == "unsaved changes")
        window.key("Escape")
        window.wait("no question", lambda r: r["dialog"] == "")
        window.key("ctrl+z")
        report = settled(window, "the undo", lambda r: not r["unsaved"])
        check(report["saved"] == "saved", f"undone to what was saved, it says {report['saved']!r}")
        check((picture_of_output(window) == saved).all(), "undo does not bring back what was saved")
        check(output_of(program, project) == numbers, "the file changed without being saved")
        drag_cell(window, 40)
        window.key("ctrl+s")
        settled(window, "the save", lambda r: not r["unsaved"])
        check(output_of(program, project) != numbers, "the second edit was not saved")
        drag_cell(window, 40)
        window.ask_to_close()
        window.wait("the question", lambda r: r["dialog"] == "unsaved changes")
        window.key("d")
        check(window.ended() == 0, f"not saving ended the program with {window.process.returncode}")
    with desktop.Window(program, display, folder) as window:
        report = settled(window, "a fresh start")
        check(report["dialog"] == "", "what was given up is offered again")
        choose_path(window, "ctrl+o", project)
        window.ask_to_close()
        check(window.ended() == 0, "closing an unchanged project asks something")
    print("opened, edited, undone, saved, given up and opened again")


def main():
    program = sys.argv[1]
    try:
        with tempfile.TemporaryDirectory() as folder, desktop.Display() as display:
            project = pathlib.Path(folder).resolve() / "cat.headscope"
            numbers = kill_and_recover(program, display, folder, project)
            save_and_reopen(program, display, folder, project, numbers)
    except Failure as fault:
        print(f"check_files.py: {fault}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
