#!/usr/bin/env python3
"""check_prompts.py PROGRAM DATA: compares sets of prompts with one call for each prompt.

Every result of a set must equal that of the command for the prompt alone. Means and spreads are compared with Python's
`statistics`, the CSV files are written and read with `csv`. The other checks: a set that was stopped, killed or divided
among several processes gives the same file, and lines that cannot be used are named."""
import csv
import json
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import numpy

from check_files import read_safetensors, write_safetensors

PROGRAM, DATA = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
compared = 0


def call(*arguments, code=0, rank=None, says=""):
    environment = dict(os.environ)
    if rank is not None:
        environment |= dict(zip(("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), map(str, rank)))
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == code, (arguments, done.returncode, done.stderr)
    assert says in done.stderr, (arguments, done.stderr)
    return done.stdout


def numbers_of(value, path=()):
    """Returns the numbers of a result that are not whole, by their place."""
    if isinstance(value, dict):
        return {k: v for key, inner in value.items() for k, v in numbers_of(inner, (*path, key)).items()}
    if isinstance(value, list):
        return {k: v for n, inner in enumerate(value) for k, v in numbers_of(inner, (*path, n)).items()}
    return {path: value} if isinstance(value, float) else {}


def check_statistics(made, least):
    """Compares every mean and spread; `least`: the number of places that have one."""
    global compared
    all_numbers = [numbers_of(one) for one in made["prompts"]]
    means, spreads = numbers_of(made["mean"]), numbers_of(made["spread"])
    assert means.keys() == spreads.keys() and len(means) >= least, (len(means), least)
    for place, mean in means.items():
        values = [numbers[place] for numbers in all_numbers if place in numbers]
        assert abs(mean - statistics.fmean(values)) <= 1e-12 * max(1, abs(mean)), (place, mean)
        assert abs(spreads[place] - statistics.pstdev(values)) <= 1e-9 * max(1, abs(mean)), (place, spreads[place])
        compared += 2


def read_lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def check_commands(folder):
    """Checks all four commands in all three formats of prompts, and of results."""
    global compared
    lines = read_lines(folder / "ioi.jsonl")
    (folder / "ioi.txt").write_text("".join(line["clean"] + "\r\n" for line in lines))
    with open(folder / "ioi.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, ["note", "answer", "against", "clean", "corrupted"], quoting=csv.QUOTE_ALL)
        writer.writeheader()
        writer.writerows({"note": 'a "quoted",\nnote', **line} for line in lines)
    tokens = lambda line: ["--answer", line["answer"], "--against", line["against"]]
    text = lambda line: ["--text", line["clean"]]
    pair = lambda line: ["--clean", line["clean"], "--corrupted", line["corrupted"], *tokens(line)]
    for command, one, least in [
        (["explain", "--what", "logits"], text, 35),
        (["explain", "--what", "ablation", "--ablation", "mean"], text, 97),
        (["explain", "--what", "lens", "--position", 3], text, 0),
        (["heads", "--scores", "first,previous,copying", "--json"], text, 96),
        (["heads", "--effect", "--gain", "2.7=0", "--json"], text, 400),
        (["generate", "--tokens", 3, "--top", 2, "--json"], text, 6),
        (["patch", "--what", "head"], pair, 34),
        (["patch", "--what", "residual"], pair, 2),
        (["patch", "--from", "0.4"], pair, 34),
    ]:
        command = [*command, "--model", "pocket"]
        single = [json.loads(call(*command, *one(line))) for line in lines]
        for name in ["ioi.jsonl", "ioi.csv"] + (["ioi.txt"] if one is text else []):
            made = json.loads(call(*command, "--prompts", folder / name))
            assert made["prompts"] == single, (command, name)
            assert made["failed"] == [] and len(made["lines"]) == len(lines), made["failed"]
            compared += len(single)
        check_statistics(made, least)
        if "--json" in command:
            command.remove("--json")
        call(*command, "--prompts", folder / "ioi.jsonl", "-o", folder / "out.json")
        assert json.loads((folder / "out.json").read_text())["prompts"] == single
    # All paths from a head are the single ones.
    paths = json.loads(call("patch", "--model", "pocket", *pair(lines[0]), "--from", "1.5"))
    assert paths["what"] == "paths" and not any(map(any, paths["recovered"][:2])), paths
    for to in ((2, 7), (3, 0), (3, 7)):
        one = json.loads(call("patch", "--model", "pocket", *pair(lines[0]), "--from", "1.5", "--to", "%d.%d" % to))
        assert one["what"] == "path" and one["recovered"] == paths["recovered"][to[0]][to[1]], (to, one["recovered"])
    call("patch", "--model", "pocket", *pair(lines[0]), "--from", "3.1", code=1, says="no later head")
    call("patch", "--model", "pocket", *pair(lines[0]), "--to", "3.1", code=2, says="--from")
    check_ablation(text(lines[0]))
    # The tokens of each line.
    made = json.loads(call("explain", "--what", "logits", "--model", "pocket", "--prompts", folder / "ioi.jsonl", "--answers"))
    for line, result in zip(lines, made["prompts"]):
        want = call("explain", "--what", "logits", "--model", "pocket", *text(line), "--token", line["answer"], "--against", line["against"])
        assert json.loads(want) == result, line
    printed = call("generate", "--tokens", 3, "--model", "pocket", "--prompts", folder / "ioi.txt")
    assert printed == "".join(call("generate", "--tokens", 3, "--model", "pocket", *text(line)) for line in lines)
    table = call("heads", "--model", "pocket", "--prompts", folder / "ioi.txt")
    assert table.startswith(f"mean over {len(lines)} prompts\n") and "\nspread (standard deviation)\n" in table, table


def check_ablation(text):
    """Compares an ablation sweep with runs with a head gain of 0, and composition with its definition by size."""
    command = ["explain", "--model", "pocket", *text, "--what"]
    sweep = json.loads(call(*command, "ablation"))
    token, other = sweep["token"]["id"], 26
    question = ["--token-id", token, "--against-id", other]
    sweep = json.loads(call(*command, "ablation", *question))
    before = json.loads(call(*command, "logits", *question))["logit"]
    assert abs(sweep["logit"] - before) < 1e-4 and len(sweep["heads"]) == 32, (sweep["logit"], before)
    for one in sweep["heads"][::5]:
        gain = f"{one['layer']}.{one['head']}=0"
        after = json.loads(call(*command, "logits", *question, "--gain", gain))["logit"]
        assert abs(one["logit"] - after) < 1e-4 and abs(one["loss"] - (before - after)) < 2e-4, (one, after)
    scores = json.loads(call("heads", "--model", "pocket", *text, "--scores", "effect", "--json"))
    assert max(abs(one["divergence"] - want["effect"]) for one, want in zip(sweep["heads"], scores)) < 1e-6
    averaged = json.loads(call(*command, "ablation", "--ablation", "mean", *question))
    assert averaged["ablation"] == "mean" and averaged["logit"] == sweep["logit"]
    assert max(abs(a["logit"] - b["logit"]) for a, b in zip(averaged["heads"], sweep["heads"])) > 0.01
    call(*command, "ablation", "--layer", 1, code=2)
    call(*command, "logits", "--ablation", "mean", code=2)
    command = ["explain", "--model", "pocket", "--what", "composition"]
    pairs = json.loads(call(*command))["pairs"]
    assert len(pairs) == 6 * 64 and all(0 <= pair[part] <= 1 for pair in pairs for part in ("queries", "keys", "values"))
    largest = lambda pair: max(pair["queries"], pair["keys"], pair["values"])
    assert json.loads(call(*command, "--top", 3))["pairs"] == sorted(pairs, key=largest, reverse=True)[:3]
    of_head = json.loads(call(*command, "--layer", 1, "--head", 4))["pairs"]
    assert of_head == [pair for pair in pairs if "L1H4" in (pair["from"], pair["to"])] and len(of_head) == 24
    call(*command, "--layer", 1, code=2, says="--head")
    call(*command, "--layer", 4, "--head", 0, code=1, says="no head")


def check_files(folder):
    """Compares .csv and .safetensors with .json."""
    global compared
    for command, tensors in [
        (["explain", "--what", "logits"], {"logit": (5,), "writers": (5, 37)}),
        (["explain", "--what", "ablation"], {"logit": (5,), "heads.divergence": (5, 4, 8), "heads.loss": (5, 4, 8)}),
        (["heads"], {"first": (5, 4, 8), "copying": (5, 4, 8)}),
        (["patch", "--what", "q"], {"recovered": (5, 4, 8), "clean": (5,), "corrupted": (5,)}),
        (["generate", "--tokens", 2], {"probabilities": (5, 2)}),
    ]:
        command = [*command, "--model", "pocket", "--prompts", folder / "ioi.jsonl", "-o"]
        for name in ("out.json", "out.csv", "out.safetensors"):
            (folder / name).unlink(missing_ok=True)
            call(*command, folder / name)
        made = json.loads((folder / "out.json").read_text())
        found, metadata = read_safetensors(folder / "out.safetensors")
        assert found["line"].tolist() == made["lines"] == [1, 2, 3, 4, 5]
        for name, shape in tensors.items():
            assert found[name].shape == shape and found["mean." + name].shape == shape[1:], (name, found[name].shape)
            worst = abs(found[name].astype(float).mean(axis=0) - found["mean." + name]).max()
            assert worst <= 1e-5 * max(1, abs(found[name]).max()), (name, worst)
            worst = abs(found[name].astype(float).std(axis=0) - found["spread." + name]).max()
            assert worst <= 1e-5 * max(1, abs(found[name]).max()), (name, worst)
            compared += 2
        if "writers" in tensors:
            names = json.loads(metadata["names"])["writers"]
            assert names == [part["name"] for part in made["prompts"][0]["writers"]]
            values = [[part["value"] for part in one["writers"]] for one in made["prompts"]]
            assert abs(found["writers"] - values).max() < 1e-5
        with open(folder / "out.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        if command[0] == "heads":
            assert len(rows) == 7 * 32 and [row["line"] for row in rows[-64::32]] == ["mean", "spread"]
            flat = [row for one in [*made["prompts"], made["mean"], made["spread"]] for row in one]
            for row, want in zip(rows, flat):
                assert int(row["layer"]) == want["layer"] and int(row["head"]) == want["head"]
                assert float(row["first"]) == want["first"], (row, want)
                compared += 1
        else:
            assert [row["line"] for row in rows] == ["1", "2", "3", "4", "5", "mean", "spread"]
            for row, want in zip(rows, [*made["prompts"], made["mean"], made["spread"]]):
                numbers = numbers_of(want)
                named = {}
                for place, number in numbers.items():
                    where, at = want, []
                    for key in place:
                        named_list = isinstance(where, list) and isinstance(where[key], dict) and "name" in where[key]
                        at.append(where[key]["name"] if named_list else str(key))
                        where = where[key]
                    if at[-1] == "value":
                        at.pop()
                    named[".".join(at)] = number
                for column, cell in row.items():
                    if column != "line":
                        assert float(cell) == named[column], (column, cell)
                        compared += 1


def check_failed(folder):
    """Checks that lines which cannot be used are named, and that the others run."""
    bad = ['{"text": "Tom had a dog."}', "", '{"text": 5.5}', "{", '["a"]', '{"words": "Tom"}',
           '{"text": [0, 300, 301]}', '{"text": [0, 99999]}', b'{"text": "caf\xe9"}']
    (folder / "bad.jsonl").write_bytes(b"\n".join(one if isinstance(one, bytes) else one.encode() for one in bad))
    command = ["explain", "--what", "logits", "--model", "pocket", "--prompts"]
    made = json.loads(call(*command, folder / "bad.jsonl", says="6 lines of 8 could not be used"))
    assert made["lines"] == [1, 7] and [one["line"] for one in made["failed"]] == [3, 4, 5, 6, 8, 9], made["failed"]
    assert made["prompts"][1] == json.loads(call(*command[:-1], "--ids", "0,300,301"))
    for one, says in zip(made["failed"], ["token ids", "this line", "not a JSON object; write {\"text\"", 'no "text"', "99999", "UTF-8"]):
        assert says in one["why"], (one, says)
    (folder / "bad.csv").write_text('text,note\nTom had a dog.,1\none cell\n"Tom had, 2\n')
    made = json.loads(call(*command, folder / "bad.csv", says="line 3: "))
    assert made["lines"] == [2] and [one["line"] for one in made["failed"]] == [3, 4], made
    (folder / "none.jsonl").write_text('{"clean": "Tom had a dog."}\n')
    call("patch", "--what", "head", "--model", "pocket", "--prompts", folder / "none.jsonl", code=1, says='line 1: there is no "corrupted"')
    call(*command, folder / "none.jsonl", "-o", folder / "none.json")
    for name, content, says in [("empty.txt", "\n \n", "has no prompt"), ("words.csv", "word\nTom\n", "no column text"),
                                ("a.md", "Tom", ".txt, .jsonl or .csv")]:  # fmt: skip
        (folder / name).write_text(content)
        call(*command, folder / name, code=1, says=says)
    call(*command, folder / "missing.txt", code=1, says="missing.txt")
    call(*command, folder / "ioi.jsonl", "-o", folder / "a.txt", code=1, says="use one of these endings")
    call(*command, folder / "ioi.jsonl", "--text", "Tom", code=2)
    call(*command, folder / "ioi.jsonl", "--answers", "--token", "Tom", code=2)
    call("explain", "--what", "logits", "--model", "pocket", "--text", "Tom", "--answers", code=2, says="--prompts")
    # Prompts of different lengths have no residual stream in common.
    (folder / "two.jsonl").write_text('{"text": "Tom had a dog."}\n{"text": "Tom had a small dog."}\n')
    call("explain", "--what", "lens", "--model", "pocket", "--prompts", folder / "two.jsonl", "-o", folder / "a.safetensors",
         code=1, says="same shape")  # fmt: skip
    left = [path.name for path in folder.iterdir() if ".part-" in path.name or path.name == "a.safetensors"]
    assert sorted(left) == ["a.safetensors.part-0", "a.safetensors.part-0.done"], left
    for name in left:
        (folder / name).unlink()


def lines_of(part):
    """Returns the number of lines of a file; 0 if it is absent or removed meanwhile."""
    try:
        return len(part.read_bytes().splitlines())
    except FileNotFoundError:
        return 0


def check_resumed(folder):
    """Checks that a set which was stopped or killed continues, also as several processes."""
    command = ["patch", "--what", "residual", "--model", "pocket", "--prompts", folder / "many.jsonl", "-o"]
    call(*command, folder / "whole.json")
    whole = (folder / "whole.json").read_bytes()
    out, part = folder / "parts.json", folder / "parts.json.part-0"
    resumed = 0
    for sent in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        process = subprocess.Popen([PROGRAM, *map(str, command), str(out)], stderr=subprocess.PIPE, text=True)
        done = lines_of(part)
        while process.poll() is None and lines_of(part) < done + 6:
            time.sleep(0.005)
        process.send_signal(sent)
        _, err = process.communicate(timeout=100)
        if out.exists():
            break  # it was faster than the signal
        assert process.returncode == (-sent if sent == signal.SIGKILL else 1), (process.returncode, err)
        assert sent == signal.SIGKILL or "run the same command to resume" in err, err
        resumed += 1
    assert resumed >= 1, "no set was stopped before it was complete"
    if not out.exists():
        with open(part, "ab") as file:
            file.write(b'{"line":7,"resu')  # a line that was cut off
        before = part.read_text().splitlines()[1:-1]
        other = [*command[:2], "head", *command[3:]]
        call(*other, out, code=1, says="belongs to other prompts, options or another model")
        call(*command, out)
        assert before, "nothing was finished before"
    assert out.read_bytes() == whole, "a resumed set differs"
    out.unlink()
    # An outcome of the part is taken, not computed again.
    for _ in range(20):
        out.unlink(missing_ok=True)
        process = subprocess.Popen([PROGRAM, *map(str, command), str(out)])
        while process.poll() is None and lines_of(part) < 4:
            time.sleep(0.002)
        process.kill()
        process.wait()
        if lines_of(part) >= 4:
            break  # else it was complete before it could be killed
    kept = part.read_bytes().splitlines(keepends=True)[:3]
    changed = json.loads(kept[1])
    result = json.loads(changed["result"])
    result["clean"] = 1234.5
    changed["result"] = json.dumps(result)
    part.write_bytes(kept[0] + json.dumps(changed).encode() + b"\n" + kept[2])
    out.unlink(missing_ok=True)
    call(*command, out)
    made = json.loads(out.read_text())
    assert made["prompts"][made["lines"].index(changed["line"])]["clean"] == 1234.5
    out.unlink()
    # Several processes.
    for count in (2, 3):
        environments = [{"PMI_RANK": str(k), "PMI_SIZE": str(count)} for k in range(count)]
        processes = [subprocess.Popen([PROGRAM, *map(str, command), str(out)], env=os.environ | one, stderr=subprocess.PIPE, text=True)
                     for one in environments]  # fmt: skip
        for process in processes:
            _, err = process.communicate(timeout=200)
            assert process.returncode == 0, err
        assert out.read_bytes() == whole, f"{count} processes give another file"
        assert not list(folder.glob("parts.json.*")), list(folder.glob("parts.json.*"))
        call(*command, out, rank=(0, 2), says="exists; remove it")
        out.unlink()
    call(*command[:-1], rank=(0, 2), code=2, says="add -o FILE")


def check_model_changed(folder):
    """Checks that a stopped set is not continued with a LoRA adapter, another one, or changed files of the model."""
    draw = numpy.random.default_rng(5)
    base = folder / "base"
    shutil.copytree(DATA / "models/llama_tiny_untied", base)
    rows, columns = read_safetensors(base / "model.safetensors")[0]["model.layers.1.self_attn.q_proj.weight"].shape
    prefix = "base_model.model.model.layers.1.self_attn.q_proj.lora_"
    for name in ("adapter", "other"):
        (folder / name).mkdir()
        write_safetensors(folder / name / "adapter_model.safetensors",
                          {prefix + "A.weight": draw.normal(size=(2, columns)).astype("<f4"),
                           prefix + "B.weight": draw.normal(size=(rows, 2)).astype("<f4")})  # fmt: skip
        (folder / name / "adapter_config.json").write_text(json.dumps(
            {"peft_type": "LORA", "base_model_name_or_path": str(base), "r": 2, "lora_alpha": 4, "target_modules": ["q_proj"],
             "task_type": "CAUSAL_LM"}))  # fmt: skip
        for file in (folder / name).iterdir():
            os.utime(file, (10**9, 10**9))  # as an archive may write them
    (folder / "some.jsonl").write_text('{"text": [5, 7, 11]}\n{"text": [5, 9, 30]}\n')
    out = folder / "some.json"

    def run(model, **more):
        return call("explain", "--what", "logits", "--model", model, "--prompts", folder / "some.jsonl", "-o", out, **more)

    def stop(model):
        """Leaves the part of one process of two."""
        for path in folder.glob("some.json*"):
            if path.suffix != ".jsonl":
                path.unlink()
        run(model, rank=(0, 2), says="the last process writes")

    def refuse(model):
        run(model, rank=(1, 2), code=1, says="belongs to other prompts, options or another model")

    stop(base)
    refuse(folder / "adapter")
    stop(folder / "adapter")
    refuse(folder / "other")
    refuse(base)
    run(folder / "adapter/adapter_config.json", rank=(1, 2))  # another name of the same model
    for file in (folder / "adapter/adapter_config.json", folder / "adapter/tokenizer_config.json",
                 base / "special_tokens_map.json", base / "generation_config.json"):  # fmt: skip
        stop(folder / "adapter")
        file.write_text(file.read_text().replace(" 4,", " 8,") if file.exists() else "{}")
        refuse(folder / "adapter")
    stop(folder / "adapter")
    run(folder / "adapter", rank=(1, 2))
    assert len(json.loads(out.read_text())["prompts"]) == 2


def check_examples(folder):
    """Checks the sets that the program writes: clean prompts lead to the answer more than corrupted ones do."""
    for task, count in [("ioi", 60), ("greater-than", 40), ("induction", 40)]:
        first = call("prompts", task, "--count", count, "--seed", 3)
        assert first == call("prompts", task, "--count", count, "--seed", 3) != call("prompts", task, "--count", count, "--seed", 4)
        lines = [json.loads(line) for line in first.splitlines()]
        assert len(lines) == count == len({line["clean"] for line in lines}), task
        for line in lines:
            clean, corrupted = line["clean"].split(), line["corrupted"].split()
            assert len(clean) == len(corrupted) and clean != corrupted and line["answer"] != line["against"], line
            words = [word.strip(".,") for word in clean]
            if task == "ioi":
                assert words.count(line["against"]) == 2 and words.count(line["answer"]) == 1, line
            if task == "induction":
                at = words[:-1].index(words[-1])
                assert words[at + 1] == line["answer"], line
        (folder / "task.jsonl").write_text(first)
        made = json.loads(call("patch", "--what", "head", "--model", "pocket", "--prompts", folder / "task.jsonl"))
        assert made["failed"] == [], made["failed"]
        if task != "greater-than":  # pocket has no numbers in its training text
            right = sum(one["clean"] > one["corrupted"] for one in made["prompts"])
            assert right >= 0.9 * count, (task, right)
    call("prompts", "ioi", "--count", 5, "-o", folder / "a.csv")
    with open(folder / "a.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows == [json.loads(line) for line in call("prompts", "ioi", "--count", 5).splitlines()]
    call("prompts", "induction", "--count", 5, "-o", folder / "a.txt")
    assert (folder / "a.txt").read_text().splitlines() == [
        json.loads(line)["clean"] for line in call("prompts", "induction", "--count", 5).splitlines()]
    call("prompts", "ioi", "--count", 0, code=1, says="at least 1")
    call("prompts", "greater-than", "--count", 2, "-o", folder / "b.csv", code=1, says=".jsonl")
    call("prompts", "ioi", "--model", DATA / "models/gpt2_tiny", code=1, says="no tokenizer")
    call("prompts", "names", code=1)


def check_without_tokenizer(folder):
    """Checks prompts that are ids, of a model without a tokenizer."""
    model = DATA / "models/gpt2_tiny"
    (folder / "ids.jsonl").write_text('{"text": "5 7 11"}\n{"text": [5, 9, 30]}\n')
    (folder / "pairs.csv").write_text("clean,corrupted,answer,against\n5 7 11,5 8 11,3,4\n")
    made = json.loads(call("explain", "--what", "logits", "--model", model, "--prompts", folder / "ids.jsonl"))
    assert made["prompts"] == [json.loads(call("explain", "--what", "logits", "--model", model, "--ids", ids)) for ids in ("5,7,11", "5,9,30")]
    made = json.loads(call("patch", "--what", "mlp", "--model", model, "--prompts", folder / "pairs.csv"))
    want = call("patch", "--what", "mlp", "--model", model, "--clean-ids", "5,7,11", "--corrupted-ids", "5,8,11", "--answer-id", 3, "--against-id", 4)
    assert made["prompts"] == [json.loads(want)] and made["mean"] == json.loads(want)
    # An encoder-decoder: the ids are the encoder's, and its decoder has its start token alone.
    command = ["heads", "--model", DATA / "models/t5_tiny", "--json"]
    for stack in ("encoder", "decoder", "cross"):
        made = json.loads(call(*command, "--stack", stack, "--prompts", folder / "ids.jsonl"))
        assert made["prompts"] == [json.loads(call(*command, "--stack", stack, "--ids", ids)) for ids in ("5,7,11", "5,9,30")], stack


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        call("prompts", "ioi", "--count", 5, "--seed", 1, "-o", folder / "ioi.jsonl")
        call("prompts", "ioi", "--count", 40, "--seed", 2, "-o", folder / "many.jsonl")
        check_commands(folder)
        check_files(folder)
        check_failed(folder)
        check_resumed(folder)
        check_model_changed(folder)
        check_examples(folder)
        check_without_tokenizer(folder)
    print(f"prompts: {compared} results and numbers agree")


if __name__ == "__main__":
    main()
