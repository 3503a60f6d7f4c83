#!/usr/bin/env python3
"""check_survey.py PROGRAM DATA: recomputes the output of `headscope survey`.

This script cuts the pieces. Their weights come from `headscope trace`, the scores from check_heads.py, and the statistics
from NumPy. The other checks: the file does not depend on the number of processes, nor on how often the survey was
killed."""
import contextlib
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import sqlite3
import string
import subprocess
import sys
import tempfile
import time

import numpy

from check_files import read_safetensors
from check_heads import DATA, ENDS, PROGRAM, SPECIAL, is_punctuation, run, scores

IDS = ["first", "previous", "self", "next", "distance", "entropy", "confidence", "largest", "share", "duplicate_text",
       "induction_text", "special", "punctuation", "sink"]
WORDS = "The storm closed the harbour at noon . Anna called Tom , and John gave a book to Mary in the old shop".split()
LAUNCHERS = [("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), ("PMI_RANK", "PMI_SIZE"),
             ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS")]
compared = 0


def sentences(seed, count, most=40):
    draw = random.Random(seed)
    return [" ".join(draw.choices(WORDS, k=draw.randint(2, most))) for _ in range(count)]


def survey(folder, model, texts, out, *more, rank=None, launcher=0, **how):
    environment = dict(os.environ)
    if rank is not None:
        environment |= dict(zip(LAUNCHERS[launcher], map(str, rank)))
    return subprocess.Popen([PROGRAM, "survey", "--model", str(model), "--texts", texts, "-o", out, *map(str, more)],
                            cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **how)


def ended(process, code=0, says=()):
    out, err = process.communicate(timeout=300)
    assert process.returncode == code, (process.args, process.returncode, err)
    for words in [says] if isinstance(says, str) else says:
        assert words in out + err, (words, out + err)
    return out + err


def together(folder, model, texts, out, count, *more, launcher=0):
    return [survey(folder, model, texts, out, *more, rank=(k, count), launcher=launcher) for k in range(count)]


def rows(path, table, order=""):
    with contextlib.closing(sqlite3.connect(path)) as file:
        file.row_factory = sqlite3.Row
        return [dict(row) for row in file.execute(f"SELECT * FROM {table} {order}")]


def content(path):
    return {table: rows(path, table) for table in ("runs", "scores", "examples", "pieces")}


def left_over(folder, out):
    return sorted(path.name for path in folder.iterdir() if path.name.startswith(out + "."))


def done_blocks(folder, out):
    """Returns the number of blocks in the parts of a survey, and the number of parts."""
    done = total = 0
    for part in folder.glob(out + ".part-*"):
        if part.suffix[6:].isdigit():
            done += len(rows(part, "done")[0]["blocks"]) // 8
            total = rows(part, "runs")[0]["blocks"]
    return done, total


def wait_for_a_block(folder, out, processes):
    """Waits until a part has another block, or all processes have ended. A part with more blocks replaces the old one."""
    parts = lambda: {path.name: path.stat().st_ino for path in folder.glob(out + ".part-*") if path.suffix[6:].isdigit()}
    begun = parts()
    while any(process.poll() is None for process in processes):
        with contextlib.suppress(FileNotFoundError):  # renamed in the meantime
            if parts() != begun:
                break
        time.sleep(0.002)


def counting(score, A, tokens, ids):
    """Returns the factor of each cell in a score. None: its weight outside the first key."""
    T = len(A)
    near = lambda k: A * numpy.eye(T, k=k)
    columns = lambda holds: A * numpy.array([holds(token) for token in tokens])
    names = numpy.array(ids)
    duplicate = lambda: numpy.tril(names[:, None] == names[None, :], k=-1)
    first = A * (numpy.arange(T) == 0)
    first[0] = 0
    of_score = {
        "first": lambda: first, "previous": lambda: near(-1), "self": lambda: near(0), "next": lambda: near(1),
        "sink": lambda: first, "largest": lambda: A,
        "distance": lambda: A * numpy.abs(numpy.subtract.outer(numpy.arange(T), numpy.arange(T))),
        "confidence": lambda: columns(lambda token: token not in ENDS),
        "duplicate_text": lambda: A * duplicate(),
        "induction_text": lambda: A * numpy.tril(numpy.roll(duplicate(), 1, axis=1) * (numpy.arange(T) > 0)),
        "special": lambda: columns(lambda token: bool(SPECIAL.fullmatch(token))),
        "punctuation": lambda: columns(is_punctuation),
    }  # fmt: skip
    return of_score[score]() if score in of_score else None


def check_cell(example, A, tokens, ids):
    A = A.astype(float)
    query, key = example["query"], example["key"]
    assert abs(A[query, key] - example["weight"]) <= 2e-6, (example, A[query, key])
    counts = counting(example["score"], A, tokens, ids)
    off_first = A.copy()
    off_first[:, 0] = 0
    if A[0, 0] == 1:  # a first row that attends only to itself
        off_first[0] = 0
        if counts is not None:
            counts[0] = 0
    if counts is None or counts.max() <= 0:
        counts = off_first
    assert counts[query, key] >= counts.max() - 1e-5, (example, counts[query, key], counts.max())


def pieces_of(model, texts, length, before, after):
    """Returns name -> (ids, tokens) of each piece, cut here."""
    found = {}
    quoted = "".join(json.dumps(text) + "\n" for _, text in texts)
    result = subprocess.run([PROGRAM, "tokenize", "--tokenizer", str(model), "--text-file", "-", "--json"],
                            input=quoted, check=True, capture_output=True, text=True)
    for (line, _), encoded in zip(texts, map(json.loads, result.stdout.splitlines())):
        both = list(zip(encoded["ids"], encoded["tokens"]))
        own, room = both[before : len(both) - after], length - before - after
        for piece in range(0, (len(own) + room - 1) // room):
            inner = own[piece * room : (piece + 1) * room]
            if piece > 0 and room > 1 and len(inner) == 1:
                continue  # a single remaining token does not make a piece
            part = both[:before] + inner + both[len(both) - after :]
            found[line, piece] = ([i for i, _ in part], [t for _, t in part])
    return found


def check_numbers(folder, out, model, texts, length, before, after, *stack):
    global compared
    pieces = pieces_of(model, texts, length, before, after)
    found, maps = {}, {}
    for name, (ids, tokens) in pieces.items():
        path = folder / "trace.safetensors"
        run("trace", "--model", model, "--ids", ",".join(map(str, ids)), *stack, "--stages", "weights,contributions", "-o", path)
        tensors, _ = read_safetensors(path)
        for name_of_weights in [n for n in tensors if n.endswith(".weights")]:
            layer = int(name_of_weights.split(".")[-2])
            weights, parts = tensors[name_of_weights][0], tensors[name_of_weights.replace("weights", "contributions")][0]
            norms = [numpy.linalg.norm(part.astype(float)) for part in parts]
            for head, A in enumerate(weights):
                maps[layer, head, name] = A
                of_head = scores(A, tokens, ids) | {"share": norms[head] / sum(norms)}
                for score in IDS:
                    if of_head[score] is not None:
                        found.setdefault((layer, head, score), {})[name] = of_head[score]
    close = lambda got, want, what: abs(got - want) <= 2e-6 * max(1, abs(want)) or sys.exit(f"{what}: {got}, not {want}")
    table = rows(folder / out, "scores")
    assert {(r["layer"], r["head"], r["score"]) for r in table} == set(found), "other heads or scores"
    for row in table:
        values = found[row["layer"], row["head"], row["score"]]
        ordered = numpy.sort(list(values.values()))
        assert row["pieces"] == len(ordered), row
        for key, want in {"mean": ordered.mean(), "spread": ordered.std(), "smallest": ordered[0], "largest": ordered[-1]}.items():
            close(row[key], want, (row["layer"], row["head"], row["score"], key))
            compared += 1
        for d in range(1, 10):
            want = numpy.quantile(ordered, d / 10, method="lower") if hasattr(numpy, "quantile") else None
            assert abs(row[f"d{d}"] - want) <= max(want / 64, 2.0**-20) + 2e-6, (row, d, want)
            compared += 1
    spelled = {(r["line"], r["piece"]): r for r in rows(folder / out, "pieces")}
    lists = {}
    for example in rows(folder / out, "examples"):
        name = example["line"], example["piece"]
        close(example["value"], found[example["layer"], example["head"], example["score"]][name], ("example", name))
        ids, tokens = pieces[name]
        assert json.loads(spelled[name]["ids"]) == ids and json.loads(spelled[name]["tokens"]) == tokens, name
        check_cell(example, maps[example["layer"], example["head"], name], tokens, ids)
        lists.setdefault((example["layer"], example["head"], example["score"], example["kind"]), []).append(example)
        compared += 3
    for (layer, head, score, kind), examples in lists.items():
        ordered = sorted(found[layer, head, score].values(), reverse=True)
        examples.sort(key=lambda e: e["place"])
        if kind == "largest":
            assert len(examples) == min(10, len(ordered))
            for example, want in zip(examples, ordered):
                close(example["value"], want, (layer, head, score, "largest", example["place"]))
            order = [(-e["value"], e["line"], e["piece"]) for e in examples]
            assert order == sorted(order), examples
        else:
            assert [e["place"] for e in examples] == list(range(1, 11))
            for example in examples:
                want = sorted(ordered)[int((example["place"] - 0.5) / 10 * (len(ordered) - 1))]
                assert abs(example["value"] - want) <= max(want / 64, 2.0**-20) + 2e-6, (example, want)
    return pieces


def make_model(folder, name):
    """Makes a golden model with a vocabulary of words and letters that fits it: [CLS] A [SEP]."""
    model = folder / name
    shutil.copytree(DATA / "models" / name, model)
    letters = [*string.ascii_lowercase, *("##" + letter for letter in string.ascii_lowercase), *".,"]
    words = sorted({word.lower() for word in WORDS} - set(letters))
    (model / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *words]) + "\n")
    # A T5 folder that names no class has SentencePiece's vocabulary.
    (model / "tokenizer_config.json").write_text('{"tokenizer_class": "BertTokenizer"}')
    return model


def check_corpus(folder):
    """Checks lines of every kind, as text and as JSON lines, on a causal model, a bidirectional one, and an encoder."""
    all_lines = [*sentences(1, 12), "", "Tom", " \t ", "caf\xe9 at noon", *sentences(2, 8), " ".join(sentences(3, 4))]
    lines = [line.encode("latin-1") for line in all_lines]
    texts = [(n, line) for n, line in enumerate(all_lines, 1) if line.strip() and "\xe9" not in line]
    (folder / "kinds.txt").write_bytes(b"\r\n".join(lines))
    (folder / "kinds.jsonl").write_bytes(b"\n".join(b'{"id": 1, "text": "' + line.replace(b"\t", b"\\t") + b'"}' for line in lines))
    encoder = ["--decoder-ids", "0", "--stack", "encoder"]
    for model, before, after, *stack in [("pocket", 1, 0), (make_model(folder, "bert_tiny"), 1, 1),
                                         (make_model(folder, "t5_tiny"), 1, 1, *encoder)]:
        where = model if model != "pocket" else DATA.parent.parent / "assets/models/pocket"
        words = ended(survey(folder, model, "kinds.txt", "kinds.db", "--length", 24),
                      says=["cut into pieces", "2 lines empty: left out", "1 line not UTF-8: left out"])
        pieces = check_numbers(folder, "kinds.db", where, texts, 24, before, after, *stack)
        split = len({line for line, piece in pieces if piece})
        assert split >= 2 and f"{split} texts longer than 24 tokens" in words, words
        table = rows(folder / "kinds.db", "runs")[0]
        assert (table["lines"], table["empty_lines"], table["invalid_lines"], table["texts_read"]) == (25, 2, 1, 22), table
        assert table["pieces"] == len(pieces) and table["tokens"] == sum(len(ids) for ids, _ in pieces.values()), table
        ended(survey(folder, model, "kinds.jsonl", "json.db", "--length", 24))
        for name in ("scores", "examples", "pieces"):
            assert rows(folder / "json.db", name) == rows(folder / "kinds.db", name), name
        limited = survey(folder, model, "kinds.txt", "limited.db", "--length", 24, "--limit", 5)
        ended(limited)
        check_numbers(folder, "limited.db", where, texts[:5], 24, before, after, *stack)
        check_card(folder, "kinds.db")
        for name in ("kinds.db", "json.db", "limited.db"):
            (folder / name).unlink()
    for bad, says in {'{"text": 1}': "line 2 is not an object with a text", "{": "line 2", '["a"]': "line 2 is not an object"}.items():
        (folder / "bad.jsonl").write_text('{"text": "Tom"}\n' + bad + "\n")
        ended(survey(folder, "pocket", "bad.jsonl", "bad.db"), 1, says)
    (folder / "blank.txt").write_text("\n \n")
    ended(survey(folder, "pocket", "blank.txt", "bad.db"), 1, "has no text")
    ended(survey(folder, "pocket", "kinds.txt", "bad.db", "--length", 1), 1, "needs at least 2")
    ended(survey(folder, DATA / "models/gpt2_tiny", "kinds.txt", "bad.db"), 1, "cannot read texts")
    assert not list(folder.glob("bad.db*")), list(folder.glob("bad.db*"))


def check_card(folder, out):
    card = json.loads(run("survey", "show", folder / out, "--layer", 1, "--head", 0, "--json"))
    table = {row["score"]: row for row in rows(folder / out, "scores", "WHERE layer = 1 AND head = 0")}
    assert set(card["scores"]) == set(table)
    for score, got in card["scores"].items():
        means = [row["mean"] for row in rows(folder / out, "scores", f"WHERE score = '{score}'")]
        assert got["mean"] == table[score]["mean"] and got["rank"] == 1 + sum(m > got["mean"] for m in means), score
        kept = rows(folder / out, "examples", f"WHERE layer = 1 AND head = 0 AND score = '{score}'")
        assert len(kept) == len(got["examples"]), score
    text = run("survey", "show", folder / out, "--layer", 1, "--head", 0)
    best = card["scores"]["previous"]["examples"][0]
    assert f"@{best['query']} reads " in text and f"@{best['key']} " in text, text
    refused = subprocess.run([PROGRAM, "survey", "show", str(folder / out), "--layer", "9", "--head", "0"], capture_output=True, text=True)
    assert refused.returncode == 1 and "layers are numbered 0 to" in refused.stderr, refused


def check_processes(folder, whole):
    for count, launcher in [(2, 0), (3, 1), (2, 2)]:
        for process in together(folder, "pocket", "many.txt", "n.db", count, launcher=launcher):
            ended(process)
        assert content(folder / "n.db") == whole and left_over(folder, "n.db") == [], (count, left_over(folder, "n.db"))
        (folder / "n.db").unlink()
    if shutil.which("mpirun"):
        subprocess.run(["mpirun", "--oversubscribe", "-n", "2", PROGRAM, "survey", "--model", "pocket", "--texts", "many.txt",
                        "-o", "n.db"], cwd=folder, check=True, capture_output=True,
                       env=os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
        assert content(folder / "n.db") == whole
        (folder / "n.db").unlink()
    alone = survey(folder, "pocket", "many.txt", "n.db", rank=(3, 2))
    ended(alone, 1, "a rank is less than the number of processes")


def check_kills(folder, whole):
    """Checks surveys that are killed at random moments and continued with other numbers of processes."""
    draw = random.Random(time.time_ns())
    within, before = 0, 0
    for attempt in range(100):
        processes = together(folder, "pocket", "many.txt", "k.db", draw.choice([1, 2, 3]))
        if attempt % 3:
            wait_for_a_block(folder, "k.db", processes)
        time.sleep(draw.uniform(0, 0.2 if attempt % 3 == 0 else 0.02))
        for process in processes:
            process.kill()
            process.communicate()
        done, total = done_blocks(folder, "k.db")
        within += before < done < total
        before = done
        if within == 3:
            break
        if (folder / "k.db").exists():  # the kill came too late
            (folder / "k.db").unlink()
            before = 0
    assert within, "no kill came between two blocks"
    stopped = survey(folder, "pocket", "many.txt", "k.db")
    time.sleep(0.2)
    stopped.send_signal(signal.SIGINT)
    out, err = stopped.communicate()
    assert stopped.returncode in (0, 1) and (stopped.returncode == 0 or "run the same command to resume" in err or "cancelled" in err), err
    for process in together(folder, "pocket", "many.txt", "k.db", 2):
        ended(process)
    assert content(folder / "k.db") == whole and left_over(folder, "k.db") == [], left_over(folder, "k.db")
    ended(survey(folder, "pocket", "many.txt", "k.db"), 0, "is complete")
    return within


def check_refusals(folder, whole):
    running = survey(folder, "pocket", "many.txt", "r.db")
    while not (folder / "r.db.part-0").exists():
        assert running.poll() is None, running.communicate()
        time.sleep(0.01)
    running.send_signal(signal.SIGSTOP)
    for rank in (None, (0, 1), (1, 2), (2, 3)):
        ended(survey(folder, "pocket", "many.txt", "r.db", rank=rank), 1, "another survey writes r.db")
    running.kill()
    running.communicate()
    (folder / "other.txt").write_text("Tom called Anna .\n")
    bert = folder / "bert_tiny"
    before = left_over(folder, "r.db")
    for model, texts, more, says in [
        (bert, "many.txt", [], ["of the checkpoint", "pocket", str(bert)]),
        ("pocket", "other.txt", [], ["the texts of", "many.txt", "other.txt"]),
        ("pocket", "many.txt", ["--length", 30], ["pieces of 256, not 30, tokens"]),
        ("pocket", "many.txt", ["--limit", 3], ["all texts, not the first 3 texts"]),
    ]:
        ended(survey(folder, model, texts, "r.db", *more), 1, ["r.db.part-0 belongs to", *says])
    assert [name for name in before if not name.endswith(".lock")] == left_over(folder, "r.db")
    ended(survey(folder, "pocket", "many.txt", "r.db"))
    assert content(folder / "r.db") == whole
    ended(survey(folder, "pocket", "other.txt", "r.db"), 1, ["r.db belongs to", "other.txt"])
    assert content(folder / "r.db") == whole
    (folder / "notes.db").write_text("not a survey")
    ended(survey(folder, "pocket", "other.txt", "notes.db"), 1, "is not an SQLite database")
    assert (folder / "notes.db").read_text() == "not a survey"


def check_full_disk(folder, whole):
    limited = lambda size: lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    for size in (40_000, 450_000):  # too small for the part, then for the file
        out = ended(survey(folder, "pocket", "many.txt", "f.db", preexec_fn=limited(size)), 1, "cannot write f.db")
        assert "free some space" in out, out
        assert not (folder / "f.db").exists()
    ended(survey(folder, "pocket", "many.txt", "f.db"))
    assert content(folder / "f.db") == whole and left_over(folder, "f.db") == []
    ended(survey(folder, "pocket", "many.txt", "/dev/full"), 1, "/dev/full")
    ended(survey(folder, "pocket", "many.txt", "nowhere/x.db"), 1, "cannot write nowhere/x.db")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_corpus(folder)
        (folder / "many.txt").write_text("\n".join(sentences(4, 200, 60)) + "\n")
        ended(survey(folder, "pocket", "many.txt", "one.db"))
        whole = content(folder / "one.db")
        check_processes(folder, whole)
        within = check_kills(folder, whole)
        check_refusals(folder, whole)
        check_full_disk(folder, whole)
    print(f"{compared} numbers agree with NumPy; {within} kills came between two blocks")


if __name__ == "__main__":
    main()
