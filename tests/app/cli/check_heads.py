#!/usr/bin/env python3
"""check_heads.py PROGRAM DATA: recomputes every score that `headscope heads` prints with NumPy.

The weights come from `headscope trace` or from an attention file. The definitions are implemented here, without code of the
program."""
import csv
import functools
import json
import pathlib
import re
import string
import subprocess
import sys
import tempfile
import unicodedata

import numpy

from check_files import read_safetensors

PROGRAM, DATA = sys.argv[1], pathlib.Path(sys.argv[2])
ENDS = {"</s>", "<eos>", "[EOS]", "[SEP]", "<sep>", "<|endoftext|>", "<|end_of_text|>"}
POSITIONS = ["first", "previous", "self", "next", "distance", "duplicate_text", "induction_text", "sink"]
PROBE = ["probe_previous", "probe_duplicate", "probe_induction"]
IDS = [*POSITIONS[:5], "entropy", "confidence", "largest", "share", "duplicate_text", "induction_text", "special",
       "punctuation", "sink", *PROBE, "copying"]
SPECIAL = re.compile(r"\[(CLS|SEP|PAD|BOS|EOS)\]|</?s>|<(pad|bos|eos|cls|sep)>|<(start|end)_of_turn>|<\|.+\|>")
POCKET = DATA.parent.parent / "assets/models/pocket"
compared = 0


def run(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], check=True, capture_output=True, text=True).stdout


@functools.cache
def is_punctuation(token):
    text = token.lstrip("\u0120\u2581 ")
    return bool(text) and all(c in string.punctuation or unicodedata.category(c).startswith("P") for c in text)


def scores(weights, tokens, ids=None, cross=False):
    """Returns the scores of one head, in float64; None if a score is not defined."""
    A = numpy.asarray(weights, float)
    A = A[A.any(axis=1)] if A.shape[0] != A.shape[1] else A
    full = [i for i in range(A.shape[0]) if A[i].any()]
    T = A.shape[0]
    keep = [j for j in range(A.shape[1]) if not (tokens and tokens[j] in ENDS)]
    logs = numpy.log(numpy.where(A > 0, A, 1))
    mean = lambda values: float(numpy.mean(values)) if len(values) else 0.0
    of_class = lambda holds: mean(A[full][:, [holds(t) for t in tokens]].sum(axis=1)) if tokens else None
    out = {
        "entropy": mean([-(A[i] * logs[i]).sum() for i in full]),
        "confidence": mean([A[i][keep].max(initial=0) for i in full]),
        "largest": mean([A[i].max() for i in full]),
        "special": of_class(lambda token: bool(SPECIAL.fullmatch(token))),
        "punctuation": of_class(is_punctuation),
    } | dict.fromkeys([*PROBE, "copying"])
    if A.shape[0] != A.shape[1] or T < 2 or cross:
        return out | dict.fromkeys(POSITIONS)
    place = numpy.abs(numpy.subtract.outer(numpy.arange(T), numpy.arange(T)))
    names = numpy.array(ids or tokens or [])
    if len(names):
        # Same detection patterns as TransformerLens' head_detector.
        duplicate = numpy.tril(names[:, None] == names[None, :], k=-1)
        induction = numpy.tril(numpy.roll(duplicate, 1, axis=1) * (numpy.arange(T) > 0))
    share = lambda pattern: float((A * pattern).sum() / A.sum()) if A.sum() else 0.0
    return out | {
        "first": mean([A[i, 0] for i in full if i]),
        "previous": mean([A[i, i - 1] for i in full if i]),
        "self": mean([A[i, i] for i in full]),
        "next": mean([A[i, i + 1] for i in full if i + 1 < T]),
        "distance": share(place),
        "duplicate_text": share(duplicate) if len(names) else None,
        "induction_text": share(induction) if len(names) else None,
        "sink": float(mean(A[full, 0]) > 0.3),
    }


def same(rows, expected, what):
    global compared
    assert len(rows) == len(expected), (what, len(rows), len(expected))
    for row, want in zip(rows, expected):
        if row.pop("beside_first_token", False):
            assert row["label"] not in ("", "first token") and row.get("first", 1) >= 0.5, (what, row)
        assert list(row) == ["layer", "head", "label", *IDS], (what, list(row))
        for key, value in want.items():
            got = row[key]
            if value is None:
                assert got is None, (what, key, got)
            elif not isinstance(value, float) or key == "layer":
                assert got == value, (what, key, got, value)
            else:
                tolerance = 2e-5 if key == "copying" else 2e-6  # a quotient of sums over the vocabulary in float32
                assert abs(got - value) <= tolerance * max(1, abs(value)), (what, row["layer"], row["head"], key, got, value)
            compared += 1


def copying(model, gains={}):
    """Returns by layer and head the eigenvalues of the whole circuit W_E W_V W_O W_U of a golden model, vocab x vocab."""
    config = json.loads((DATA / "models" / model / "config.json").read_text())
    tensors, _ = read_safetensors(DATA / "models" / model / "model.safetensors")
    find = lambda *ends: next(tensors[n].astype(float) for n in sorted(tensors) for end in ends if n.endswith(end))
    out = {}
    for layer in range(config.get("n_layer") or config["num_hidden_layers"]):
        if config["model_type"] == "gpt2":
            E = U = find("wte.weight")
            W_V = numpy.split(find(f"h.{layer}.attn.c_attn.weight"), 3, axis=1)[2]
            W_O, H, groups = find(f"h.{layer}.attn.c_proj.weight"), config["n_head"], config["n_head"]
        else:
            E = find("embed_tokens.weight")
            U = E if config["tie_word_embeddings"] else find("lm_head.weight")
            W_V, W_O = find(f"layers.{layer}.self_attn.v_proj.weight").T, find(f"layers.{layer}.self_attn.o_proj.weight").T
            H, groups = config["num_attention_heads"], config["num_key_value_heads"]
        dk = W_O.shape[0] // H
        for h in range(H):
            g = h // (H // groups)
            whole = E @ W_V[:, g * dk:(g + 1) * dk] @ W_O[h * dk:(h + 1) * dk] @ U.T * gains.get((layer, h), 1)
            values = numpy.linalg.eigvals(whole)
            out[layer, h] = float(values.real.sum() / numpy.abs(values).sum()) if numpy.abs(values).sum() else 0.0
    return out


def check_trace(folder, what, *problem, ids=None, more=lambda layer, head: {}):
    path = folder / "trace.safetensors"
    run("trace", *problem, "--stages", "weights,contributions", "-o", path)
    tensors, metadata = read_safetensors(path)
    layers = sorted({int(n.split(".")[1]) for n in tensors if n.startswith("layers.")}) or [None]
    expected = []
    for layer in layers:
        name = (lambda stage: stage) if layer is None else (lambda stage, l=layer: f"layers.{l}.{stage}")
        weights, parts = tensors[name("weights")], tensors[name("contributions")].astype(float)
        assert weights.shape[0] == 1, what
        tokens = json.loads(metadata.get("kv_tokens", metadata.get("tokens", "null")))
        tokens = tokens[0] if tokens and isinstance(tokens[0], list) else tokens
        cross = "kv_tokens" in metadata
        norms = [float(numpy.linalg.norm(parts[0, h])) for h in range(parts.shape[1])]
        for h in range(weights.shape[1]):
            expected.append(
                {"layer": layer or 0, "head": h}
                | scores(weights[0, h], tokens, ids, cross)
                | {"share": norms[h] / sum(norms)}
                | more(layer, h)
            )
    same(json.loads(run("heads", *problem, "--json")), expected, what)


def random_numbers(seed):
    """splitmix64 (Steele, Lea and Flood 2014)."""
    wrap = (1 << 64) - 1
    while True:
        seed = (seed + 0x9E3779B97F4A7C15) & wrap
        z = seed
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & wrap
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & wrap
        yield z ^ (z >> 31)


def check_probe(folder, model, begin, ordinary, names, S, batch, seed, *options):
    """Checks means over texts of repeated random tokens, with the weights of `trace`. names: the tokens of the ids, or
    None."""
    random, path, texts = random_numbers(seed), folder / "probe.safetensors", []
    for _ in range(batch):
        said = [ordinary[next(random) % len(ordinary)] for _ in range(S)]
        ids = [*begin, *said, *said]
        run("trace", "--model", model, "--ids", ",".join(map(str, ids)), "--stages", "weights", "-o", path)
        tensors, _ = read_safetensors(path)
        texts.append((ids, tensors))
    rows = json.loads(run("heads", "--model", model, "--probe", *options, "--json"))
    expected = []
    for row in rows:
        of_texts = []
        for ids, tensors in texts:
            A = tensors[f"layers.{row['layer']}.weights"][0, row["head"]].astype(float)
            second = range(len(ids) - S, len(ids))
            of_texts.append(scores(A, names and [names[i] for i in ids], ids) | {
                "probe_previous": numpy.diagonal(A, -1).mean(),
                "probe_duplicate": numpy.mean([A[i, i - S] for i in second]),
                "probe_induction": numpy.mean([A[i, i - S + 1] for i in second]),
            })
        means = {key: value if value is None else float(numpy.mean([one[key] for one in of_texts]))
                 for key, value in of_texts[0].items() if key != "copying"}
        expected.append({"layer": row["layer"], "head": row["head"]} | means)
    same(rows, expected, f"probe of {model}")
    return rows


def check_effect(folder, model, ids, position, *options):
    """Checks the KL divergence of the prediction with and without each head, from the logits of whole runs."""
    def predicted(*gain):
        path = folder / "logits.safetensors"
        run("trace", "--model", model, "--ids", ids, "--stages", "logits", *gain, "-o", path)
        logits = read_safetensors(path)[0]["logits"][0, position].astype(float)
        return logits - logits.max() - numpy.log(numpy.exp(logits - logits.max()).sum())
    before, largest = predicted(), 0
    rows = json.loads(run("heads", "--model", model, "--ids", ids, "--effect", *options, "--scores", "sink", "--json"))
    for row in rows:
        row.pop("beside_first_token", None)
        assert list(row) == ["layer", "head", "label", "sink", "effect"], row
        after = predicted("--gain", f"{row['layer']}.{row['head']}=0")
        expected = float((numpy.exp(before) * (before - after)).sum())
        assert abs(row["effect"] - expected) <= 2e-6 + 1e-3 * expected, (model, row, expected)
        largest = max(largest, expected)
    assert largest > 1e-4, (model, largest)


def cut(text):
    """Returns the ids of the text's tokens, with the special ones, and the letters of each."""
    told = json.loads(run("tokenize", "--tokenizer", POCKET, text, "--json"))
    return told["ids"], [tuple(span) for span in told["offsets"]]


def sentences_within(text, end):
    """Returns the text up to the last end of a sentence in its first `end` letters."""
    ends = [match.end() for match in re.finditer(r"[.!?\n][\"')]*", text) if match.start() < end]
    return text[:ends[-1]] if ends else ""


def check_retrieval(folder, haystack, needle, question, lengths, depths):
    """Checks the score of Wu et al. 2024, from the rows of weights of one run over each text with its answer."""
    global compared
    tokens_in = lambda text: [span for span in cut(text)[1] if span != (0, 0)]
    path, shares, written = folder / "answer.safetensors", [], []
    for length in lengths:
        long = tokens_in(haystack)[length - 1][1]
        part = sentences_within(haystack, long) or haystack[:long]
        spans = tokens_in(part)
        for depth in range(depths):
            place = int(numpy.floor(len(spans) * depth / (depths - 1) + 0.5))
            before = sentences_within(part, spans[place - 1][1] if place else 0)
            begin = before.strip() + " " if before.strip() else ""
            text = begin + " ".join(filter(None, [needle, part[len(before):].strip(), question]))
            ids, offsets = cut(text)
            inside = [i for i, (a, b) in enumerate(offsets) if b > len(begin) and a < len(begin) + len(needle) and (a, b) != (0, 0)]
            answer = json.loads(run("generate", "--model", "pocket", "--ids", ",".join(map(str, ids)), "--tokens", len(inside), "--json"))["ids"]
            answer = answer[:answer.index(1)] if 1 in answer else answer  # </s>
            run("trace", "--model", "pocket", "--ids", ",".join(map(str, ids + answer)), "--stages", "weights,logits", "-o", path)
            tensors, _ = read_safetensors(path)
            different = {ids[i] for i in inside}
            share = numpy.zeros((4, 8))
            for layer in range(4):
                A = tensors[f"layers.{layer}.weights"][0]
                for head in range(8):
                    copied = set()
                    for n, token in enumerate(answer):
                        row = len(ids) - 1 + n
                        assert tensors["logits"][0, row].argmax() == token
                        j = int(A[head, row, :row + 1].argmax())
                        if j in inside and ids[j] == token:
                            copied.add(token)
                    share[layer, head] = len(copied) / len(different)
            shares.append(share)
            written.append(len(different & set(answer)) / len(different))
    (folder / "haystack.txt").write_text(haystack)
    rows = json.loads(run("heads", "--model", "pocket", "--scores", "retrieval", "--haystack", folder / "haystack.txt", "--needle", needle,
                          "--question", question, "--lengths", ",".join(map(str, lengths)), "--depths", depths, "--json"))
    assert len(rows) == 32 and list(rows[0]) == ["layer", "head", "label", "retrieval"]
    for row in rows:
        assert abs(row["retrieval"] - numpy.mean(shares, axis=0)[row["layer"], row["head"]]) < 1e-6, row
        compared += 1
    assert max(row["retrieval"] for row in rows) > 0.1 and numpy.mean(written) > 0.2, (rows, written)


def check_attention(folder):
    rng = numpy.random.default_rng(3)
    A = rng.random((2, 3, 5, 5)).astype("<f4") ** 4
    A[0, 0] = numpy.tril(A[0, 0])
    A[1, 2] = numpy.eye(5, k=-1) + numpy.eye(5) * (numpy.arange(5) == 0)
    A = (A / A.sum(axis=-1, keepdims=True)).astype("<f4")
    tokens = ["<s>", "a", "</s>", "b", "[SEP]"]
    path = folder / "given.npy"
    numpy.save(path, A)
    (folder / "given.tokens.json").write_text(json.dumps(tokens))
    expected = [
        {"layer": l, "head": h} | scores(A[l, h], tokens) | {"share": None} for l in range(2) for h in range(3)
    ]
    expected[5]["label"] = "previous token"
    same(json.loads(run("heads", "--attention", path, "--json")), expected, "attention file")
    out = folder / "given.csv"
    run("heads", "--attention", path, "--scores", "distance,confidence,share", "-o", out)
    with open(out, newline="") as file:
        table = list(csv.DictReader(file))
    assert list(table[0]) == ["layer", "head", "label", "distance", "confidence", "share"], table[0]
    for row, want in zip(table, expected, strict=True):
        assert row["share"] == ""
        for key in ("distance", "confidence"):
            assert abs(float(row[key]) - want[key]) < 2e-6, (row, want)
    json_out = folder / "given.json"
    run("heads", "--attention", path, "-o", json_out)
    assert json_out.read_text() == run("heads", "--attention", path, "--json")
    # Twice as many keys as queries: scores of positions are not defined.
    numpy.save(folder / "cross.npy", numpy.full((1, 3, 6), 1 / 6, "<f4"))
    (row,) = json.loads(run("heads", "--attention", folder / "cross.npy", "--json"))
    assert row["label"] == "" and row["previous"] is None and row["distance"] is None and row["share"] is None
    assert abs(row["entropy"] - numpy.log(6)) < 2e-6
    # As many keys as queries, but other tokens.
    for keys, label in ((["x", "y", "z"], ""), (["a", "b", "c"], "previous token")):
        shifted = numpy.eye(3, k=-1, dtype="<f4") + numpy.eye(3, dtype="<f4") * (numpy.arange(3) == 0)
        numpy.save(folder / "other.npy", shifted[None].astype("<f4"))
        (folder / "other.tokens.json").write_text(json.dumps({"tokens": ["a", "b", "c"], "key_tokens": keys}))
        (row,) = json.loads(run("heads", "--attention", folder / "other.npy", "--json"))
        assert row["label"] == label and (row["previous"] is None) == (row["sink"] is None) == (not label), row


def refused(code, *arguments):
    result = subprocess.run([PROGRAM, "heads", *map(str, arguments)], capture_output=True, text=True)
    assert result.returncode == code, (arguments, result)
    assert result.stderr.startswith("headscope: ") and not result.stdout, (arguments, result)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_trace(folder, "sentence", "The cat sat down", "--preset", "first-lesson")
        check_trace(folder, "masked", "The cat sat down", "--preset", "random", "--heads", "4", "--mask", "causal")
        check_trace(folder, "cross", "The cat sat down", "--kv-sentence", "Le chat", "--preset", "translation")
        check_trace(folder, "fully masked rows", "--case", DATA / "mha/s1_fully_masked_row_bias.safetensors", "--heads", "2",
                    "--mask", json.dumps([{"kind": "explicit", "allowed": [[[1] * 4, [0] * 4, [1] * 4, [1] * 4]]}]))
        text = [5, 9, 2, 17, 9, 2]
        for model, gains in (("gpt2_tiny", {}), ("llama_tiny_untied", {}), ("llama_tiny_tied", {(0, 3): -0.5, (1, 1): 0.0})):
            copies = copying(model, gains)
            check_trace(folder, model, "--model", DATA / "models" / model, "--ids", ",".join(map(str, text)),
                        *(word for (l, h), g in gains.items() for word in ("--gain", f"{l}.{h}={g}")),
                        ids=text, more=lambda layer, head: {"copying": copies[layer, head]})
        tokenizer = json.loads((POCKET / "tokenizer.json").read_text())
        names = {i: token for token, i in tokenizer["model"]["vocab"].items()} | {t["id"]: t["content"] for t in tokenizer["added_tokens"]}
        said = 'Anna lost her ribbon. "Anna lost," said Tom; her ribbon!'
        told = json.loads(run("tokenize", "--tokenizer", POCKET, said, "--json"))["ids"]
        ordinary = [i for i in sorted(names) if not SPECIAL.fullmatch(names[i])]
        ignored = [h for h in json.loads(run("heads", "--model", "pocket", "--text", said, "--json"))]
        check_trace(folder, "pocket", "--model", "pocket", "--text", said, ids=told,
                    more=lambda layer, head: {"copying": ignored[layer * 8 + head]["copying"]})
        assert max(h["punctuation"] for h in ignored) > 0.2 and max(h["special"] for h in ignored) > 0.2
        check_probe(folder, DATA / "models/gpt2_tiny", [], [i for i in range(200) if i != 199], None, 6, 3, 5,
                    "--length", "6", "--batch", "3", "--seed", "5")
        rows = check_probe(folder, POCKET, [0], ordinary, names, 20, 2, 1, "--length", "20", "--batch", "2")
        assert max(row["probe_induction"] for row in rows) > 0.5, "pocket has heads for induction"
        check_effect(folder, DATA / "models/gpt2_tiny", "5,9,2,17,9,2", -1)
        check_effect(folder, DATA / "models/llama_tiny_tied", "5,9,2,17,9,2", 3, "--position", "3")
        # A cross-attention does not have positions, even with as many keys as queries.
        for row in json.loads(run("heads", "--model", DATA / "models/t5_tiny", "--ids", "8,2,6,4", "--decoder-ids", "0,3,7,5",
                                  "--stack", "cross", "--json")):
            assert row["label"] == "" and not any(row[key] is not None for key in [*POSITIONS, "copying"]), row
            assert row["entropy"] > 0
        haystack = (DATA.parent.parent / "assets/texts/haystack.txt").read_text()
        check_retrieval(folder, haystack.strip(), '"Purple river seven candle wheel mountain," said Felix.', '"Purple river', [50, 100], 3)
        check_attention(folder)
        refused(1, "The cat sat down", "--scores", "previous,nonsense")
        refused(2, "The cat sat down", "--probe")
        refused(2, "The cat sat down", "--effect")
        tiny = ["--model", DATA / "models/gpt2_tiny"]
        refused(1, *tiny, "--probe", "--length", "33")
        refused(1, *tiny, "--probe", "--batch", "0")
        refused(1, "--model", DATA / "models/t5_tiny", "--probe", "--stack", "encoder")
        refused(1, *tiny, "--ids", "1,2,3", "--effect", "--position", "3")
        refused(2, *tiny, "--ids", "1,2,3", "--position", "1")
        refused(2, "The cat sat down", "--scores", "retrieval")
        refused(2, *tiny, "--ids", "1,2,3", "--depths", "3")
        refused(2, "--model", "pocket", "--needle", "Ben hid the red spoon.")
        refused(1, "--model", "pocket", "--scores", "retrieval", "--lengths", "1000")
        refused(1, *tiny, "--scores", "retrieval")
        refused(2, *tiny, "--ids", "1,2,3", "--probe")
        refused(2, *tiny, "--ids", "1,2,3", "--length", "4")
        refused(2, *tiny, "--ids", "1,2,3", "--seed", "4")
        refused(2, *tiny, "--ids", "1,2,3", "--effect", "--temperature", "2")
        refused(1, "The cat sat down", "-o", folder / "out.txt")
        refused(2, "The cat sat down", "--attention", folder / "given.npy")
        refused(2)
    print(f"{compared} scores agree with NumPy")


if __name__ == "__main__":
    main()
