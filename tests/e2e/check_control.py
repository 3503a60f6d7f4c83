#!/usr/bin/env python3
"""check_control.py PROGRAM: controls a real window through its socket, with the Python package and with raw lines."""
import json
import os
import pathlib
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
import types

import numpy

from desktop import Display, Failure, clean_environment, wait_for

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "assets" / "python"))
import headscope  # noqa: E402


def check(holds, what):
    if not holds:
        raise Failure(what)


def refused(call):
    try:
        call()
    except headscope.Refused as fault:
        return str(fault)
    raise Failure("what cannot be done was done")


def check_package(program):
    with headscope.Window("--sentence", "The cat sat down", program=program) as window:
        window.do("stage", "scores")
        check(window.report()["stage"] == "scores", "the stage is not scores")
        window.do("next stage")
        check(window.report()["stage"] == "scaled", "the next stage is not scaled")
        check("/nowhere" in refused(lambda: window.do("open", "/nowhere")), "what is not there was opened")
        window.do("sentence", "The old cat sat down")
        report = window.report()
        check(report["tokens"] == ["The", "old", "cat", "sat", "down"], f"the tokens are {report['tokens']}")
        names = [row["id"] for row in window.actions()]
        check({"stage", "sentence", "open", "next stage", "undo"} <= set(names), f"the actions are {names}")
        check("there is no stage" in refused(lambda: window.do("stage", "wings")), "wings is a stage")
        check("needs a value" in refused(lambda: window.do("save")), "a project is saved without a name")
        check("there is no action" in refused(lambda: window.do("save as")), "a dialog can be opened by name")
        check("needs a value" in refused(lambda: window.do("stage")), "a stage needs no name")
    rows = numpy.tril(numpy.ones((2, 3, 5, 5), numpy.float32))
    rows /= rows.sum(-1, keepdims=True)
    with headscope.show(rows, ["a", "b", "c", "d", "e"], program=program) as window:
        report = window.report()
        check(report["attention"]["file"] == "attention.npy", f"the window shows {report['attention']}")
        window.do("arcs")
        check(report["tokens"] == ["a", "b", "c", "d", "e"], f"the tokens are {report['tokens']}")


def check_requests(program, folder):
    """Drives files, edits, selections and questions with the methods of the package."""
    weights = pathlib.Path(__file__).resolve().parents[1] / "data" / "attention" / "lh_f32.npy"
    with headscope.Window("--sentence", "The cat sat down", program=program) as window:
        window.do("stage", "weights")
        window.select("weights[0][sat, cat]")
        report = window.report()
        check(report["selected"]["cell"] == "weights[0][sat, cat]", f"the selection is {report['selected']}")
        check(any("cat" in line for line in report["inspector"]), f"the inspector has {report['inspector']}")
        grid = next(grid for grid in report["grids"] if grid["tensor"] == "weights" and "values" in grid)
        check(abs(sum(grid["values"][2]) - 1) < 1e-5, f"a row of weights is {grid['values'][2]}")
        window.edit("W_O[5, 1]", 0.25)
        window.gain(0, 0)
        check(window.report()["gains"][0] == 0, "the head is not ablated")
        check(window.report()["unsaved"], "nothing is unsaved")
        for call, name in ((window.picture, "a.png"), (window.picture, "a.pdf"), (window.numbers, "a.npy")):
            call(folder / name)
            check((folder / name).stat().st_size > 100, f"{name} is not written")
        check(numpy.load(folder / "a.npy").shape[-1] == 4, "the numbers are not those of four tokens")
        try:
            window.open(weights)
            raise Failure("work was discarded without a question")
        except headscope.Asked as asked:
            question = asked.question
        check(question.kind == "unsaved changes" and question.choices == ["save", "discard", "cancel"], f"the question is {question}")
        check(window.question() == question, "the report has another question")
        check("unsaved changes" in refused(lambda: window.do("theme", "dark")), "an action is done behind a question")
        check("no longer open" in refused(lambda: window.reply("discard", question._replace(number=question.number + 7))), "a question that is not open is answered")
        window.cancel()
        window.save(folder / "b.headscope")
        window.open(weights)
        check(window.report()["document"] == "attention weights", "the weights are not open")
        window.quit()
        check(window._process.returncode == 0, "the window does not quit")


def check_two_clients(program, folder):
    """Checks that each of two clients gets the answers to its own lines, and that a late reply answers no other question."""
    path = str(folder / "two")
    with running(program, path):
        ask(path, b'{"action": "temperature", "value": 2}\n{"action": "settle"}\n')
        with socket.socket(socket.AF_UNIX) as one, socket.socket(socket.AF_UNIX) as two:
            readers = []
            for client in (one, two):
                client.settimeout(30)
                client.connect(path)
                readers.append(client.makefile("r", encoding="utf-8"))
            for n in range(50):
                one.sendall(json.dumps({"id": f"one {n}", "action": "row", "value": n % 4}).encode() + b"\n")
                two.sendall(json.dumps({"id": f"two {n}", "action": "settle"}).encode() + b"\n")
            for n in range(50):
                for name, reader in zip(("one", "two"), readers):
                    answer = json.loads(reader.readline())
                    check(answer == {"id": f"{name} {n}", "ok": True}, f"client {name} is answered by {answer}")
            asked = []
            for client, reader in zip((one, two), readers):
                client.sendall(b'{"id": 1, "action": "new"}\n')
                asked.append(json.loads(reader.readline()))
            check(all(not answer["ok"] for answer in asked), f"work is discarded: {asked}")
            check(asked[0]["question"] == asked[1]["question"], "the clients see different questions")
            late = json.dumps({"action": "reply", "value": {"question": asked[0]["question"]["number"], "answer": "cancel"}}).encode() + b"\n"
            for client, reader, ok in ((one, readers[0], True), (two, readers[1], False)):
                client.sendall(late)
                answer = json.loads(reader.readline())
                check(answer["ok"] == ok, f"the reply is answered by {answer}")


def check_shown(program):
    """Opens windows on what models of PyTorch return."""
    words, keys = ["The", "cat", "sat", "."], ["Le", "chat", "."]
    rows = numpy.tril(numpy.ones((2, 3, 4, 4), numpy.float32))
    rows /= rows.sum(-1, keepdims=True)
    cross = numpy.full((2, 3, 4, 3), 1 / 3, numpy.float32)
    output = types.SimpleNamespace(decoder_attentions=tuple(rows[:, None].repeat(2, 1)), cross_attentions=tuple(cross[:, None].repeat(2, 1)))
    with headscope.show(output, [words[::-1], words], program=program, index=1, stack="decoder", mask=[[1, 1, 1, 1], [0, 1, 1, 1]]) as window:
        report = window.report()
        check(report["tokens"] == words and report["kv_tokens"] == [], f"the tokens are {report['tokens']}")
    with headscope.show(output, words, program=program, key_tokens=keys, index=0, stack="cross") as window:
        report = window.report()
        check(report["tokens"] == words and report["kv_tokens"] == keys, f"the key tokens are {report['kv_tokens']}")
        window.do("arcs")
        window._process.kill()
        window._process.wait()
        check("closed" in refused(lambda: window.do("arcs")), "a window that was killed answers")
        check("closed" in refused(window.report), "a window that was killed answers twice")
    check(not windows_of(program), "a window is left")
    try:
        import torch
    except ImportError:
        return
    with headscope.show(torch.from_numpy(rows).to(torch.bfloat16), words, program=program) as window:
        check(window.report()["tokens"] == words, "a tensor in bfloat16 is not shown")


def check_project(program, folder):
    project = str(folder / "mine.headscope")
    with headscope.Window("pocket", "--sentence", "The cat", program=program) as window:
        window.do("sentence", "Anna found her red ball")
        window.do("stage", "scores")
        tokens = window.report()["tokens"]
        window.do("save", project)
    with headscope.Window(project, program=program) as window:
        window.settle()
        report = window.report()
        check(report["tokens"] == tokens, f"the tokens are {report['tokens']}, not {tokens}")
        check(report["stage"] == "scores", f"the stage is {report['stage']}")


def is_no_show(program, kind, *arguments):
    """Checks that show() raises this kind of error and leaves no program running."""
    before = windows_of(program)
    try:
        headscope.show(*arguments, program=program)
    except kind:
        check(windows_of(program) == before, f"{kind.__name__} leaves a window behind")
        return
    raise Failure(f"{kind.__name__} was expected")


def windows_of(program):
    found = set()
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            # Other tests may run the program at the same time.
            parent = next(line for line in (process / "status").read_text().splitlines() if line.startswith("PPid:"))
            if os.readlink(process / "exe") == program and int(parent.split()[1]) == os.getpid():
                found.add(process.name)
        except (OSError, StopIteration):
            pass  # ended in the meantime, or belongs to another user
    return found


def check_refused_shows(program):
    rows = numpy.full((1, 3, 3), 1 / 3, numpy.float32)
    is_no_show(program, headscope.Refused, numpy.zeros((1, 3, 3), numpy.int8))
    is_no_show(program, ValueError, rows, ["a", "b"])
    is_no_show(program, ValueError, rows[:, :2], ["a", "b", "c"])
    is_no_show(program, ValueError, rows[0], ["a", "b", "c"])
    is_no_show(program, TypeError, rows, "abc")
    is_no_show(program, TypeError, rows, ["a", "b", 3])
    is_no_show(program, TypeError, rows, 3)
    is_no_show(program, TypeError, [["a"]])
    broken = rows.copy()
    broken[0, 1, 1] = numpy.nan
    is_no_show(program, ValueError, broken, ["a", "b", "c"])
    is_no_show(program, ValueError, (rows[None].repeat(2, 0),), [["a", "b", "c"]] * 3)  # three lists for two texts
    is_no_show("/nowhere", headscope.NoProgram, rows)


def ask(path, text):
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(30)
        client.connect(path)
        client.sendall(text)
        with client.makefile("r", encoding="utf-8") as lines:
            return [json.loads(lines.readline()) for _ in range(text.count(b"\n"))]


def check_socket(program, folder):
    path = str(folder / "control")
    left = socket.socket(socket.AF_UNIX)  # a socket file that an ended program left
    left.bind(path)
    left.close()
    window = subprocess.Popen([program, "--control", path, "--sentence", "The cat sat down"])
    try:
        wait_for("the socket", lambda: os.path.exists(path) and answers(path))
        check(stat.S_IMODE(os.stat(path).st_mode) == 0o600, "others may open the socket")
        first, second, third, fourth = ask(path, b'{"id": "a", "action": "settle"}\n{"id": [7]}\nno JSON\n[1]\n')
        check(first == {"id": "a", "ok": True}, f"settle is answered by {first}")
        check(second["id"] == [7] and not second["ok"], f"no action is answered by {second}")
        check(third["id"] is None and "JSON" in third["error"], f"no JSON is answered by {third}")
        empty, after = ask(path, b'{"id": 1, "action": "open", "value": ""}\n{"id": 2, "action": "report"}\n')
        check(not empty["ok"] and "needs the path" in empty["error"], f"an empty path is answered by {empty}")
        check(after["ok"], "an empty path ends the program")
        check(fourth["id"] is None and not fourth["ok"], f"a list is answered by {fourth}")
        long_one, next_one = ask(path, b'{"action": "' + b"x" * (1 << 20) + b'"}\n{"id": 3, "action": "report"}\n')
        check(not long_one["ok"] and "at most" in long_one["error"], f"a line that is too long is answered by {long_one}")
        check(next_one["ok"] and next_one["id"] == 3, "the line after one that is too long is lost")
        other = subprocess.run([program, "--control", path], capture_output=True, text=True, timeout=60)
        check(other.returncode == 1 and "another program listens there" in other.stderr, other.stderr)
    finally:
        window.terminate()
        window.wait()
    taken = folder / "file"
    taken.write_text("mine")
    other = subprocess.run([program, "--control", str(taken)], capture_output=True, text=True, timeout=60)
    check(other.returncode == 1 and "a file has that name" in other.stderr, other.stderr)
    check(taken.read_text() == "mine", "the file is gone")


def check_names(program, folder):
    """Passes files whose names are not UTF-8 from the package to the window and back."""
    source = pathlib.Path(__file__).resolve().parents[1] / "data" / "attention" / "lh_f32.npy"
    name = b"caf\xe9 \xff\xc3\xa9.npy"
    weights = os.fsencode(folder) + b"/" + name
    with open(weights, "wb") as file:
        file.write(source.read_bytes())
    project = os.fsdecode(os.fsencode(folder) + b"/w\xff.headscope")
    with headscope.Window(weights, program=program) as window:
        check(os.fsencode(window.report()["attention"]["file"]) == name, "the window shows another file")
        check("no\udcfe" in refused(lambda: window.do("open", b"/no\xfe")), "the refusal names another file")
    with headscope.Window("--sentence", "The cat sat down", program=program) as window:
        window.do("stage", "scores")
        window.do("save", pathlib.Path(project))
        check(window.report()["project"] == project, "the project has another name")
        window.do("open", os.fsdecode(weights))
        window.do("open", "pocket")
        check(len(window.report()["tokens"]) > 0 and window.report()["preset"] == "", "pocket is not open")
    check(os.path.exists(project), "nothing was saved under the name")
    with headscope.Window(project, program=program) as window:
        check(window.report()["stage"] == "scores", "another project was opened")
    for command in (["heads", "--attention", weights, "--json"], ["model", "info", os.fsencode(folder) + b"/\xff", "--json"]):
        run = subprocess.run([program, *command], capture_output=True)
        check(run.stdout.decode("utf-8") is not None, "no UTF-8 is printed")


def check_silent_client(program, folder):
    """Checks that a client that sends requests and never reads does not block the window for others."""
    path = str(folder / "silent")
    with socket.socket(socket.AF_UNIX) as silent, running(program, path):
        silent.connect(path)
        silent.setblocking(False)
        sent, still = 0, 0
        while still < 50 and sent < 64 << 20:
            try:
                sent += silent.send(b'{"action": "report"}\n' * 1000)
                still = 0
            except BlockingIOError:
                still += 1
                time.sleep(0.02)
        began = time.monotonic()
        answer = ask(path, b'{"id": 1, "action": "stage", "value": "scores"}\n{"id": 2, "action": "settle"}\n')
        check(all(one["ok"] for one in answer), f"another client is answered by {answer}")
        check(time.monotonic() - began < 10, "a silent client stops the window")


def check_signals(program, folder):
    """Checks that the socket's file is removed when a signal ends the program, and replaced after SIGKILL."""
    path = str(folder / "signals")
    for signal_number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL, signal.SIGTERM):
        with running(program, path) as window:
            window.send_signal(signal_number)
            check(window.wait(30) == -signal_number, f"signal {signal_number} ends it with {window.returncode}")
        there = os.path.exists(path)
        check(there == (signal_number == signal.SIGKILL), f"after signal {signal_number} the file is there: {there}")


class running:
    """Runs the program with a socket at this path; ends it at the end of the with block."""

    def __init__(self, program, path):
        self.window = subprocess.Popen([program, "--control", path, "--sentence", "The cat sat down"])
        wait_for("the socket", lambda: answers(path))

    def __enter__(self):
        return self.window

    def __exit__(self, *_):
        if self.window.poll() is None:
            self.window.terminate()
            self.window.wait()


def answers(path):
    try:
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(path)
        return True
    except OSError:
        return False


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as folder, Display() as display:
        folder = pathlib.Path(folder)
        for name in ("home", "config", "state"):
            (folder / name).mkdir()
        clean = clean_environment()
        os.environ.clear()
        os.environ.update(clean, DISPLAY=display.name, HOME=str(folder / "home"),
                          XDG_CONFIG_HOME=str(folder / "config"), XDG_STATE_HOME=str(folder / "state"))  # fmt: skip
        check_package(program)
        check_requests(program, folder)
        check_shown(program)
        check_project(program, folder)
        check_refused_shows(program)
        check_socket(program, folder)
        check_two_clients(program, folder)
        check_names(program, folder)
        check_silent_client(program, folder)
        check_signals(program, folder)
    print("control: all as expected")


if __name__ == "__main__":
    main()
