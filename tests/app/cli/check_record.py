#!/usr/bin/env python3
"""check_record.py PROGRAM: compares the films of `headscope record` with the pictures of `headscope render`, using
independent readers: Python's html.parser, ffprobe and ffmpeg. Without ffmpeg, GIF and MP4 are skipped (exit 77)."""
import base64
import html.parser
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import numpy

PROGRAM = sys.argv[1]
STAGES = ["x", "q", "q_heads", "scores", "scaled", "masked", "weights", "head_out", "concat", "contributions", "output"]
WIDTH, HEIGHT, FPS, REST = 640, 480, 20, 0.5
LOOK = ["--size", f"{WIDTH}x{HEIGHT}", "--fps", FPS, "--rest", REST]


def run(*arguments, code=0, **environment):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, env={**os.environ, **environment})
    message = done.stderr.decode()
    assert done.returncode == code, (arguments, done.returncode, message)
    assert (message == "") if code == 0 else (message.startswith("headscope: ") and message.count("\n") == 1), message
    return done.stdout.decode() if code == 0 else message


class Page(html.parser.HTMLParser):
    """The steps of a page. Fails if tags do not match or the page refers to something outside of it."""

    EMPTY = {"meta", "img", "link", "br"}

    def __init__(self, text):
        super().__init__()
        self.open, self.steps, self.lang, self.ids = [], [], None, set()
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        assert len(values) == len(attributes), (tag, "an attribute is given twice")
        if "id" in values:
            assert values["id"] not in self.ids, values["id"]
            self.ids.add(values["id"])
        assert tag not in ("link", "iframe") and "href" not in values, (tag, values)
        self.lang = values["lang"] if tag == "html" else self.lang
        if tag == "section":
            self.steps.append({"ms": int(values["data-ms"]), "text": [], "title": ""})
        if tag == "img":
            kind, data = values["src"].split(",")
            assert kind == "data:image/png;base64" and values["alt"].startswith("Headscope: "), values["alt"]
            self.steps[-1]["png"] = base64.b64decode(data, validate=True)
        elif "src" in values:
            raise AssertionError((tag, values["src"]))
        if tag not in self.EMPTY:
            self.open.append(tag)
        if tag == "p":
            self.steps[-1]["text"].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        if self.open[-1:] == ["p"]:
            self.steps[-1]["text"][-1] += data
        if self.open[-1:] == ["h2"]:
            self.steps[-1]["title"] += data


def page_of(path):
    return Page(path.read_text(encoding="utf-8"))


def check_stages(folder):
    out, picture = folder / "film.html", folder / "picture.png"
    film = ["record", "The cat sat down", "--stages", *LOOK, "--theme", "dark"]
    run(*film, "-o", out, PATH="")  # ffmpeg is not needed
    first = out.read_bytes()
    run(*film, "-o", out)
    assert out.read_bytes() == first, "the same film has other bytes"
    page = page_of(out)
    assert len(page.steps) == len(STAGES) and page.lang == "en", len(page.steps)
    for step, name in zip(page.steps, STAGES):
        assert step["ms"] == REST * 1000 and step["text"] and step["title"], step
        run("render", "The cat sat down", "--window", "--stage", name, "--size", f"{WIDTH}x{HEIGHT}", "--theme", "dark",
            "-o", picture)
        assert step["png"] == picture.read_bytes(), f"the film's picture of {name} is another than that of render"
    assert "X W_Q" in page.steps[1]["text"][0], page.steps[1]["text"]
    return page


def check_score_colours(folder):
    """Checks that scores are colored by row unless another scale is requested, in a picture and in a film."""
    pictures = {}
    for scale in (None, "row", "head", "all"):
        picture, film = folder / "scale.png", folder / "scale.html"
        option = [] if scale is None else ["--score-colours", scale]
        size = ["--size", f"{WIDTH}x{HEIGHT}"]
        run("render", "The cat sat down", "--window", "--stage", "scores", *size, *option, "-o", picture)
        run("record", "The cat sat down", "--stages", *LOOK, *option, "-o", film)
        pictures[scale] = picture.read_bytes()
        assert page_of(film).steps[STAGES.index("scores")]["png"] == pictures[scale], scale
    assert pictures[None] == pictures["row"]
    assert len(set(pictures.values())) == 3, "two scales give the same picture"
    run("render", "The cat", "--stage", "scores", "--score-colours", "column", "-o", folder / "no.png", code=1)


def check_flow(folder):
    """Checks the story of a word as a page and as pictures of its instants."""
    out, picture = folder / "flow.html", folder / "picture.png"
    sentence = ["The cat sat down", "--screen", "flow", "--row", 2]
    run("record", *sentence, *LOOK, "-o", out)
    steps = page_of(out).steps
    assert len(steps) == 8, len(steps)  # at rest, and the seven steps
    assert "“cat” scores 8.55." in steps[2]["text"][0], steps[2]
    assert "“cat” gets 86 %." in steps[4]["text"][0], steps[4]
    run("render", *sentence, "--window", "--stage", "x", "--size", f"{WIDTH}x{HEIGHT}", "-o", picture)
    assert steps[0]["png"] == picture.read_bytes(), "the film begins with another picture than render draws"
    texts = {}
    for at in (None, 0.375, 0.6, 0.8):
        run("render", *sentence, *([] if at is None else ["--at", at]), "-o", folder / "flow.svg")
        texts[at] = (folder / "flow.svg").read_text(encoding="utf-8")
    assert "linearGradient" in texts[None] and "“sat” takes" in texts[None]
    assert ">8.55</text>" in texts[0.375] and ">8.55</text>" not in texts[None]
    assert len(set(texts.values())) == 4, "two instants have the same picture"
    # A model's film goes through its layers, with the chosen one open.
    text = "When Mary and John went to the shop, John gave a book to"
    run("record", "--model", "pocket", "--text", text, "--screen", "flow", "--layer", 2, "--head", 7, *LOOK, "-o", out)
    steps = page_of(out).steps
    assert len(steps) == 8, len(steps)
    assert "In layer 2, head 7 lets “to” attend to the other words: 100 % of what it reads is “Mary”." in steps[3]["text"], steps[3]
    assert "The model says “Mary”" in steps[7]["text"][0], steps[7]
    assert len({step["png"] for step in steps}) >= 7, "steps have the same picture"
    run("render", *sentence, "--at", 2, "-o", folder / "no.svg", code=1)
    run("render", "The cat", "--at", 0.5, "-o", folder / "no.svg", code=2)


def check_filters(folder):
    """Checks that the filters of weights apply at the step of the weights, and nowhere else."""
    out = folder / "film.html"
    of = ["--model", "pocket", "--text", "Mary went to the shop", "--layer", 1, "--head", 2]
    film = ["record", *of, "--stages", *LOOK, "-o", out]
    run(*film)
    plain = page_of(out).steps
    run(*film, "--hide-first-token")
    filtered = page_of(out).steps
    assert len(plain) == len(filtered)
    changed = [n for n, (a, b) in enumerate(zip(plain, filtered)) if a["png"] != b["png"]]
    assert [filtered[n]["title"] for n in changed] == ["Attention weights"], changed
    # The page around the pictures has the same language.
    run(*film, "--language", "de")
    text = out.read_text(encoding="utf-8")
    assert ">Zurück<" in text and 'data-place="$at von $all"' in text and ">Back<" not in text
    run("record", "The cat", "--stages", "--hide-first-token", "-o", out, code=2)
    run("record", "The cat", "--stages", "--log-colours", "-o", out, code=2)


def check_lesson(folder, name, height):
    """height: of the film. A task below the lower edge is scrolled into sight, so that its answer is a picture of its own."""
    out = folder / "lesson.html"
    tally = json.loads(run("lesson", "play", name, "--json"))
    run("record", "--lesson", name, *LOOK[2:], "--size", f"{WIDTH}x{height}", "-o", out)
    steps = page_of(out).steps
    wanted = 2 + tally["steps"] + 2 * tally["questions"] + tally["gates"]
    wanted += tally["tables"] + tally["step_questions"]
    assert len(steps) == wanted, (name, len(steps), wanted)
    for step in steps:
        words = sum(len(paragraph.split()) for paragraph in step["text"])
        seconds = min(max(words / 3, REST), 30)
        assert abs(step["ms"] / 1000 - seconds) <= 1 / FPS, (step["title"], step["ms"], seconds)
        assert not any(re.search(r"(?<!\w)– |\{\{", text) for text in step["text"]), step["text"]
    assert len({step["png"] for step in steps}) == len(steps), "two pages look the same"
    picture = folder / "picture.png"
    run("render", "--window", "--lesson", name, "--step", 1, "--size", f"{WIDTH}x{height}", "-o", picture)
    assert steps[1]["png"] == picture.read_bytes(), f"the first step of {name} is another than render draws"


def check_presented(folder):
    """Checks films without panels, and the sentences of a list."""
    out, picture, sentences, script = (folder / name for name in ("film.html", "picture.png", "list.txt", "list-tour.txt"))
    size = ["--size", f"{WIDTH}x{HEIGHT}"]
    run("record", "The cat sat down", "--stages", "--present", *LOOK, "-o", out)
    steps = page_of(out).steps
    assert len(steps) == len(STAGES)
    run("render", "The cat sat down", "--window", "--present", "--stage", "weights", *size, "-o", picture)
    assert steps[STAGES.index("weights")]["png"] == picture.read_bytes(), "another picture than render presents"
    run("record", "--lesson", "masks", "--present", *LOOK[2:], "--size", "1280x720", "-o", out)
    presented = page_of(out).steps
    run("render", "--window", "--lesson", "masks", "--step", 1, "--present", "--size", "1280x720", "-o", picture)
    assert presented[1]["png"] == picture.read_bytes(), "another page than render presents"
    sentences.write_text("The dog ran\nThe cat ran\n")
    script.write_text("stage weights\nrest\nnext sentence\nrest\n")
    run("record", "The cat sat down", "--sentences", sentences, "--present", "--script", script, *LOOK, "-o", out)
    steps = page_of(out).steps
    assert len(steps) == 2 and steps[0]["png"] != steps[1]["png"]
    run("render", "The cat", "--window", "--present", "--sentences", sentences, "--stage", "weights", *size, "-o", picture)
    assert steps[0]["png"] == picture.read_bytes(), "another sentence than render presents"
    message = run("record", "The cat", "--sentences", folder / "none.txt", "--stages", "-o", out, code=1)
    assert "none.txt" in message, message


def check_script(folder):
    out, script = folder / "film.html", folder / "tour.txt"
    script.write_text("# A tour\ncaption Token by <token> & so on\nrest 0.3\n\nstage weights\nnext row\nrest\n"
                      "arcs\nrest\nsentence The old cat sat\n")
    run("record", "The cat sat", "--script", script, *LOOK, "-o", out)
    steps = page_of(out).steps
    assert [step["ms"] for step in steps] == [300, 500, 500, 500], steps
    assert steps[0]["text"] == ["Token by <token> & so on"], steps[0]["text"]
    picture = folder / "picture.png"
    run("render", "The cat sat", "--window", "--stage", "weights", "--view", "arcs", "--row", 0, "--size",
        f"{WIDTH}x{HEIGHT}", "-o", picture)
    assert steps[2]["png"] == picture.read_bytes(), "the script shows another picture than render draws"
    assert steps[3]["png"] != steps[2]["png"]
    before = out.read_bytes()
    for line, says in [("dance", "neither rest"), ("quit", "neither rest"), ("rest soon", "not a number of seconds"),
                       ("stage moon", "there is no stage"), ("next page", "No lesson is open"), ("caption", "neither")]:
        script.write_text(f"rest\n\n{line}\n")
        message = run("record", "The cat sat", "--script", script, *LOOK, "-o", out, code=1)
        assert f"{script}:3: " in message and says in message, message
    assert out.read_bytes() == before


def check_manual(folder, manual):
    """Checks that every action name in the manual is valid: the error is found in the line after them."""
    text = pathlib.Path(manual).read_text(encoding="utf-8").split("The names of actions")[1]
    names = [name for name in re.findall(r"`([a-z0-9 ]+)`", text)]
    assert len(names) > 40, names
    script = folder / "names.txt"
    script.write_text("\n".join([*names, "dance"]))
    message = run("record", "Cat", "--script", script, "-o", folder / "film.html", code=1)
    assert f":{len(names) + 1}: " in message, message


def check_faults(folder):
    out = folder / "old.gif"
    out.write_bytes(b"an older film")
    film = ["record", "The cat", "--stages", *LOOK]
    assert "package ffmpeg" in run(*film, "-o", out, code=3, PATH="")
    programs = folder / "programs"
    programs.mkdir()
    for says, body in [('"Unknown encoder"', "echo one >&2; echo Unknown encoder >&2; exit 1"),
                       ("gives no reason", "cat >/dev/null; exit 1")]:
        (programs / "ffmpeg").write_text(f"#!/bin/sh\nPATH={os.environ['PATH']}\n{body}\n")
        (programs / "ffmpeg").chmod(0o755)
        message = run(*film, "-o", out, code=1, PATH=str(programs))
        assert says in message, message
    assert out.read_bytes() == b"an older film"
    page = folder / "page.html"
    assert "there is no lesson" in run("record", "--lesson", "dance", "-o", page, code=1)
    assert "more than 40 frames" in run(*film, "--frames-limit", 40, "-o", page, code=1)
    assert not page.exists()
    assert "there is no folder" in run(*film, "-o", folder / "none" / "film.html", code=1)
    os.symlink("/dev/full", folder / "full.html")
    assert "No space left" in run(*film, "-o", folder / "full.html", code=1)
    for arguments, code in [(["--fps", 5], 1), (["--fps", 51], 1), (["--rest", 0], 1), (["--frames-limit", 0], 1),
                            (["--size", "10x10"], 1), (["--scale", 9], 1), (["--script", "/dev/null"], 2),
                            (["--lesson", "masks"], 2), (["-o", folder / "film.avi"], 1), (["-o", "-"], 1)]:
        run("record", "The cat", "--stages", *([] if "-o" in arguments else ["-o", page]), *arguments, code=code)
    run("record", "--lesson", "masks", "--head", 1, "-o", page, code=2)
    assert "there is nothing to film" in run("record", "The cat", "-o", page, code=2)
    assert "no line" in run("record", "The cat", "--script", "/dev/null", "-o", page, code=1)
    assert "even numbers" in run("record", "The cat", "--stages", "--size", "641x480", "-o", folder / "odd.mp4", code=1)


def delays_of(gif):
    """Returns the hundredths of a second that each frame of a GIF is shown, read block by block (GIF89a)."""
    data, delays = gif.read_bytes(), []
    assert data[:6] == b"GIF89a"
    at = 13 + (3 << (data[10] & 7) + 1 if data[10] & 128 else 0)
    while data[at] != 0x3B:
        if data[at] == 0x21:
            if data[at + 1] == 0xF9:
                delays.append(int.from_bytes(data[at + 4 : at + 6], "little"))
            at += 2
        else:
            assert data[at] == 0x2C, (at, data[at])
            at += 11 + (3 << (data[at + 9] & 7) + 1 if data[at + 9] & 128 else 0)
        while data[at]:
            at += data[at] + 1
        at += 1
    assert at == len(data) - 1
    return delays


def last_frame(film):
    raw = subprocess.run(["ffmpeg", "-loglevel", "error", "-i", film, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"],
                         capture_output=True, check=True).stdout
    return numpy.frombuffer(raw, numpy.uint8)[-WIDTH * HEIGHT * 3 :].astype(int)


def check_videos(folder, page):
    film = ["record", "The cat sat down", "--stages", *LOOK, "--theme", "dark"]
    gif, mp4, still = folder / "film.gif", folder / "film.mp4", folder / "still.png"
    still.write_bytes(page.steps[-1]["png"])
    picture = last_frame(still)
    run(*film, "-o", gif)
    delays = delays_of(gif)
    rests = [delay for delay in delays if delay >= 100 * REST]
    assert len(rests) == len(STAGES), delays
    assert len(delays) - len(rests) >= 3 * (len(STAGES) - 1), f"{len(delays)} frames: nothing moves between the stages"
    # 256 colors for the whole film.
    assert numpy.abs(last_frame(gif) - picture).mean() < 1.5, numpy.abs(last_frame(gif) - picture).mean()

    run(*film, "-o", mp4)
    found = json.loads(subprocess.run(["ffprobe", "-v", "error", "-count_packets", "-show_streams", "-of", "json", mp4],
                                      capture_output=True, check=True).stdout)["streams"]
    assert len(found) == 1, found
    stream = found[0]
    assert (stream["codec_name"], stream["pix_fmt"], stream["width"], stream["height"]) == \
        ("h264", "yuv420p", WIDTH, HEIGHT), stream
    frames = int(stream["nb_read_packets"])
    assert stream["r_frame_rate"] == f"{FPS}/1" and abs(float(stream["duration"]) - frames / FPS) < 1e-3, stream
    assert frames * 100 // FPS == sum(delays), (frames, sum(delays))
    assert numpy.abs(last_frame(mp4) - picture).mean() < 3, numpy.abs(last_frame(mp4) - picture).mean()


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        page = check_stages(folder)
        check_score_colours(folder)
        check_flow(folder)
        check_filters(folder)
        for lesson, height in [("first-lesson", HEIGHT), ("by-hand", 600)]:
            check_lesson(folder, lesson, height)
        check_presented(folder)
        check_script(folder)
        check_manual(folder, sys.argv[2])
        check_faults(folder)
        if shutil.which("ffmpeg") is None or shutil.which("ffprobe") is None:
            print("skipped GIF and MP4: there is no ffmpeg")
            sys.exit(77)
        check_videos(folder, page)
    print("films: all as they should be")


main()
