#!/usr/bin/env python3
"""check_window.py PROGRAM TOKENS: uses the window as a person does and compares its pixels with the trace.

Types a sentence, steps through the stages, and checks in both themes that every heatmap cell on screen has the color that
the color map gives to the value in the output of `headscope trace`."""
import contextlib
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import colours
import desktop
from desktop import Failure

SENTENCE = "The bank by the river"
TOKENS = ["The", "bank", "by", "the", "river"]
STAGES = ["x", "q k v", "split", "scores", "scaled", "masked", "weights", "head_out", "concat", "contributions", "output"]
TOLERANCE = 1  # largest difference per channel


def check(holds, text):
    if not holds:
        raise Failure(text)


def trace(program, stage):
    done = subprocess.run([program, "trace", SENTENCE, "--preset", "first-lesson", "--stages", stage, "--format",
                           "json", "-o", "-"], check=True, capture_output=True, text=True,
                          timeout=desktop.PATIENCE)  # fmt: skip
    return json.loads(done.stdout)["stages"][stage]["values"]


def ask_for_the_field(window):
    """Checks several times that one quick click on the step "Change a word" of the tour gives the keyboard to the field."""
    for attempt in range(8):
        window.move(700, 700)
        time.sleep(0.2)
        window.click(155, 357)
        window.wait(f"the keyboard in the field, attempt {attempt}", lambda r: r["typing"])
        window.key("Escape")
        window.wait("the end of typing", lambda r: not r["typing"])


def type_sentence(window):
    window.click(200, 26)
    window.key("ctrl+a")
    window.type(SENTENCE)
    window.key("Return")
    report = window.wait("the typed sentence", lambda r: r["tokens"] == TOKENS and r["settled"])
    check(report["sentence"] == SENTENCE, f"the sentence is {report['sentence']!r}")
    check(report["error"] == "", f"there is an error: {report['error']}")
    check(report["revision"] > 1, "the document did not change")


def walk(window):
    window.key("ctrl+2")  # from the Flow to the stages
    window.key("Home")
    for place, stage in enumerate(STAGES):
        report = window.wait(f"stage {stage}", lambda r: r["stage"] == stage and r["settled"])
        check(report["grids"], f"stage {stage} shows no matrix")
        if place + 1 < len(STAGES):
            window.key("Right")
    window.key("Left")
    window.wait("the stage before the last", lambda r: r["stage"] == STAGES[-2] and r["settled"])


def faults_on_screen(window, report, values, tokens):
    """Returns the number of cells that were compared, and the differences."""
    shot = window.screenshot()
    compared, faults = 0, []
    for grid in report["grids"]:
        if not (grid["heatmap"] and grid["actual"]):
            continue
        check(grid["tensor"] == "weights", f"the weights stage shows a heatmap of {grid['tensor']}")
        left, top, _, _ = grid["area"]
        pitch_x, pitch_y = grid["pitch"]
        head = grid["origin"][1]
        for row in range(grid["rows"]):
            for column in range(grid["cols"]):
                # Outlines follow the edges of cells, never their middle.
                x = int(left + pitch_x * column + (pitch_x - grid["gap"]) / 2)
                y = int(top + pitch_y * row + (pitch_y - grid["gap"]) / 2)
                value = float(values[0][head][row][column])
                wanted = tokens.color(grid["map"], head, report["dark"], value, grid["low"], grid["high"])
                compared += 1
                if abs(shot[y, x] - wanted).max() > TOLERANCE:
                    faults.append(f"head {head} row {row} column {column}, {value:.4f}, is {shot[y, x]} at "
                                  f"({x}, {y}) and should be {wanted}")  # fmt: skip
    return compared, faults


def check_colours(window, values, tokens, dark):
    report = window.wait("the weights", lambda r: r["stage"] == "weights" and r["dark"] == dark and r["settled"])
    cells = len(values[0]) * len(TOKENS) ** 2
    last = []

    def look():  # the report is written a moment before the server shows the picture
        compared, last[:] = faults_on_screen(window, report, values, tokens)
        check(compared == cells, f"{compared} cells are drawn, and {cells} were expected")
        return not last

    with contextlib.suppress(Failure):
        desktop.wait_for("the colours", look)
    check(not last, f"{len(last)} of {cells} cells ({'dark' if dark else 'light'}): " + "; ".join(last[:4]))
    print(f"{'dark' if dark else 'light'}: {cells} cells have the colours of their weights")


def check_copied(window, folder):
    """Checks that the pasted picture is the one that the dialog writes, pixel for pixel."""
    window.key("ctrl+shift+i")
    png = desktop.wait_for("the copied picture", lambda: window.copied("image/png"))
    path = pathlib.Path(folder) / "written.png"
    window.key("ctrl+e")
    window.wait("the dialog", lambda r: r["dialog"] != "")
    window.key("ctrl+a")
    window.type(str(path))
    window.key("Return")
    window.wait("the dialog to be gone", lambda r: r["dialog"] == "")
    check(path.read_bytes() == png, f"{len(png)} bytes were copied, {path.stat().st_size} written")
    print("copied a picture of", len(png), "bytes")


def check_shown_again(window):
    """Checks that a window that was hidden, and lost its pixels in the server, draws the same picture again."""
    before = window.still_screenshot()
    window.xdotool("search", "--class", "headscope", "windowunmap", "--sync")
    check((window.still_screenshot() != before).any(), "the window was not hidden")
    window.xdotool("search", "--class", "headscope", "windowmap", "--sync")
    window.move(800, 990)
    desktop.wait_for("the picture of a window that was hidden", lambda: (window.screenshot() == before).all())
    print("a window that was hidden shows its picture again")


def use_the_window(program, tokens, display, folder):
    with desktop.Window(program, display, folder) as window:
        ask_for_the_field(window)
        print("the tour gave the field the keyboard")
        window.move(800, 20)
        type_sentence(window)
        print("typed and computed")
        walk(window)
        print("walked through", ", ".join(STAGES))
        window.key("w")
        window.wait("the weights", lambda r: r["stage"] == "weights" and r["settled"])
        window.key("n")
        window.move(800, 990)
        window.key("Escape")
        values = trace(program, "weights")
        check_colours(window, values, tokens, dark=False)
        check_shown_again(window)
        check_copied(window, folder)
        window.key("l")
        check_colours(window, values, tokens, dark=True)
        window.key("ctrl+q")
        window.wait("the question about the sentence", lambda r: r["dialog"] == "unsaved changes")
        window.key("d")
        check(window.ended() == 0, f"Ctrl+Q ended the program with {window.process.returncode}")
    with desktop.Window(program, display, folder) as window:
        # Theme and numbers are unchanged.
        check(window.report()["dark"], "the theme was forgotten")
        window.ask_to_close()
        check(window.ended() == 0, f"closing the window ended the program with {window.process.returncode}")
    print("ended with 0, twice")


def check_no_display(program, folder):
    done = subprocess.run([program], env={**desktop.clean_environment(), "HOME": folder, "XDG_RUNTIME_DIR": folder},
                          capture_output=True, text=True, timeout=desktop.PATIENCE)  # fmt: skip
    check(done.returncode == 3, f"without a display the program ended with {done.returncode}: {done.stderr}")
    lines = done.stderr.strip().split("\n")
    check(len(lines) == 1 and "headscope render" in lines[0], f"without a display it says: {done.stderr}")
    check(done.stdout == "", f"it prints {done.stdout!r}")
    print("without a display:", lines[0])


def main():
    program, tokens = sys.argv[1], colours.Tokens(sys.argv[2])
    try:
        with tempfile.TemporaryDirectory() as folder, desktop.Display() as display:
            use_the_window(program, tokens, display, folder)
            check_no_display(program, folder)
    except Failure as fault:
        print(f"check_window.py: {fault}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
