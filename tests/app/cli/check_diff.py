#!/usr/bin/env python3
"""check_diff.py PROGRAM DATA: recomputes the output of `headscope diff` with NumPy.

Two checkpoints differ in tensors that this script changed. Norms come from the files, patterns from `headscope trace`,
effects from `headscope explain`."""
import csv
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy

from check_files import read_safetensors, write_safetensors

PROGRAM, DATA = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
compared = 0


def call(*arguments, code=0, says=""):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=300)
    assert done.returncode == code, (arguments, done.returncode, done.stderr)
    assert says in done.stderr, (arguments, done.stderr)
    return done.stdout


def close(got, want, what):
    global compared
    if want is None or got is None:
        assert got is want, (what, got, want)
    else:
        assert abs(got - want) <= 1e-5 * max(1e-3, abs(want)), (what, got, want)
    compared += 1


def relative(a, b):
    a, b = a.astype(float), b.astype(float)
    apart, norm = numpy.linalg.norm(b - a), numpy.linalg.norm(a)
    return 0.0 if apart == 0 else None if norm == 0 else apart / norm


def changed_copy(model, to, change):
    """Copies a golden model and changes its tensors."""
    shutil.copytree(model, to)
    tensors, _ = read_safetensors(model / "model.safetensors")
    tensors = {name: tensor.copy() for name, tensor in tensors.items()}
    change(tensors)
    (to / "model.safetensors").unlink()
    write_safetensors(to / "model.safetensors", tensors)
    return tensors


def gpt2_heads(tensors, layer, H):
    """Returns the matrices of each head: columns of W_Q, W_K, W_V, rows of W_O."""
    packed, out = (tensors[f"transformer.h.{layer}.attn.{name}.weight"] for name in ("c_attn", "c_proj"))
    D = packed.shape[0]
    columns = lambda n, h: packed[:, n * D + h * (D // H) : n * D + (h + 1) * (D // H)]
    return [{"W_Q": columns(0, h), "W_K": columns(1, h), "W_V": columns(2, h), "W_O": out[h * (D // H) : (h + 1) * (D // H)]}
            for h in range(H)]  # fmt: skip


def llama_heads(tensors, layer, H):
    q, k, v, o = (tensors[f"model.layers.{layer}.self_attn.{name}_proj.weight"].T for name in "qkvo")
    width = q.shape[1] // H
    share = H // (k.shape[1] // width)
    columns = lambda w, h: w[:, h * width : (h + 1) * width]
    return [{"W_Q": columns(q, h), "W_K": columns(k, h // share), "W_V": columns(v, h // share), "W_O": o[h * width : (h + 1) * width]}
            for h in range(H)]  # fmt: skip


def weights_of(model, ids, folder):
    call("trace", "--model", model, "--ids", ids, "--stages", "weights", "-o", folder / "t.safetensors")
    tensors, _ = read_safetensors(folder / "t.safetensors")
    return numpy.concatenate([tensors[f"layers.{l}.weights"] for l in range(len([n for n in tensors if n.endswith(".weights")]))]), tensors["logits"]


def head_parts(model, ids, token):
    made = json.loads(call("explain", "--what", "logits", "--model", model, "--ids", ids, "--token-id", token))
    return {part["name"]: part["value"] for part in made["writers"]}


def check_model(folder, name, heads_of, change):
    base, tuned = DATA / "models" / name, folder / (name + "_tuned")
    before, _ = read_safetensors(base / "model.safetensors")
    after = changed_copy(base, tuned, change)
    config = json.loads((base / "config.json").read_text())
    H, layers = (config.get(a) or config.get(b) for a, b in (("n_head", "num_attention_heads"), ("n_layer", "num_hidden_layers")))
    made = json.loads(call("diff", base, tuned, "--json"))
    rows = {row["name"]: row for row in made["tensors"]}
    assert set(rows) == set(before) and made["only_a"] == made["only_b"] == [], set(rows) ^ set(before)
    for tensor, row in rows.items():
        a, b = before[tensor].astype(float), after[tensor].astype(float)
        assert row["shape"] == list(a.shape)
        close(row["relative"], relative(a, b), tensor)
        close(row["norm"], numpy.linalg.norm(a), tensor)
        close(row["difference"], numpy.linalg.norm(b - a), tensor)
        close(row["largest"], abs(b - a).max(), tensor)
    assert len(made["heads"]) == layers * H
    for row in made["heads"]:
        a, b = (heads_of(tensors, row["layer"], H)[row["head"]] for tensors in (before, after))
        for matrix in a:
            close(row[matrix], relative(a[matrix], b[matrix]), (row, matrix))
        flat = lambda matrices: numpy.concatenate([matrix.ravel() for matrix in matrices.values()])
        close(row["all"], relative(flat(a), flat(b)), row)
    check_runs(folder, base, tuned, layers, H)
    check_outputs(folder, base, tuned, before, after, made)
    return base, tuned


def check_runs(folder, base, tuned, layers, H):
    texts = ["5,7,11,2", "9,3,3,8,1,30", "4"]
    (folder / "set.jsonl").write_text("".join(json.dumps({"text": [int(i) for i in ids.split(",")]}) + "\n" for ids in texts) + '{"text": [100000]}\n')
    made = json.loads(call("diff", base, tuned, "--prompts", folder / "set.jsonl", "--json", says="line 4: "))
    assert [one["line"] for one in made["texts"]] == [1, 2, 3] and made["failed"][0]["line"] == 4
    patterns, effects = numpy.zeros((layers, H)), numpy.zeros((layers, H))
    for ids, text in zip(texts, made["texts"]):
        (a, logits_a), (b, logits_b) = (weights_of(model, ids, folder) for model in (base, tuned))
        patterns += abs(b.astype(float) - a).mean(axis=(-1, -2)).reshape(layers, H) / len(texts)
        last = [logits[0, -1].astype(float) for logits in (logits_a, logits_b)]
        logs = [x - x.max() - numpy.log(numpy.exp(x - x.max()).sum()) for x in last]
        close(text["divergence"], (numpy.exp(logs[0]) * (logs[0] - logs[1])).sum(), "divergence")
        assert text["next_a"]["id"] == last[0].argmax() and text["next_b"]["id"] == last[1].argmax()
        parts = [head_parts(model, ids, text["next_a"]["id"]) for model in (base, tuned)]
        for layer in range(layers):
            for head in range(H):
                name = f"L{layer}H{head}"
                effects[layer, head] += (parts[1][name] - parts[0][name]) / len(texts)
    for row in made["heads"]:
        close(row["pattern"], patterns[row["layer"], row["head"]], ("pattern", row))
        close(row["effect"], effects[row["layer"], row["head"]], ("effect", row))
    assert abs(patterns).max() > 1e-4 and abs(effects).max() > 1e-4
    one = json.loads(call("diff", base, tuned, "--ids", texts[0], "--json"))
    assert one["texts"][0]["divergence"] == made["texts"][0]["divergence"]
    call("diff", base, tuned, "--prompts", folder / "set.jsonl", "-o", folder / "set.safetensors")
    tensors, _ = read_safetensors(folder / "set.safetensors")
    assert abs(tensors["heads.pattern"] - patterns).max() < 1e-6 and abs(tensors["heads.effect"] - effects).max() < 1e-4


def check_outputs(folder, base, tuned, before, after, made):
    for name in ("d.json", "d.csv", "d.safetensors", "d.patch.safetensors"):
        call("diff", base, tuned, "-o", folder / name)
    assert json.loads((folder / "d.json").read_text()) == made
    with open(folder / "d.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["name"] for row in rows if row["what"] == "tensor"] == [row["name"] for row in made["tensors"]]
    for row, want in zip(rows, [*made["tensors"], *made["heads"]]):
        for column in ("relative", "difference", "W_Q", "W_O"):
            if column in want:
                assert (float(row[column]) if row[column] else None) == want[column], (row, want)
    tensors, _ = read_safetensors(folder / "d.safetensors")
    for name in before:
        assert (tensors[name] == after[name] - before[name]).all(), name
    # The patch turns one into the other.
    ids = "5,7,11,2,9"
    call("trace", "--model", base, "--ids", ids, "--patch", folder / "d.patch.safetensors", "--stages", "weights,output", "-o", folder / "p.safetensors")
    call("trace", "--model", tuned, "--ids", ids, "--stages", "weights,output", "-o", folder / "q.safetensors")
    patched, _ = read_safetensors(folder / "p.safetensors")
    want, _ = read_safetensors(folder / "q.safetensors")
    for name in want:
        assert (patched[name] == want[name]).all(), name
    table = call("diff", base, tuned, "--top", 3).splitlines()
    largest = max((row for row in made["tensors"] if row["relative"] is not None), key=lambda row: row["relative"])
    assert any(largest["name"] in line for line in table), table


def check_families(folder):
    """Checks that the patch of a checkpoint whose tensors all differ turns one into the other, bit for bit."""
    global compared
    draw = numpy.random.default_rng(6)

    def change(tensors):
        for tensor in tensors.values():
            if tensor.dtype == numpy.float32:
                tensor += 0.01 * draw.normal(size=tensor.shape).astype("<f4")

    patch = folder / "all.patch.safetensors"
    for name in ("mixtral_tiny", "gemma2_tiny", "gpt_neox_tiny", "phi3_tiny", "olmo2_tiny", "gpt_oss_tiny"):
        base, tuned = DATA / "models" / name, folder / name
        changed_copy(base, tuned, change)
        assert not call("diff", base, tuned, "--ids", "3,5,7").splitlines()[1].startswith("0 of "), name
        call("diff", base, tuned, "-o", patch)
        for model, out, more in ((base, "p.safetensors", ["--patch", patch]), (tuned, "q.safetensors", [])):
            call("trace", "--model", model, "--ids", "3,5,7", *more, "-o", folder / out)
        patched, want = (read_safetensors(folder / out)[0] for out in ("p.safetensors", "q.safetensors"))
        assert patched.keys() == want.keys() and all((patched[key] == want[key]).all() for key in want), name
        compared += len(want)
    changed_copy(DATA / "models/bert_tiny", folder / "bert", change)
    call("diff", DATA / "models/bert_tiny", folder / "bert", "-o", patch, code=1, says="cannot be held as edits")
    # Tensors of images have five axes, and are left out.
    images = DATA / "models/qwen2_5_vl_tiny"
    made = json.loads(call("diff", images, images, "--json"))
    assert made["tensors"] and not any("visual" in row["name"] for row in made["tensors"])


def check_faults(folder):
    base = DATA / "models/gpt2_tiny"
    table = call("diff", base, base)
    count = table.splitlines()[1]
    assert count.startswith("0 of ") and count.endswith("tensors differ"), table
    same = json.loads(call("diff", base, base, "--ids", "5,7,11", "--json"))
    assert all(row["relative"] == 0 for row in same["tensors"]) and all(row["pattern"] == row["effect"] == 0 for row in same["heads"])
    call("diff", base, DATA / "models/llama_tiny_tied", code=1, says="have different shapes")
    shutil.copytree(base, folder / "other")
    tensors, _ = read_safetensors(base / "model.safetensors")
    name = next(name for name in tensors if name.endswith("wpe.weight"))
    tensors[name] = tensors[name][:-1]
    (folder / "other/model.safetensors").unlink()
    write_safetensors(folder / "other/model.safetensors", tensors)
    config = json.loads((base / "config.json").read_text())
    config["n_positions"] -= 1
    config.pop("n_ctx", None)
    (folder / "other/config.json").unlink()
    (folder / "other/config.json").write_text(json.dumps(config))
    call("diff", base, folder / "other", code=1, says=name + " has shape")
    call("diff", base, folder / "nothing", code=1)
    call("diff", base, code=2)
    call("diff", base, base, "-o", folder / "a.md", code=1, says="use one of these endings")
    call("diff", base, base, "--top", 0, code=1)


def check_adapter(folder):
    """Compares a base with a LoRA adapter: W + s B A."""
    base = DATA / "models/llama_tiny_untied"
    adapter = folder / "adapter"
    adapter.mkdir()
    draw = numpy.random.default_rng(5)
    tensors, _ = read_safetensors(base / "model.safetensors")
    name = "model.layers.1.self_attn.q_proj"
    rows, columns = tensors[name + ".weight"].shape
    A, B = draw.normal(size=(2, columns)).astype("<f4"), draw.normal(size=(rows, 2)).astype("<f4")
    prefix = "base_model.model." + name
    write_safetensors(adapter / "adapter_model.safetensors", {prefix + ".lora_A.weight": A.astype("<f4"), prefix + ".lora_B.weight": B})
    (adapter / "adapter_config.json").write_text(json.dumps({"peft_type": "LORA", "base_model_name_or_path": str(base), "r": 2,
                                                             "lora_alpha": 4, "target_modules": ["q_proj"], "task_type": "CAUSAL_LM"}))
    made = json.loads(call("diff", base, adapter, "--json"))
    for row in made["tensors"]:
        own = tensors[row["name"]].astype(float)
        changed = row["name"] == name + ".weight"
        close(row["relative"], relative(own, own + 2 * B.astype(float) @ A) if changed else 0.0, row["name"])
    assert {(row["layer"], row["W_K"], row["W_V"], row["W_O"]) for row in made["heads"]} == {(0, 0, 0, 0), (1, 0, 0, 0)}
    assert all((row["W_Q"] > 0) == (row["layer"] == 1) for row in made["heads"])


def main():
    draw = numpy.random.default_rng(4)
    noise = lambda tensor, size: tensor.__iadd__(size * draw.normal(size=tensor.shape).astype("<f4"))

    def change_gpt2(tensors):
        noise(tensors["transformer.h.0.attn.c_attn.weight"], 0.1)
        noise(tensors["transformer.h.1.attn.c_proj.weight"], 0.05)
        noise(tensors["transformer.h.1.mlp.c_fc.weight"], 0.02)
        noise(tensors["transformer.h.1.ln_1.bias"], 0.01)
        tensors["transformer.wte.weight"][7] *= 1.5
        tensors["transformer.wpe.weight"][2:4] += 0.25

    def change_llama(tensors):
        for part in "kvo":
            noise(tensors[f"model.layers.1.self_attn.{part}_proj.weight"], 0.1)
        noise(tensors["model.layers.0.mlp.gate_proj.weight"], 0.1)
        noise(tensors["model.norm.weight"], 0.1)
        tensors["lm_head.weight"][3] -= 0.5

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_model(folder, "gpt2_tiny", gpt2_heads, change_gpt2)
        check_model(folder, "llama_tiny_untied", llama_heads, change_llama)
        check_families(folder)
        check_faults(folder)
        check_adapter(folder)
    print(f"diff: {compared} numbers agree")


if __name__ == "__main__":
    main()
