#!/usr/bin/env python3
"""check_recovery.py PROGRAM: drags a number of W_O, kills the program with SIGKILL, starts it again and accepts the
recovery: the numbers must be the same as before, to the last bit."""
import json
import pathlib
import subprocess
import sys
import tempfile

import desktop
from desktop import Failure


def check(holds, text):
    if not holds:
        raise Failure(text)


def trace(program, project):
    """Returns the numbers that the program computes from a project, as bytes."""
    done = subprocess.run([program, "trace", "--project", project, "--format", "safetensors", "-o", "-"],
                          capture_output=True, timeout=desktop.PATIENCE)  # fmt: skip
    check(done.returncode == 0, f"trace --project: {done.stderr}")
    return done.stdout


def kept(state):
    """Returns the only autosaved project."""
    return desktop.wait_for("an autosaved project", lambda: list(state.glob("autosave-*.headscope")))[0]


def drag_W_O(window):
    window.key("ctrl+2")  # the stages
    window.key("End")
    report = window.wait("the output", lambda now: now["settled"] and now["stage"] == "output")
    grid = next(grid for grid in report["grids"] if grid["tensor"] == "W_O")
    x, y = (grid["area"][axis] + 1.5 * grid["pitch"][axis] for axis in (0, 1))
    window.move(x, y)
    window.xdotool("mousedown", 1)
    for step in range(12):
        window.move(x + 10 * step, y)
    window.wait("an edit", lambda now: now["revision"] > report["revision"] and now["settled"])


def lose_and_recover(program, display, folder):
    state = pathlib.Path(folder) / "state/headscope"
    with desktop.Window(program, display, folder) as window:
        drag_W_O(window)
        # The edit is in progress: the mouse button is still down.
        report = window.wait("the autosave", lambda now: now["saved"] == "autosaved")
        window.process.kill()
        window.process.wait()
    lost = trace(program, kept(state))
    plain = subprocess.run([program, "trace", report["sentence"], "--format", "safetensors", "-o", "-"],
                           check=True, capture_output=True, timeout=desktop.PATIENCE)  # fmt: skip
    check(lost != plain.stdout, "the autosave holds no edit")
    print("killed in mid-drag; an autosave is left")

    with desktop.Window(program, display, folder) as window:
        check(window.report()["dialog"] == "recovery", "nothing is offered after the kill")
        window.key("Return")
        window.wait("the recovered edit", lambda now: now["saved"] == "autosaved" and not now["dialog"])
        check(trace(program, kept(state)) == lost, "what came back is not what was lost")
    print("recovered to the last bit")


def keep_the_settings(program, display, folder):
    kept_view = pathlib.Path(folder) / "config/headscope/view.json"
    with desktop.Window(program, display, folder) as window:
        window.key("l")
        window.key("ctrl+plus")
        window.wait("the dark theme", lambda now: now["settled"] and now["dark"])
        desktop.wait_for("settings on disk", lambda: kept_view.exists() and json.loads(kept_view.read_text())["dark"])
        window.process.terminate()
        window.process.wait()
    check(json.loads(kept_view.read_text())["zoom"] > 1, "the zoom went with the program")
    with desktop.Window(program, display, folder) as window:
        check(window.report()["dark"], "the theme went with the program")
    print("theme and zoom outlive the program's end by a signal")


def main():
    try:
        with tempfile.TemporaryDirectory() as folder, desktop.Display() as display:
            lose_and_recover(sys.argv[1], display, folder)
        with tempfile.TemporaryDirectory() as folder, desktop.Display() as display:
            keep_the_settings(sys.argv[1], display, folder)
    except Failure as fault:
        print(f"check_recovery.py: {fault}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
