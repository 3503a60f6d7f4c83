#!/usr/bin/env python3
"""check_map.py PROGRAM DATA: compares the output of `headscope map` with the whole weights that `headscope trace` writes.

NumPy crops rectangles and pools overviews; a few lines of Python read pictures."""
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import zlib

import numpy

from check_files import read_safetensors, write_safetensors

PROGRAM, DATA = sys.argv[1], pathlib.Path(sys.argv[2])
TOLERANCE = 1e-6
compared = 0


def run(*arguments, code=0, input=None):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, input=input)
    message = done.stderr.decode()
    assert done.returncode == code, (arguments, done.returncode, message)
    assert code == 0 or (message.startswith("headscope: ") and message.count("\n") == 1), (arguments, message)
    return message


def same(got, want, what):
    global compared
    assert got.dtype == numpy.float32 and got.shape == want.shape, (what, got.dtype, got.shape, want.shape)
    worst = numpy.abs(got - want).max()
    assert worst <= TOLERANCE, (what, worst)
    compared += got.size


def pool(weights, most, how):
    cells = -(-max(weights.shape) // most)
    rows, cols = (range(0, extent, cells) for extent in weights.shape)
    cut = lambda i, j: numpy.asarray(weights[i : i + cells, j : j + cells], float)
    return cells, numpy.array([[getattr(cut(i, j), how)() for j in cols] for i in rows])


def read_png(path):
    """Returns pixels and texts of a PNG with 8-bit gray."""
    data, at, packed, texts = path.read_bytes(), 8, b"", {}
    assert data[:8] == b"\x89PNG\r\n\x1a\n", path
    while at < len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        content = data[at + 8 : at + 8 + length]
        (checksum,) = struct.unpack_from(">I", data, at + 8 + length)
        assert checksum == zlib.crc32(kind + content), (path, kind)
        at += 12 + length
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack_from(">IIBB", content)
            assert (depth, colour) == (8, 0), (path, depth, colour)
        if kind == b"IDAT":
            packed += content
        if kind == b"tEXt":
            key, _, text = content.partition(b"\0")
            texts[key.decode()] = text.decode()
    lines = zlib.decompress(packed)
    image = numpy.zeros((height + 1, width + 1), int)  # a zero line above and a zero column before, which filters need
    for y in range(height):
        line = lines[y * (width + 1) : (y + 1) * (width + 1)]
        for x in range(1, width + 1):
            a, b, c = image[y + 1, x - 1], image[y, x], image[y, x - 1]
            paeth = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
            image[y + 1, x] = line[x] + [0, a, b, (a + b) // 2, paeth][line[0]] & 255
    return image[1:, 1:], texts


def check_png(path, want, beginning):
    """Checks that gray is proportional to the logarithm, over four decades below the largest weight."""
    pixels, texts = read_png(path)
    largest = want.max()
    place = 1 + numpy.log10(numpy.maximum(want, largest * 1e-9) / largest) / 4
    assert pixels.shape == want.shape, (path, pixels.shape)
    assert numpy.abs(pixels - 255 * numpy.clip(place, 0, 1)).max() <= 0.51, path
    text = texts["Description"]
    said = float(re.search(r"white is the largest, ([^,]+),", text).group(1))
    assert text.startswith(beginning) and abs(said - largest) <= 1e-5 * largest, text


def check(folder, weights, head, problem, what):
    """weights: (Tq, Tk) of the head."""
    out, (Tq, Tk) = folder / "map.npy", weights.shape
    for i0, i1, j0, j1 in [(0, Tq, 0, Tk), (Tq // 3, Tq // 3 + 1, 1, Tk), (Tq - 2, Tq, Tk // 2, Tk - 1)]:
        legend = run("map", *problem, "--head", head, "--rect", f"{i0}:{i1},{j0}:{j1}", "-o", out)
        assert legend == f"headscope: each number is one weight of head {head}, rows and columns {i0}:{i1},{j0}:{j1}\n"
        same(numpy.load(out), weights[i0:i1, j0:j1], (what, "rectangle", i0, i1, j0, j1))
    for most in (1, 5, max(Tq, Tk) - 1, 1024):
        for how in ("max", "mean"):
            legend = run("map", *problem, "--head", head, "--overview", most, "--pool", how, "-o", out)
            cells, want = pool(weights, most, how)
            word = {"max": "largest", "mean": "mean"}[how]
            beginning = f"each pixel is the {word} of {cells} x {cells} weights of head {head}"
            assert legend == f"headscope: {beginning}\n", legend
            same(numpy.load(out), want, (what, "overview", most, how))
    picture = folder / "map.png"
    run("map", *problem, "--head", head, "--overview", 5, "-o", picture)
    check_png(picture, numpy.asarray(pool(weights, 5, "max")[1]), "each pixel is the largest of ")
    run("map", *problem, "--head", head, "--rect", f"0:{Tq},0:{min(Tk, 40)}", "-o", picture)
    check_png(picture, weights[:, :40], "each number is one weight of head ")


def make_case(folder, Tq, Tk, seed):
    random = numpy.random.default_rng(seed)
    normal = lambda *shape: random.normal(size=shape).astype(numpy.float32)
    case = {"X": normal(2, Tq, 24), "W_Q": normal(24, 32) / 3, "W_K": normal(24, 16) / 3}
    case |= {"W_V": normal(24, 16), "W_O": normal(32, 24), "b_K": normal(16)}
    if Tk != Tq:
        case["X_kv"] = normal(2, Tk, 24)
    path = folder / f"case{Tq}.safetensors"
    write_safetensors(path, case)
    return path


def check_cases(folder):
    whole = folder / "whole.npy"
    window = '[{"kind":"causal"},{"kind":"sliding_window_symmetric","half_width":9}]'
    for Tq, Tk, mask in [(131, 131, "causal"), (131, 131, window), (67, 203, "none"), (203, 203, "causal")]:
        problem = ["--case", make_case(folder, Tq, Tk, Tq), "--heads", 4, "--kv-heads", 2, "--mask", mask]
        run("trace", *problem, "--stages", "weights", "-o", whole)
        check(folder, numpy.load(whole)[1, 3], 3, [*problem, "--batch", 1], (Tq, Tk, mask))
    for name, H, Hkv in [  # cases with masks in their files
        ("s6_additive_bh_nobias", 6, 6),
        ("s1_fully_masked_row_bias", 2, 2),
        ("gqa_h8_kv2_causal", 8, 2),
        ("cross_bias", 4, 4),
    ]:
        problem = ["--case", DATA / "mha" / f"{name}.safetensors", "--heads", H, "--kv-heads", Hkv]
        run("trace", *problem, "--stages", "weights", "-o", whole)
        check(folder, numpy.load(whole)[0, 1], 1, problem, name)


def check_models(folder):
    ids = lambda count: ",".join(str(7 + 5 * n % 40) for n in range(count))
    traced = folder / "model.safetensors"
    for name, layer, extra, tensor in [
        ("gpt2_tiny", 1, ["--ids", ids(29)], "layers.1.weights"),
        ("llama_tiny_tied", 1, ["--ids", ids(31)], "layers.1.weights"),
        ("gpt_oss_tiny", 0, ["--ids", ids(23)], "layers.0.weights"),
        ("gpt2_tiny", 1, ["--ids", ids(29), "--gain", "0.0=0", "--temperature", "0.5"], "layers.1.weights"),
        ("t5_tiny", 1, ["--ids", ids(19), "--decoder-ids", "0,9,8", "--stack", "cross"], "cross.layers.1.weights"),
        ("t5_tiny", 1, ["--ids", ids(19), "--decoder-ids", "0,9,8", "--stack", "encoder"], "encoder.layers.1.weights"),
    ]:
        problem = ["--model", DATA / "models" / name, *extra]
        run("trace", *problem, "--layer", layer, "--stages", "weights", "-o", traced)
        weights = read_safetensors(traced)[0][tensor]
        check(folder, weights[0, 1], 1, [*problem, "--layer", layer], (name, extra))
    text, whole = folder / "story.txt", folder / "whole.npy"
    text.write_text("Once upon a time there was a small dog. " * 4)
    run("trace", "--model", "pocket", "--text", text.read_text(), "--layer", 1, "--head", 0, "-o", traced)
    weights = read_safetensors(traced)[0]["layers.1.weights"][0, 0]
    check(folder, weights, 0, ["--model", "pocket", "--text-file", text, "--layer", 1], "pocket")
    run("map", "--model", "pocket", "--text-file", "-", "--layer", 1, "--head", 0, "--overview", 9, "-o", whole,
        input=text.read_bytes())  # fmt: skip
    same(numpy.load(whole), pool(weights, 9, "max")[1], "a text on standard input")


def check_both_ways(folder):
    """Checks decoders without a causal mask: their maps are those of Hugging Face's code."""
    out = folder / "map.npy"
    for name in ("phi3_not_causal", "bidirectional_gemma3"):
        given = read_safetensors(DATA / "files" / name / "reference.safetensors")[0]
        count = int(given["attention_mask"][0].sum())
        ids = ",".join(str(id) for id in given["input_ids"][0][:count])
        for layer in range(4):
            run("map", "--model", DATA / "files" / name, "--ids", ids, "--layer", layer, "--head", 1,
                "--rect", f"0:{count},0:{count}", "-o", out)  # fmt: skip
            want = given[f"attentions.{layer}"][0, 1, :count, :count]
            assert numpy.abs(numpy.load(out) - want).max() <= 1e-5, (name, layer)
            assert want[0, 1:].max() > 0, "the reference reads ahead"


def check_faults(folder):
    case = ["--case", make_case(folder, 40, 40, 1), "--heads", 4, "--kv-heads", 2, "--mask", "causal"]
    model = ["--model", DATA / "models" / "gpt2_tiny"]
    out = folder / "none.npy"
    for code, words, *arguments in [
        (2, "--rect and --overview are both given", *case, "--head", 0, "--rect", "0:1,0:1", "--overview", 5),
        (2, "give --rect I0:I1,J0:J1 or --overview", *case, "--head", 0),
        (2, "--head is required", *case, "--overview", 5),
        (1, "is not of the form I0:I1,J0:J1", *case, "--head", 0, "--rect", "0:1"),
        (1, "is not of the form I0:I1,J0:J1", *case, "--head", 0, "--rect", "0:1,0:1,"),
        (2, "--pool goes with --overview", *case, "--head", 0, "--rect", "0:1,0:1", "--pool", "max"),
        (1, "--pool", *case, "--head", 0, "--overview", 5, "--pool", "median"),
        (1, "I1 should be larger than I0", *case, "--head", 0, "--rect", "5:5,0:1"),
        (1, "J1 than J0", *case, "--head", 0, "--rect", "0:1,9:3"),
        (1, "rows 30 to 41 and columns 0 to 1", *case, "--head", 0, "--rect", "30:41,0:1"),
        (1, "in the map, (Tq, Tk) = (40, 40)", *case, "--head", 0, "--rect", f"0:4,0:{2**63 - 1}"),
        (1, "numbered from 0", *case, "--head", 0, "--rect", "-1:4,0:1"),
        (1, "at least 1 pixel", *case, "--head", 0, "--overview", 0),
        (1, "there is no head 4; heads are numbered 0 to 3", *case, "--head", 4, "--overview", 5),
        (1, "there is no batch entry 2", *case, "--head", 0, "--batch", 2, "--overview", 5),
        (1, "there is no layer 9", *model, "--ids", "1,2,3", "--layer", 9, "--head", 0, "--overview", 5),
        (1, "there is no head 99", *model, "--ids", "1,2,3", "--layer", 0, "--head", 99, "--overview", 5),
        (1, "positions", *model, "--ids", ",".join(["1"] * 5000), "--layer", 0, "--head", 0, "--overview", 5),
        (1, "(Tq, Tk) = (3, 3)", *model, "--ids", "1,2,3", "--layer", 0, "--head", 0, "--rect", "0:4,0:1"),
    ]:
        message = run("map", *arguments, "-o", out, code=code)
        assert words in message, (arguments, message)
        assert not out.exists(), arguments
    message = run("map", *case, "--head", 0, "--overview", 5, "-o", folder / "map.txt", code=1)
    assert "should end in .npy or .png" in message, message
    done = subprocess.run([PROGRAM, "map", *map(str, case), "--head", "0", "--overview", "5", "-o", "-"], capture_output=True)
    assert done.returncode == 0 and done.stdout.startswith(b"\x93NUMPY"), done


with tempfile.TemporaryDirectory() as name:
    check_cases(pathlib.Path(name))
    check_models(pathlib.Path(name))
    check_both_ways(pathlib.Path(name))
    check_faults(pathlib.Path(name))
print(f"{compared} numbers of maps are those of the whole weights")
