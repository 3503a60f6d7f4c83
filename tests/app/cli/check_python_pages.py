#!/usr/bin/env python3
"""check_python_pages.py PROGRAM SOURCES: checks what show() and view() of the Python package accept, and the pages and
pictures of its results: reads the pages with html.parser and decodes their numbers, reads the pictures with ImageMagick,
moves a mouse over a page in headless Chromium, and executes a notebook with nbconvert. The parts for PyTorch, ImageMagick,
Chromium and nbconvert are left out if these are not installed; without NumPy it exits with 77."""
import html.parser
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import types
import xml.etree.ElementTree as xml

try:
    import numpy as np
except ImportError:
    print("skipped: NumPy is not installed (Debian: python3-numpy)")
    sys.exit(77)

PROGRAM, SOURCES = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
sys.path.insert(0, str(SOURCES / "assets/python"))
import headscope  # noqa: E402
from headscope._attention import weights_of  # noqa: E402
from headscope._whole import whole_of  # noqa: E402

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
DRAWS = np.random.default_rng(7)


def raises(kind, part, call, *arguments, **named):
    try:
        call(*arguments, **named)
    except kind as fault:
        assert part in str(fault), f"{part!r} is not in {fault}"
        return
    raise AssertionError(f"{kind.__name__} was expected: {part}")


def softmax(*shape, causal=False):
    scores = DRAWS.normal(size=shape) * 2
    if causal:
        scores = np.where(np.tril(np.ones(shape[-2:], bool)), scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return (weights / weights.sum(-1, keepdims=True)).astype(np.float32)


def equal(weights, expected):
    assert weights.array.shape == expected.shape and np.array_equal(weights.array, expected), (weights.array.shape, expected.shape)


def check_inputs():
    layers = softmax(3, 2, 4, 5, 5)  # 3 layers, 2 texts
    words = ["a", "b", "c", "d", "e"]
    equal(weights_of(layers[:, 0], words), layers[:, 0])
    equal(weights_of(layers, words, index=1), layers[:, 1])
    equal(weights_of(tuple(layers), [words, words[::-1]], index=1), layers[:, 1])
    assert weights_of(tuple(layers), [words, words[::-1]], index=1).tokens == words[::-1]
    equal(weights_of(tuple(layers[:, :1]), words), layers[:, 0])
    equal(weights_of(list(layers[:, 0])), layers[:, 0])
    equal(weights_of(layers[:, 0].astype(np.float64)), layers[:, 0].astype(np.float64))
    output = types.SimpleNamespace(attentions=tuple(layers), logits=None)
    equal(weights_of(output, words, index=0), layers[:, 0])
    equal(weights_of({"attentions": tuple(layers)}, words, index=0), layers[:, 0])
    cross = softmax(3, 2, 4, 5, 7)
    encoder = softmax(3, 2, 4, 7, 7)
    keys = [f"k{number}" for number in range(7)]
    triple = (tuple(encoder), tuple(layers), tuple(cross))
    names = ("encoder_attentions", "decoder_attentions", "cross_attentions")
    for source in (triple, types.SimpleNamespace(**dict(zip(names, triple))), dict(zip(names, triple))):
        equal(weights_of(source, keys, index=1, stack="encoder"), encoder[:, 1])
        equal(weights_of(source, words, index=1, stack="decoder"), layers[:, 1])
        equal(weights_of(source, words, key_tokens=keys, index=1, stack="cross"), cross[:, 1])
        raises(ValueError, "stack=", weights_of, source, words, index=0)
    gpt = types.SimpleNamespace(attentions=tuple(layers), cross_attentions=tuple(cross))
    equal(weights_of(gpt, words, index=0, stack="decoder"), layers[:, 0])
    equal(weights_of(gpt, words, key_tokens=keys, index=0, stack="cross"), cross[:, 0])
    # The steps that generate() of transformers returns: the prompt of three tokens, then a row for each of two tokens.
    causal = softmax(3, 2, 4, 5, 5, causal=True)
    steps = (tuple(causal[..., :3, :3]), tuple(causal[..., 3:4, :4]), tuple(causal[..., 4:, :5]))
    equal(weights_of(types.SimpleNamespace(attentions=steps, sequences=None), words, index=1), causal[:, 1])
    padded = weights_of(layers, words, mask=np.array([[1, 1, 1, 1, 1], [0, 0, 1, 1, 1]]), index=1)
    assert padded.mask == [0, 0, 1, 1, 1]
    with tempfile.TemporaryDirectory() as folder:
        path = padded.save(folder)
        assert np.array_equal(np.load(path), layers[:, 1])
        named = json.loads(path.with_suffix(".tokens.json").read_text())
        assert named == {"tokens": words, "attention_mask": [0, 0, 1, 1, 1]}
        heads = [PROGRAM, "heads", "--attention", str(path), "--scores", "previous", "--json"]
        rows = json.loads(subprocess.run(heads, capture_output=True, text=True, check=True).stdout)
        real = layers[1, 1, 2].astype(np.float64)  # rows of padding do not count
        assert abs(rows[6]["previous"] - np.mean([real[i, i - 1] for i in (2, 3, 4)])) < 1e-5, rows[6]
    check_refused_inputs(layers, words, keys, cross, output)


def check_one_text_of_three_attentions(triple, words):
    """Checks that index chooses one of two texts, with its tokens and its row of the mask."""
    lists, keys, mask = [words, words[::-1]], [["x", "y", "z"], ["u", "v", "w"]], np.array([[1, 1, 1], [1, 1, 0]])
    for index in (1, -1):
        whole = whole_of(triple, lists, key_tokens=keys, mask=mask, index=index).arrays
        for name, layers in zip(("encoder", "decoder", "cross"), triple):
            assert np.array_equal(whole[f"{name}_attentions"], np.stack(layers)[:, [1]]), name
        assert whole["decoder_tokens"].tolist() == [words[::-1]] and whole["encoder_tokens"].tolist() == [["u", "v", "w"]]
        assert whole["attention_mask"].tolist() == [[1, 1, 0]]
    assert whole_of(triple, words, mask=[1, 1, 0], index=0).arrays["decoder_tokens"].tolist() == [words]
    for index in (2, -3):
        raises(ValueError, f"there is no text {index}; the batch has 2", whole_of, triple, index=index)
    raises(ValueError, "tokens has 1 lists for 2 texts", whole_of, triple, [words], index=0)
    raises(ValueError, "the mask has 1 rows for 2 texts", whole_of, triple, mask=[[1, 1, 0]], index=0)


def check_refused_inputs(layers, words, keys, cross, output):
    one = layers[:, 0]
    broken = one.copy()
    broken[1, 2, 3, 4] = np.nan
    raises(ValueError, "1 numbers that are not finite, the first at [1, 2, 3, 4]", weights_of, broken, words)
    raises(ValueError, "there are 4 tokens for 5 rows", weights_of, one, words[:4])
    raises(ValueError, "as key_tokens", weights_of, cross[:, 0], words)
    raises(ValueError, "there are 6 key_tokens for 7 columns", weights_of, cross[:, 0], words, key_tokens=keys[:6])
    raises(ValueError, "without tokens", weights_of, cross[:, 0], key_tokens=keys)
    raises(ValueError, "batch of 2 texts", weights_of, layers, words)
    # show() passes a batch, and an encoder-decoder, as a whole.
    whole = whole_of(layers, [words, words[::-1]], mask=[1, 1, 1, 1, 0]).arrays
    assert np.array_equal(whole["attentions"], layers) and whole["tokens"].tolist() == [words, words[::-1]], whole
    assert whole["attention_mask"].tolist() == [1, 1, 1, 1, 0]
    equal(whole_of(layers, words, index=1), layers[:, 1])
    triple = softmax(2, 2, 4, 3, 3), layers, softmax(3, 2, 4, 5, 3)
    whole = whole_of(tuple(map(tuple, triple)), words, key_tokens=["x", "y", "z"]).arrays
    assert all(np.array_equal(whole[f"{name}_attentions"], one) for name, one in zip(("encoder", "decoder", "cross"), triple))
    assert whole["encoder_tokens"].tolist() == [["x", "y", "z"]] * 2 and whole["decoder_tokens"].tolist() == [words] * 2
    raises(ValueError, "not the attentions of one encoder-decoder", whole_of, tuple(map(tuple, (triple[0], layers, layers))))
    raises(ValueError, "has 1 lists for 2 texts", whole_of, layers, [words])
    check_one_text_of_three_attentions(tuple(map(tuple, triple)), words)
    with tempfile.TemporaryDirectory() as folder:  # the program reads row-major arrays
        for name, array in np.load(whole_of(np.asfortranarray(layers), [words, words[::-1]], mask=np.ones((5, 2), int).T).save(folder)).items():
            assert array.ndim == 1 or array.flags.c_contiguous, name
    raises(ValueError, "not finite", whole_of, layers * np.nan)
    raises(ValueError, "there is no text 2", weights_of, layers, words, index=2)
    raises(ValueError, "has 2 lists", weights_of, one, [words, words])
    raises(ValueError, "the shape (5, 5)", weights_of, one[0, 0], words)
    raises(ValueError, "the shapes", weights_of, (layers[0], layers[1][..., :4]), words)
    raises(ValueError, "has no layers", weights_of, ())
    raises(ValueError, "output_attentions=True", weights_of, types.SimpleNamespace(attentions=None), words)
    raises(ValueError, "None for a layer", weights_of, (None, None), words)
    raises(ValueError, "different numbers of layers", weights_of, (tuple(layers), tuple(layers[:2])), words)
    raises(ValueError, "each should be", weights_of, (tuple(layers), tuple(layers[:, 0])), words)
    raises(ValueError, "has no cross_attentions", weights_of, output, words, stack="cross")
    raises(ValueError, "should be encoder", weights_of, output, words, stack="middle")
    raises(ValueError, "the mask has the shape", weights_of, one, words, mask=[1, 1])
    raises(ValueError, "no row 1 in the mask; its rows are numbered 0 to 0", weights_of, layers, words, mask=[[1] * 5], index=1)
    raises(ValueError, "give the tokens too", weights_of, one, mask=[1] * 5)
    raises(TypeError, "is one text", weights_of, one, "abcde")
    raises(TypeError, "a token is int", weights_of, one, [1, 2, 3, 4, 5])
    raises(TypeError, "real numbers", weights_of, one.astype(complex), words)
    raises(TypeError, "real numbers", weights_of, np.array([["a"]]), words)


def check_torch():
    try:
        import torch
    except ImportError:
        return "without PyTorch"
    weights = softmax(2, 3, 5, 5)
    for dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16):
        tensor = torch.from_numpy(weights).to(dtype).requires_grad_()
        read = weights_of(tensor)
        assert read.array.dtype.itemsize == {torch.float64: 8, torch.float16: 2}.get(dtype, 4)
        assert np.array_equal(read.array.astype(np.float64), tensor.detach().double().numpy()), dtype
        layers = tuple(one[None] for one in tensor)
        assert np.array_equal(weights_of(layers).array, read.array)
    return "with PyTorch"


class Page(html.parser.HTMLParser):
    """The data, the words and the addresses of a page."""

    def __init__(self, text):
        super().__init__()
        self.open, self.data, self.words, self.scripts, self.cells, self.attributes = [], "", [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.attributes += attrs.items()
        if tag not in ("input", "br", "meta", "img"):
            self.open.append((tag, attrs))
        self.cells += [""] if tag in ("td", "th") else []
        assert not {"src", "href", "srcset"} & set(attrs), attrs

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag, tag

    def handle_data(self, data):
        tag, attrs = self.open[-1] if self.open else ("", {})
        if tag == "script" and attrs.get("type") == "application/json":
            self.data += data
        elif tag == "script":
            self.scripts.append(data)
        elif tag != "style":
            self.words.append(data)
            if any(outer in ("td", "th") for outer, _ in self.open):
                self.cells[-1] += data


def page_of(result):
    text = result._repr_html_()
    assert not re.search(r"//|@import|url\(|fetch|XMLHttp|import\(", text), "the page has an address"
    assert "\0" not in text, "the page has a character with the code 0"
    page = Page(text)
    assert not page.data or ("aria-label", "All heads") in page.attributes, page.attributes
    return text, page


def decoded(data):
    """Returns the matrices of a page, decoded by the description of its script."""
    rows, columns = len(data["rows"]), len(data["columns"])
    places = [(r, c) for r in range(rows) for c in range(r + 1 if data["lower"] else columns)]
    count = len(places) * len(data["low"])
    text = data["text"]
    if data["bits"] == 12:
        codes = [64 * LETTERS.index(text[2 * n]) + LETTERS.index(text[2 * n + 1]) for n in range(count)]
    else:
        triples = [4096 * LETTERS.index(text[n]) + 64 * LETTERS.index(text[n + 1]) + LETTERS.index(text[n + 2]) for n in range(0, len(text), 3)]
        codes = [half for triple in triples for half in (triple >> 9, triple & 511)][:count]
    made = np.zeros((len(data["low"]), rows, columns))
    for number, code in enumerate(codes):
        head, (r, c) = number // len(places), places[number % len(places)]
        low, high = data["low"][head], data["high"][head]
        made[head, r, c] = low + code / ((1 << data["bits"]) - 1) * (high - low)
    return made.reshape(len(data["layers"]), len(data["heads"]), rows, columns)


def check_pages():
    words = [f"Ġword{number}" for number in range(30)] + ["</script>", "http://a.example/<b>"]
    for causal, error in ((True, 2e-4), (False, 2e-3)):
        weights = softmax(12, 12, 32, 32, causal=causal)
        view = headscope.view(weights, words)
        begin = time.monotonic()
        text, page = page_of(view)
        print(f"{len(text)} bytes, {1000 * (time.monotonic() - begin):.0f} ms for 12 layers of 12 heads and 32 tokens, causal: {causal}")
        assert len(text) < 300_000, len(text)
        data = json.loads(page.data)
        assert data["rows"][3] == "word3" and data["rows"][30:] == words[30:] and "word3" in " ".join(page.words)
        assert np.abs(decoded(data) - weights).max() < error, np.abs(decoded(data) - weights).max()
    odd = softmax(1, 5, 5, 7)
    assert np.abs(decoded(json.loads(page_of(headscope.view(odd, list("abcde"), key_tokens=list("abcdefg")))[1].data)) - odd).max() < 2e-4
    data = json.loads(page_of(headscope.view(softmax(40, 16, 100, 100)))[1].data)
    assert 0 < len(data["layers"]) < 40 and "fit on this page" in data["note"]
    data = json.loads(Page(headscope.view(softmax(40, 16, 100, 100)).page(layers=[39])).data)
    assert data["layers"] == ["L39"]
    data = json.loads(page_of(headscope.view(softmax(1, 16, 600, 600)))[1].data)
    assert len(data["rows"]) < 600 and "tokens fit" in data["note"]
    return weights, words


def check_results(folder):
    """Checks the pages and pictures of everything that a model returns."""
    with headscope.Model("pocket", program=PROGRAM) as model:
        run = model.run("Lily had a red ball. The cat saw the ball.")
        text, page = page_of(run)
        data = json.loads(page.data)
        shown = decoded(data)
        for layer in range(4):
            assert np.abs(shown[layer] - np.asarray(run.weights[layer])[0]).max() < 2e-4
        assert data["rows"] == ["<s>", *"Lily had a red ball . The cat saw the ball .".split()]
        patched = model.patch("The cat sat", "The dog sat", answer="on", against="down")
        assert np.abs(decoded(json.loads(page_of(patched)[1].data))[0, 0] - patched.recovered).max() < 2e-3
        score = model.explain("The cat sat", "score", layer=1, head=2, query=3, key=1)
        terms = decoded(json.loads(page_of(score)[1].data))[0, 0]
        assert abs(terms.sum() - score["scaled"]) < 0.05 and np.abs(terms - score["terms"]).max() < 1e-2
        heads = model.heads("The cat sat")
        cells = page_of(heads)[1].cells
        assert cells[:4] == ["layer", "head", "label", heads.names()[0]] and len(cells) == (3 + len(heads.names())) * 33
        parts = model.explain("The cat sat")
        assert "L0H3" in page_of(parts)[1].cells
        lens = model.explain("The cat sat", "lens")
        assert len(page_of(lens)[1].cells) == 5 * 6  # with headings
        why = model.explain("The cat sat", "why")
        assert why["sentence"] in "".join(page_of(why)[1].words)
        vocabulary = model.explain(what="vocabulary", layer=1, head=2, token="cat")
        assert len(page_of(vocabulary)[1].cells) == 3 * 16
        ablation = model.explain("The cat sat", "ablation", against="on")
        cells = page_of(ablation)[1].cells
        assert len(cells) == 4 * 33 and cells[4:6] == ["L0H0", f"{ablation['heads'][0]['divergence']:.4g}"], cells[:8]
        composition = model.explain(what="composition", top=3)
        cells = page_of(composition)[1].cells
        assert len(cells) == 5 * 4 and cells[7] == f"{composition['pairs'][0]['queries']:.4g}", cells
        written = model.generate("The cat", 5, top=2)
        assert len([name for name, _ in page_of(written)[1].attributes if name == "title"]) == 5
        results = [run, patched, score, heads, parts, lens, why, vocabulary, written, ablation, composition]
        for number, result in enumerate(results):
            assert repr(result).startswith("<headscope."), repr(result)
            (folder / f"{number}.png").write_bytes(result._repr_png_())
            result.save_figure(folder / f"{number}.svg")
        check_figures(folder, run, patched, parts, why)
        raises(headscope.Refused, ".png", run.save_figure, folder / "picture.gif")
    (folder / f"{len(results)}.png").write_bytes(run._repr_png_())  # the model is closed now
    results.append(run)
    assert (folder / "0.png").read_bytes() != (folder / f"{len(results) - 1}.png").read_bytes()
    raises(headscope.HeadscopeError, "closed", run.save_figure, folder / "picture.png")
    raises(headscope.HeadscopeError, "program draws", headscope.view(softmax(1, 3, 3)).save_figure, folder / "picture.png")
    tool = shutil.which("convert")
    for number in range(len(results)) if tool else ():
        read = subprocess.run([tool, str(folder / f"{number}.png"), "-format", "%w %h %k", "info:"], capture_output=True, text=True, check=True)
        width, height, colors = map(int, read.stdout.split())
        assert width >= 8 and height >= 8 and colors >= 2 and not read.stderr, (number, read.stdout, read.stderr)
    if tool:  # a pixel in the middle of a known cell
        cells = np.array([[[[0.0, 1.0], [-1.0, 0.5]]]])
        (folder / "cells.png").write_bytes(headscope.view(cells)._repr_png_())
        grey = subprocess.run([tool, str(folder / "cells.png"), "-format", "%[pixel:p{13,13}] %[pixel:p{37,13}] %[pixel:p{13,37}]", "info:"],
                              capture_output=True, text=True, check=True).stdout  # fmt: skip
        assert re.findall(r"\d+", grey.replace("white", "255,255,255")) == list(map(str, (255, 255, 255, 37, 99, 235, 217, 119, 6))), grey
        with headscope.Model("pocket", program=PROGRAM) as model:
            cells = {"grid": [10, 10, 60, 40], "cols": 2, "rows": 2, "cells": "FF00000000FF2563EBD97706"}
            model._session.draw({"width": 80, "height": 60, "items": [cells]}, str(folder / "scene.png"))
        points = "%[pixel:p{25,20}] %[pixel:p{55,20}] %[pixel:p{25,40}] %[pixel:p{55,40}]"
        seen = subprocess.run([tool, str(folder / "scene.png"), "-depth", "8", "-format", points, "info:"], capture_output=True, text=True, check=True).stdout
        seen = re.findall(r"\d+", seen.replace("red", "255,0,0").replace("blue", "0,0,255"))
        assert seen == "255 0 0 0 0 255 37 99 235 217 119 6".split(), seen
    return "with ImageMagick" if tool else "without ImageMagick"


def texts_of(path):
    """Returns the texts of an SVG file, each with its place."""
    root = xml.parse(path).getroot()
    return ["".join(one.itertext()).strip() for one in root.iter("{http://www.w3.org/2000/svg}text")], root


def check_figures(folder, run, patched, parts, why):
    """Reads the texts of figures with an XML parser."""
    grid, root = texts_of(folder / "0.svg")
    assert {"L0", "L3", "H0", "H7", "Attention weights of pocket", "<s> Lily had a red ball . The cat saw the ball ."} <= set(grid), grid
    matrix, _ = texts_of(folder / "1.svg")
    assert {"Recovered by patching residual", "<s>", "The", "cat", "sat", "L0", "L4"} <= set(matrix), matrix
    shown = f"{patched.recovered[4, 3]:.2f}"
    assert shown in matrix, (shown, matrix)
    bars, _ = texts_of(folder / "4.svg")
    largest = max(parts["writers"], key=lambda part: abs(part["value"]))
    assert {largest["name"], f"{largest['value']:.4g}"} <= set(bars), bars
    sentence, _ = texts_of(folder / "6.svg")
    assert " ".join(why["sentence"].split()) in " ".join(" ".join(sentence).split()), sentence


MOUSE = """
addEventListener("load", () => {
  const seen = {}, say = box => box.querySelector("output").textContent, box = document.querySelector(".headscope");
  const move = (canvas, x, y, kind) => { const q = canvas.getBoundingClientRect(); canvas.dispatchEvent(new MouseEvent(kind, { clientX: q.left + x, clientY: q.top + y, bubbles: true })); };
  const map = box.querySelector(".map"), grid = box.querySelector(".heads");
  const colors = canvas => new Set(Array.from(new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer))).size;
  seen.first = say(box);
  move(map, 96 + 21 * 3 + 10, 76 + 21 * 5 + 10, "mousemove"); seen.cell = say(box);
  const chosen = box.querySelector(".l"); chosen.value = 4; chosen.onchange(); seen.layer = say(box);
  move(grid, 40 + 52 * 7 + 20, 16 + 52 * 2 + 20, "click"); seen.head = say(box);
  map.dispatchEvent(new MouseEvent("mouseleave")); seen.left = say(box);
  for (const name of ["ArrowDown", "ArrowDown", "ArrowRight", "ArrowLeft", "ArrowLeft"]) map.dispatchEvent(new KeyboardEvent("keydown", { key: name }));
  seen.key = say(box);
  seen.scale = box.querySelector(".scale").textContent; seen.map = colors(map); seen.grid = colors(grid); seen.options = box.querySelectorAll("option").length;
  const table = document.querySelector("table"), column = n => Array.from(table.tBodies[0].rows, row => row.cells[n].textContent);
  table.tHead.rows[0].cells[1].click(); seen.falling = column(0);
  table.tHead.rows[0].cells[1].click(); seen.rising = column(0);
  table.tHead.rows[0].cells[0].click(); seen.named = column(0);
  const result = document.createElement("pre"); result.id = "result"; result.textContent = JSON.stringify(seen); document.body.append(result);
});
"""


def check_browser(folder, weights, words):
    if not CHROMIUM:
        return "without Chromium"
    page = folder / "page.html"
    lines = [[name, headscope._page.Bar(value)] for name, value in (("b", 2), ("d", -10), ("a", 9.5), ("c", 1e-12))]
    body = headscope.view(weights, words)._repr_html_() + headscope._page.table(["name", "value"], lines)
    page.write_text(f"<!DOCTYPE html><meta charset=utf-8><body>{body}<script>{MOUSE}</script></body>", encoding="utf-8")
    done = subprocess.run([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}",
                           "--window-size=1100,1400", "--virtual-time-budget=20000", "--dump-dom", page.as_uri()],
                          capture_output=True, text=True, timeout=120)  # fmt: skip
    found = re.search(r'<pre id="result">(.*?)</pre>', done.stdout, re.S)
    assert found, done.stderr[-2000:]
    seen = json.loads(found[1].replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&"))
    for name, (layer, head) in {"cell": (0, 0), "layer": (4, 0), "head": (2, 7)}.items():
        where, _, number = seen[name].partition(" (3): ")
        assert where == f"L{layer} H{head}: word5 (5) → word3", seen
        shown, error = map(float, number.split(" ± "))
        assert abs(shown - weights[layer, head, 5, 3]) <= error < 0.005, seen
    assert (seen["falling"], seen["rising"], seen["named"]) == (list("abcd"), list("dcba"), list("dcba")), seen
    assert seen["key"].startswith("L2 H7: word1 (1) → word0 (0): "), seen
    assert seen["left"] == seen["first"] and "Hover" in seen["first"], seen
    assert seen["scale"] == f"Colors: clear 0, blue {weights[2, 7].max():#.3g}", seen
    assert seen["map"] > 50 and seen["grid"] > 50 and seen["options"] == 24, seen
    return "with Chromium"


def check_notebook(folder):
    try:
        import nbconvert.preprocessors
        import nbformat
    except ImportError:
        return "without nbconvert"
    cells = ["import headscope\nmodel = headscope.Model('pocket')", "run = model.run('The cat sat down')\nrun", "model.explain('The cat sat')",
             "headscope.view(run.weights[0][0:1][0], run.tokens)", "model.run(7)"]  # fmt: skip
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    os.environ |= {"HEADSCOPE": PROGRAM, "PYTHONPATH": str(SOURCES / "assets/python"), "HOME": str(folder)}
    done, _ = nbconvert.preprocessors.ExecutePreprocessor(timeout=120, allow_errors=True).preprocess(book, {})
    for cell, word in zip(done.cells[1:4], ("sat", "L0H3", "sat")):
        (output,) = cell.outputs
        assert {"text/html", "image/png", "text/plain"} <= set(output.data), output
        assert word in output.data["text/html"], word
    assert done.cells[4].outputs[0].ename == "TypeError"
    made, _ = nbconvert.HTMLExporter().from_notebook_node(done)
    assert "Attention weights of pocket" in made
    return "with nbconvert"


def main():
    os.environ |= {"HEADSCOPE_DEVICE": "cpu"}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_inputs()
        parts = [check_torch()]
        weights, words = check_pages()
        parts += [check_results(folder), check_browser(folder, weights, words), check_notebook(folder)]
    print("python: inputs and pages are as they should be,", ", ".join(parts))


main()
