#!/usr/bin/env python3
"""check_commands.py PROGRAM SOURCES: runs the commands that README and the manual print, and checks that each exits with 0.
Makes the models, texts and files that they name, as small as the commands allow."""
import array
import json
import math
import os
import pathlib
import random
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile

PROGRAM, SOURCES = sys.argv[1], pathlib.Path(sys.argv[2])
# Pages whose commands have their own test, because films take long and toy models need PyTorch.
OTHERS = {"recording.md": "check_record.py", "toy-models.md": "check_layouts.py"}
# Commands that are not run, each by a part of it, with the reason.
NOT_RUN = {
    "headscope --": "opens a window and stays",
    "headscope my-lesson.md": "opens a window and stays",
    "headscope pocket --sentences": "opens a window and stays",
    "headscope-bench": "measures the machine",
    "headscope get": "downloads have a test of their own",
    "EleutherAI/": "a model that a download brings",
    "headscope record": "films have a test of their own",
    "mine.headscope": "a file that a program of the reader writes",
    "--haystack BOOK.txt": "a text of 2,000 tokens, thirty times",
}
VOCAB = 4096  # the commands name ids up to 3797


def write_safetensors(path, tensors):
    """Writes float32 tensors of these shapes with random numbers."""
    draws = random.Random(1)
    block = array.array("f", (draws.gauss(0, 0.05) for _ in range(4096))).tobytes()
    header, data = {}, bytearray()
    for name, shape in tensors.items():
        size = 4 * math.prod(shape)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + size]}
        data += (block * (size // len(block) + 1))[:size]
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def write_decoder(folder):
    """Writes a Llama of 12 layers with pocket's tokenizer."""
    D, d_ff, layers = 64, 64, 12
    config = {"model_type": "llama", "hidden_size": D, "intermediate_size": d_ff, "num_hidden_layers": layers,
              "num_attention_heads": 8, "num_key_value_heads": 8, "vocab_size": VOCAB, "hidden_act": "silu",
              "max_position_embeddings": 8192, "rope_theta": 10000.0, "rms_norm_eps": 1e-5, "tie_word_embeddings": True,
              "bos_token_id": 0, "eos_token_id": 1}  # fmt: skip
    shapes = {"model.embed_tokens.weight": [VOCAB, D], "model.norm.weight": [D]}
    for layer in range(layers):
        name = f"model.layers.{layer}."
        shapes |= {f"{name}self_attn.{part}_proj.weight": [D, D] for part in "qkvo"}
        shapes |= {f"{name}mlp.{part}_proj.weight": [d_ff, D] for part in ("gate", "up")}
        shapes |= {name + "mlp.down_proj.weight": [D, d_ff], name + "input_layernorm.weight": [D],
                   name + "post_attention_layernorm.weight": [D]}  # fmt: skip
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config))
    write_safetensors(folder / "model.safetensors", shapes)
    shutil.copy(SOURCES / "assets/models/pocket/tokenizer.json", folder)


def write_adapter(folder, base):
    """Writes a LoRA adapter of the decoder."""
    folder.mkdir()
    config = {"peft_type": "LORA", "base_model_name_or_path": "org/" + base, "r": 2, "lora_alpha": 4, "target_modules": ["q_proj"]}
    (folder / "adapter_config.json").write_text(json.dumps(config))
    module = "base_model.model.model.layers.0.self_attn.q_proj"
    write_safetensors(folder / "adapter_model.safetensors", {module + ".lora_A.weight": [2, 64], module + ".lora_B.weight": [64, 2]})


def write_encoder_decoder(folder):
    """Writes the tests' T5 with a larger vocabulary and pocket's tokenizer."""
    golden = SOURCES / "tests/data/models/t5_tiny"
    config = json.loads((golden / "config.json").read_text()) | {"vocab_size": VOCAB}
    data = (golden / "model.safetensors").read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    entries = json.loads(data[8 : 8 + length])
    shapes = {name: entry["shape"] for name, entry in entries.items() if name != "__metadata__"}
    shapes = {name: [VOCAB, *shape[1:]] if shape[0] == 160 else shape for name, shape in shapes.items()}
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config))
    write_safetensors(folder / "model.safetensors", shapes)
    shutil.copy(SOURCES / "assets/models/pocket/tokenizer.json", folder)


def write_bert(folder):
    """Writes the tests' BERT with the vocabulary of a tokenizer that supports pairs."""
    golden, tokenizer = SOURCES / "tests/data/models/bert_tiny", SOURCES / "tests/data/tokenizers/bert_like_uncased"
    config = json.loads((golden / "config.json").read_text())
    words = len(json.loads((tokenizer / "tokenizer.json").read_text())["model"]["vocab"])
    data = (golden / "model.safetensors").read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    entries = json.loads(data[8 : 8 + length])
    shapes = {name: entry["shape"] for name, entry in entries.items() if name != "__metadata__"}
    shapes = {name: [words, *shape[1:]] if shape[0] == config["vocab_size"] else shape for name, shape in shapes.items()}
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config | {"vocab_size": words}))
    write_safetensors(folder / "model.safetensors", shapes)
    shutil.copy(tokenizer / "tokenizer.json", folder)


def write_attention(folder):
    """Writes weights of 12 layers with 12 heads, in which every filter finds something to remove."""
    T = 6
    weights = [1 / T] * (12 * 12 * T * T)
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': (12, 12, {T}, {T}), }}".ljust(117) + "\n"
    magic = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header))
    (folder / "FILE.npy").write_bytes(magic + header.encode() + array.array("f", weights).tobytes())
    tokens = ["[CLS]", "the", "har", "##bour", "was", "[SEP]"]
    (folder / "FILE.tokens.json").write_text(json.dumps(tokens))


def write_problem(path, command):
    """Writes the problem that a command names, with its number of key/value heads and tokens."""
    heads, kv_heads = 8, 2 if "--kv-heads 2" in command else 8
    T = 66048 if "65536:66048" in command else 300
    D = 4 * heads
    write_safetensors(path, {"X": [T, D], "W_Q": [D, D], "W_K": [D, 4 * kv_heads], "W_V": [D, 4 * kv_heads], "W_O": [D, D]})


def prepare(folder):
    write_decoder(folder / "CHECKPOINT")
    shutil.copytree(folder / "CHECKPOINT", folder / "BASE")
    write_adapter(folder / "ADAPTER", "BASE")
    write_encoder_decoder(folder / "T5")
    write_bert(folder / "BERT")
    write_attention(folder)
    for name in ("batch.npz", "triple.npz"):
        shutil.copy(SOURCES / "tests/data/attention" / name, folder)
    write_safetensors(folder / "changed.safetensors", {"layers.3.W_Q": [64, 64]})
    sentence = "Tom had a dog. The dog was big. One day Tom went to the park with the dog. "
    (folder / "corpus.txt").write_text((sentence + "\n") * 4)
    (folder / "story.txt").write_text(sentence * 300)
    shutil.copy(SOURCES / "assets/lessons/masks.md", folder / "lesson.md")
    progress = json.dumps({"masks": {"furthest": 1, "page": 1, "answers": [[0, 1]], "done": []}})
    (folder / "anna").mkdir()
    for name in ("anna/course.json", "ben.json"):
        (folder / name).write_text(progress)
    # The lesson that the page on lessons prints, where the reader saves it and in the folder of the reader's lessons.
    page = (SOURCES / "assets/manual/lessons.md").read_text()
    lesson = re.search(r"^````\n(.*?)^````$", page, re.S | re.M)[1]
    lessons = folder / ".local/share/headscope/lessons"
    lessons.mkdir(parents=True)
    for place in (folder, lessons):
        (place / "my-lesson.md").write_text(lesson)


def commands_of(page):
    """Returns the commands in the fenced blocks of a page, split at &&, without the remark after two blanks."""
    for kind, block in re.findall(r"^```(\w*)\n(.*?)^```", page.read_text(), re.S | re.M):
        for line in block.splitlines():
            for part in re.split(r" && ", line) if kind in ("", "sh") else []:
                if part.startswith("headscope "):
                    yield re.sub(r"\s{2,}\S.*$", "", part)


def words_of(command):
    names = {"FILE": "lesson.md" if command.startswith("headscope lesson") else "FILE.npy", "ID": "first-lesson", "N": "1",
             "DIR": str(SOURCES / "assets/lessons"), "PICTURE.png": "picture.png", "LESSON.html": "lesson.html",
             "[FOLDER...]": "."}  # fmt: skip
    return [names.get(word, word) for word in shlex.split(command)[1:]]


def run(folder, command):
    if "problem.safetensors" in command:
        write_problem(folder / "problem.safetensors", command)
    words = words_of(command)
    if "corpus.db" in command and "--texts" in command:
        (folder / "corpus.db").unlink(missing_ok=True)
    return subprocess.run([PROGRAM, *words], cwd=folder, capture_output=True, stdin=subprocess.DEVNULL, text=True)


def main(folder):
    os.environ |= {"HEADSCOPE_DEVICE": "cpu", "HOME": str(folder), "HF_HOME": str(folder / "hub")}
    prepare(folder)
    # A file that trace wrote serves as reference.
    made = run(folder, 'headscope trace --model CHECKPOINT --text "The cat sat" -o reference.safetensors')
    assert made.returncode == 0, made.stderr
    seen, faults = set(), []
    for page in [SOURCES / "README.md", *sorted((SOURCES / "assets/manual").glob("*.md"))]:
        for command in commands_of(page):
            if command in seen or page.name in OTHERS or any(part in command for part in NOT_RUN):
                continue
            seen.add(command)
            done = run(folder, command)
            if done.returncode != 0:
                faults.append(f"{page.name}: {command}\n  exit code {done.returncode}: {done.stderr.strip()}")
    for page, test in OTHERS.items():
        assert page in (SOURCES / "tests/CMakeLists.txt").read_text() and (SOURCES / "tests/app/cli" / test).exists(), page
    assert len(seen) > 60, len(seen)
    assert not faults, "\n".join(faults)
    print(f"commands: {len(seen)} printed commands exit 0")


with tempfile.TemporaryDirectory() as name:
    main(pathlib.Path(name))
