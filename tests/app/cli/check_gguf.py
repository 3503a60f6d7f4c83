#!/usr/bin/env python3
"""check_gguf.py PROGRAM DATA: checks that GGUF files give the numbers of the checkpoints that they were made from.

tests/peers/write_gguf.py writes the files. Attention weights, hidden states and logits are compared bit by bit with those
of a folder of safetensors with the same parameters: float32 as stored, all other types as NumPy converts them back. Exits
with 77 if NumPy is not installed."""
import json
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

SKIPPED = 77
try:
    import numpy as np
except ImportError:
    print("skipped: NumPy is not installed (Debian: python3-numpy)")
    sys.exit(SKIPPED)
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "peers"))
import write_gguf as gguf  # noqa: E402

IDS = "3,17,34,5,29,2,31,7,20,8,33,11"
MODELS = ["llama_tiny_untied", "llama_tiny_tied", "mistral_tiny", "qwen2_tiny_bf16", "qwen3_tiny", "gemma2_tiny", "gemma3_tiny",
          "phi3_tiny", "gpt_neox_tiny", "gpt2_tiny", "bert_tiny", "gemma_tiny", "phi_tiny", "gpt_bigcode_tiny", "starcoder2_tiny",
          "stablelm_tiny", "mpt_tiny", "bloom_tiny", "falcon_tiny", "olmo2_tiny", "olmoe_tiny", "qwen2_moe_tiny", "qwen3_moe_tiny",
          "mixtral_tiny", "granite_tiny", "granitemoe_tiny", "cohere_tiny", "glm_tiny", "smollm3_tiny", "deepseek_v2_tiny",
          "deepseek_v3_tiny", "gpt_oss_tiny"]  # fmt: skip
TOKENIZERS = ["gpt2_like", "llama3_like", "llama2_like", "gemma_like", "bert_like_uncased"]


def run(program, *arguments, code=0):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == code, f"{arguments}: exit code {done.returncode}: {done.stderr}"
    return done.stdout if code == 0 else done.stderr


def trace(program, model, out, ids=IDS, *more):
    run(program, "trace", "--model", model, "--ids", ids, "-o", out, *more)
    return gguf.read_safetensors(out)


def write_safetensors(path, tensors):
    header, data = {}, b""
    for name, tensor in tensors.items():
        raw = np.ascontiguousarray(tensor, "<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    head = json.dumps(header).encode()
    pathlib.Path(path).write_bytes(struct.pack("<Q", len(head)) + head + data)


def same(got, want, where, left_out=()):
    assert set(want) - set(left_out) <= set(got), f"{where}: {set(want) - set(got)} missing"
    for name, numbers in want.items():
        if name not in left_out:
            assert np.array_equal(got[name], numbers), f"{where}: {name} differs by {np.abs(got[name] - numbers).max()}"


def check_float32(program, models, folder):
    for version, name in enumerate(MODELS):
        out = folder / f"{name}.gguf"
        gguf.convert(models / name, out, version=2 + version % 2)
        want = trace(program, models / name, folder / "want.safetensors")
        got = trace(program, out, folder / "got.safetensors")
        # The format does not have tensors for BERT's head.
        same(got, want, name, left_out=["logits"] if name == "bert_tiny" else [])
        assert name != "bert_tiny" or "logits" not in got
        out.unlink()


def check_other_layouts(program, models, folder):
    """Checks files of 2023 with a tensor for each expert, and of 2024 with one tensor for keys and values of DeepSeek."""
    for name, how in (("mixtral_tiny", {"single": True}), ("deepseek_v2_tiny", {"split_latent": False})):
        out = folder / f"{name}.gguf"
        gguf.convert(models / name, out, **how)
        same(trace(program, out, folder / "got.safetensors"), trace(program, models / name, folder / "want.safetensors"), name)


def check_llama4(program, models, folder):
    """Checks the two kinds of files that there are: with the scale and the chunks of 8192 tokens that llama.cpp has for all
    models, and with rotary positions and the whole text in every layer."""
    whole = {"attention_chunk_size": None, "attn_temperature_tuning": False, "no_rope_layers": [1, 1, 1, 1]}
    for number, change in enumerate(({"floor_scale": 8192, "attention_chunk_size": 8192}, whole)):
        place = folder / f"llama4_{number}"
        place.mkdir()
        config = json.loads((models / "llama4_text_tiny/config.json").read_text())
        (place / "config.json").write_text(json.dumps(config | change))
        shutil.copy(models / "llama4_text_tiny/model.safetensors", place)
        gguf.convert(place, folder / "m.gguf")
        want = trace(program, place, folder / "want.safetensors")
        same(trace(program, folder / "m.gguf", folder / "got.safetensors"), want, str(change))


def check_parts(program, models, folder):
    """Checks a model in three files: any may be named, counts are believed over names, and a missing part is named."""
    place = folder / "parts"
    place.mkdir()
    name = "qwen3_tiny"
    paths = gguf.convert(models / name, place / "m", parts=3)
    want = trace(program, models / name, folder / "want.safetensors")
    for path in [*paths, place]:
        same(trace(program, path, folder / "got.safetensors"), want, path.name)
    other = place / "m-00002-of-00009.gguf"
    paths[1].rename(other)  # a wrong count in the name
    same(trace(program, paths[2], folder / "got.safetensors"), want, "renamed")
    other.unlink()
    error = run(program, "model", "info", paths[0], code=1)
    assert "part 2 is missing" in error and "m-00002-of-00003.gguf" in error, error


def rounded(tensor, kind):
    own = gguf.fitting(tensor, kind)
    return gguf.decode(gguf.encode(tensor, own), own, tensor.shape)


def check_types(program, models, folder):
    """Checks types whose blocks fit tiny models, with a family whose layout does not change before it is rounded."""
    source = models / "qwen3_tiny"
    for kind in ("F16", "BF16", "F64", "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "IQ4_NL"):
        model = folder / kind
        model.mkdir()
        shutil.copy(source / "config.json", model)
        tensors = gguf.read_safetensors(source / "model.safetensors")
        write_safetensors(model / "model.safetensors", {name: rounded(tensor, kind) for name, tensor in tensors.items()})
        gguf.convert(source, folder / "x.gguf", kind)
        info = json.loads(run(program, "model", "info", folder / "x.gguf", "--json"))
        assert info["parameters_by_dtype"].get(kind, 0) > 0 and info["runnable"], info
        same(trace(program, folder / "x.gguf", folder / "got.safetensors"),
             trace(program, model, folder / "want.safetensors"), kind)  # fmt: skip


def check_blocks(program, folder):
    """Checks the blocks of every type, quantized numbers and random bytes, as rows of the embedding."""
    random = np.random.default_rng(5)
    D, rows = 256, 24
    config = {"model_type": "llama", "hidden_size": D, "num_attention_heads": 4, "num_key_value_heads": 2,
              "num_hidden_layers": 1, "intermediate_size": 256, "max_position_embeddings": 64, "rms_norm_eps": 1e-5,
              "rope_theta": 1e4}  # fmt: skip
    shapes = {"output_norm": (D,), "blk.0.attn_norm": (D,), "blk.0.ffn_norm": (D,), "blk.0.attn_q": (D, D),
              "blk.0.attn_k": (D // 2, D), "blk.0.attn_v": (D // 2, D), "blk.0.attn_output": (D, D),
              "blk.0.ffn_gate": (256, D), "blk.0.ffn_up": (256, D), "blk.0.ffn_down": (D, 256)}  # fmt: skip
    for kind, (_, numbers, size, _, _) in gguf.TYPES.items():
        tensors = {}
        for name, shape in shapes.items():
            tensor = random.standard_normal(shape).astype(np.float32) / 8
            own = gguf.fitting(tensor, kind)
            tensors[name + ".weight"] = (own, shape, gguf.encode(tensor, own))
        table = gguf.encode(random.standard_normal((rows, D)).astype(np.float32), kind)
        if numbers > 1:  # bit patterns that no quantizer makes; the scales, which are halves, stay finite
            raw = np.frombuffer(random.bytes(rows * D // numbers * size), np.uint8).reshape(-1, size).copy()
            for at in {"Q2_K": (80, 82), "Q3_K": (108,), "Q6_K": (208,), "Q8_0": (0,), "Q4_0": (0,), "Q5_0": (0,), "IQ4_NL": (0,), "IQ4_XS": (0,),
                       "Q1_0": (0,), "Q2_0": (0,), "TQ1_0": (52,), "TQ2_0": (64,), "MXFP4": (), "NVFP4": ()}.get(kind, (0, 2)):
                raw[:, at + 1] &= 0xBB
            if kind == "MXFP4":  # exponents
                raw[:, 0] = 117 + raw[:, 0] % 20
            if kind == "NVFP4":  # scales without sign
                raw[:, :4] &= 127
            table = table[: len(table) // 2] + raw[len(raw) // 2 :].tobytes()
        tensors["token_embd.weight"] = (kind, (rows, D), table)
        gguf.write(folder / "b.gguf", gguf.keys_of(config), tensors)
        got = trace(program, folder / "b.gguf", folder / "got.safetensors", ",".join(map(str, range(rows))), "--stages", "embedding")
        want = gguf.decode(table, kind, (rows, D))
        assert np.isfinite(want).all()
        assert np.array_equal(got["embedding"][0], want), f"{kind}: {np.abs(got['embedding'][0] - want).max()}"


def check_rotary(program, models, folder):
    """Checks scaled rotary positions, in metadata keys and in a tensor of factors."""
    cases = {
        "linear": ("llama_tiny_tied", {"type": "linear", "factor": 4.0}, 0),
        "yarn": ("qwen3_tiny", {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16}, 0),
        "llama3": ("llama_tiny_untied", {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                                         "original_max_position_embeddings": 32}, 1e-5),
        "longrope": ("phi3_tiny", {"type": "longrope", "short_factor": [1.0, 1.25, 1.5, 2.0], "long_factor": [2.0, 3.0, 4.0, 5.0],
                                   "attention_factor": 1.25, "original_max_position_embeddings": 8}, 0),
        "longrope, short": ("phi3_tiny", {"type": "longrope", "short_factor": [1.0, 1.25, 1.5, 2.0],
                                          "long_factor": [2.0, 3.0, 4.0, 5.0], "attention_factor": 1.25,
                                          "original_max_position_embeddings": 32}, 0),
    }  # fmt: skip
    for name, (source, scaling, tolerance) in cases.items():
        model = folder / name
        model.mkdir()
        config = json.loads((models / source / "config.json").read_text())
        plain = trace(program, models / source, folder / "plain.safetensors")
        config["rope_scaling"] = scaling
        config.pop("original_max_position_embeddings", None)
        (model / "config.json").write_text(json.dumps(config))
        shutil.copy(models / source / "model.safetensors", model)
        gguf.convert(model, folder / "r.gguf")
        got = trace(program, folder / "r.gguf", folder / "got.safetensors")
        want = trace(program, model, folder / "want.safetensors")
        assert not np.allclose(want["logits"], plain["logits"], atol=1e-3), name
        if tolerance == 0:
            same(got, want, name)
        else:  # the factors of frequencies are float32 numbers
            assert np.abs(got["logits"] - want["logits"]).max() < tolerance, name


def check_tokenizers(program, models, data, folder):
    texts = json.loads((data / "tokenizers" / "strings.json").read_text())
    lines = folder / "texts"
    lines.write_text("".join(json.dumps(text) + "\n" for text in texts))
    for name in TOKENIZERS:
        tokenizer = data / "tokenizers" / name
        gguf.convert(models / "llama_tiny_tied", folder / "t.gguf", tokenizer=tokenizer)
        out = run(program, "tokenize", "--tokenizer", folder / "t.gguf", "--text-file", lines, "--json")
        cases = json.loads((tokenizer / "cases.json").read_text())
        cases = cases["cases"] if isinstance(cases, dict) else cases
        got = [json.loads(line) for line in out.splitlines()]
        assert len(got) == len(cases) == len(texts)
        wrong = [case["i"] for case, own in zip(cases, got) if case["ids"] != own["ids"]]
        assert not wrong, f"{name}: {len(wrong)} of {len(texts)} texts, first {wrong[0]}: {texts[wrong[0]]!r}"


def check_text(program, data, folder):
    """Checks that pocket as one file continues a text, also with parameters of 8 bits."""
    pocket = data.parents[1] / "assets" / "models" / "pocket"
    prompt = ["--text", "When Mary and John went to the shop, John gave a book to", "--tokens", "8"]
    want = run(program, "generate", "--model", pocket, *prompt)
    for kind in ("F32", "Q8_0"):
        gguf.convert(pocket, folder / "pocket.gguf", kind, tokenizer=pocket)
        got = run(program, "generate", "--model", folder / "pocket.gguf", *prompt)
        assert got == want, f"{kind}: {got}"


def main():
    program, data = sys.argv[1], pathlib.Path(sys.argv[2])
    models = data / "models"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_float32(program, models, folder)
        check_other_layouts(program, models, folder)
        check_llama4(program, models, folder)
        check_parts(program, models, folder)
        check_types(program, models, folder)
        check_blocks(program, folder)
        check_rotary(program, models, folder)
        check_tokenizers(program, models, data, folder)
        check_text(program, data, folder)
    print("GGUF files: as the checkpoints that they were made from")


if __name__ == "__main__":
    main()
