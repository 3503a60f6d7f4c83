#!/usr/bin/env python3
"""check_lora.py PROGRAM DATA: checks LoRA adapters against the definition, computed by PyTorch.

For stored models of several families it makes adapters of all their matrices as PEFT saves them (also with rsLoRA, by
module, of an embedding and in a .bin file), and a folder with the merged weights W + s B A. `trace` must give the same
numbers for both. Exits with 77 if torch is not installed."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
try:
    import torch
except ImportError:
    print("skipped: PyTorch is not installed (Debian: python3-torch)")
    sys.exit(SKIPPED)
from tensor_files import read_safetensors, write_safetensors

PROGRAM, DATA = sys.argv[1], pathlib.Path(sys.argv[2])
LIMIT = 2e-5
# Last parts of the names of modules: as many as a family has.
TARGETS = {
    "gpt2_tiny": ["c_attn", "c_proj", "c_fc"],
    "llama_tiny_untied": ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj", "embed_tokens", "lm_head"],
    "phi3_tiny": ["qkv_proj", "gate_up_proj", "o_proj"],
    "gpt_neox_tiny": ["query_key_value", "dense", "dense_h_to_4h", "dense_4h_to_h"],
    "bert_tiny": ["query", "value", "dense"],
    "t5_tiny": ["q", "v", "o", "wi"],
    "qwen3_moe_tiny": ["q_proj", "up_proj", "down_proj", "gate"],
    "gptj_tiny": ["q_proj", "v_proj"],
    "gemma2_tiny": ["q_proj", "v_proj", "down_proj"],
    "bloom_tiny": ["query_key_value"],
    "modernbert_tiny": ["Wqkv", "Wo", "Wi"],
    "falcon_tiny": ["query_key_value", "dense"],
}  # fmt: skip


def run(*arguments):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, f"{arguments}: exit code {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout


def trace(model, out, t5):
    run("trace", "--model", model, "--ids", "3,7,1,9,4", *(["--decoder-ids", "0,5,2"] if t5 else []), "--format",
        "safetensors", "-o", out)  # fmt: skip
    return read_safetensors(out)


def largest(a, b):
    assert a.keys() == b.keys(), a.keys() ^ b.keys()
    worst = 0.0
    for name in a:
        if a[name].is_floating_point() and a[name].numel():
            worst = max(worst, (a[name].double() - b[name].double()).abs().max().item())
    return worst


def check(name, targets, work, rooted, binary):
    torch.manual_seed(len(name))
    golden = DATA / "models" / name
    base, tuned, merged = work / (name + "-base"), work / (name + "-lora"), work / (name + "-merged")
    for folder in (base, merged):
        folder.mkdir()
        shutil.copy(golden / "config.json", folder)
    shutil.copy(golden / "model.safetensors", base)
    tuned.mkdir()
    tensors = {key: value.float() for key, value in read_safetensors(golden / "model.safetensors").items()}
    adapter, count, special = {}, 0, ""
    for key in sorted(tensors):
        module, part = key.rsplit(".", 1)
        if part != "weight" or tensors[key].dim() != 2 or module.split(".")[-1] not in targets:
            continue
        rows, cols = tensors[key].shape
        r = 2 + count % 3
        conv = name.startswith("gpt2")
        special = special or module
        alpha = 5.0 if module == special else 3.0
        scale = alpha / (r**0.5 if rooted else r)
        place = "base_model.model." + module
        if module.endswith("embed_tokens"):
            A, B = torch.randn(r, rows) * 0.1, torch.randn(cols, r) * 0.1
            adapter |= {place + ".lora_embedding_A": A, place + ".lora_embedding_B": B}
            change = (B @ A).T
        else:
            A, B = torch.randn(r, rows if conv else cols) * 0.1, torch.randn(cols if conv else rows, r) * 0.1
            adapter |= {place + ".lora_A.weight": A, place + ".lora_B.weight": B}
            change = (B @ A).T if conv else B @ A
        tensors[key] = (tensors[key].double() + scale * change.double()).float()
        count += 1
    assert count >= 2, f"{name}: no modules"
    config = {"peft_type": "LORA", "base_model_name_or_path": "org/" + base.name, "r": 2, "lora_alpha": 3, "lora_dropout": 0.1,
              "use_rslora": rooted, "alpha_pattern": {special: 5}, "target_modules": targets, "task_type": "CAUSAL_LM",
              "fan_in_fan_out": name.startswith("gpt2"), "use_dora": False, "modules_to_save": None}  # fmt: skip
    (tuned / "adapter_config.json").write_text(json.dumps(config))
    if binary:
        torch.save(adapter, tuned / "adapter_model.bin")
    else:
        write_safetensors(tuned / "adapter_model.safetensors", adapter)
    write_safetensors(merged / "model.safetensors", tensors)
    t5 = name.startswith("t5")
    wanted, found = trace(merged, work / "merged.safetensors", t5), trace(tuned, work / "tuned.safetensors", t5)
    before = trace(base, work / "base.safetensors", t5)
    worst, change = largest(wanted, found), largest(before, found)
    assert worst < LIMIT and change > 1e-3, f"{name}: {worst} from the merged weights, {change} from the base"
    info = json.loads(run("model", "info", tuned, "--json"))
    assert info["adapter"]["tensors"] == count and info["adapter"]["base"] == str(base), info["adapter"]
    assert sorted(info["adapter"]["modules"]) == sorted(set(targets)), info["adapter"]
    print(f"{name}: {count} modules, {worst:.1e} from the merged weights")


with tempfile.TemporaryDirectory() as temporary:
    for i, (name, targets) in enumerate(TARGETS.items()):
        check(name, targets, pathlib.Path(temporary), i % 2 == 1, i % 3 == 2)
