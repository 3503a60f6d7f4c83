"""Rebuilds public checkpoints small: the keys of their configuration, the names of their tensors, the kinds of their files.

A reference case of tests/data/models has the tensors of its family, with small sizes, as Hugging Face's code named them. A
folder is such a case with the configuration keys that a checkpoint publishes, its own differences, and its files. Uses only
the standard library."""
import json
import pathlib
import random
import re
import shutil
import struct
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
MODELS = TESTS / "data/models"
WIDTHS = {"F32": 4, "F16": 2, "BF16": 2, "I32": 4, "U8": 1, "I8": 1, "F8_E4M3": 1}


class Tensor:
    def __init__(self, dtype, shape, data):
        self.dtype, self.shape, self.data = dtype, list(shape), data


def random_tensor(dtype, shape, seed=1):
    """Numbers that are small in every dtype."""
    count = 1
    for extent in shape:
        count *= extent
    draws = random.Random(seed)
    if dtype == "F32":
        return Tensor(dtype, shape, struct.pack(f"<{count}f", *(draws.gauss(0, 0.05) for _ in range(count))))
    if dtype == "F16":
        return Tensor(dtype, shape, struct.pack(f"<{count}e", *(draws.gauss(0, 0.05) for _ in range(count))))
    limit = {"U8": 256, "I8": 256, "F8_E4M3": 64}.get(dtype, 256)
    return Tensor(dtype, shape, bytes(draws.randrange(limit) for _ in range(count * WIDTHS[dtype])))


def read_safetensors(path):
    data = path.read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    tensors = {}
    for name, entry in json.loads(data[8 : 8 + length]).items():
        if name != "__metadata__":
            begin, end = (8 + length + offset for offset in entry["data_offsets"])
            tensors[name] = Tensor(entry["dtype"], entry["shape"], data[begin:end])
    return tensors


def write_safetensors(path, tensors):
    header, data = {"__metadata__": {"format": "pt"}}, bytearray()
    for name, tensor in tensors.items():
        header[name] = {"dtype": tensor.dtype, "shape": tensor.shape, "data_offsets": [len(data), len(data) + len(tensor.data)]}
        data += tensor.data
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def narrowed(tensor, dtype):
    """F32 as BF16 or F16."""
    if tensor.dtype != "F32" or dtype == "F32":
        return tensor
    if dtype == "BF16":
        return Tensor(dtype, tensor.shape, b"".join(tensor.data[at + 2 : at + 4] for at in range(0, len(tensor.data), 4)))
    numbers = struct.unpack(f"<{len(tensor.data) // 4}f", tensor.data)
    return Tensor(dtype, tensor.shape, struct.pack(f"<{len(numbers)}e", *numbers))


def torch_file(tensors):
    """The bytes of pytorch_model.bin, as torch.save writes them."""
    sys.path.insert(0, str(TESTS / "fuzz"))
    import make_torch_corpus as torch

    kinds = {"F32": "Float", "F16": "Half", "BF16": "BFloat16"}
    return torch.zipped({name: torch.tensor(torch.Storage(kinds[one.dtype], range(len(one.data) // WIDTHS[one.dtype]), one.data), one.shape)
                         for name, one in tensors.items()})  # fmt: skip


def gguf_string(text):
    return struct.pack("<Q", len(text)) + text.encode()


def gguf_value(value):
    if isinstance(value, str):
        return struct.pack("<I", 8) + gguf_string(value)
    if isinstance(value, list):
        inner = gguf_value(value[0])[:4]
        return struct.pack("<I", 9) + inner + struct.pack("<Q", len(value)) + b"".join(gguf_value(one)[4:] for one in value)
    return struct.pack("<If", 6, value) if isinstance(value, float) else struct.pack("<II", 4, value)


# llama.cpp's names of the tensors of Llama and its relatives.
GGUF_NAMES = [(r"model\.embed_tokens", "token_embd"), (r"model\.norm", "output_norm"), (r"lm_head", "output"),
              (r"model\.layers\.(\d+)\.self_attn\.o_proj", r"blk.\1.attn_output"),
              (r"model\.layers\.(\d+)\.self_attn\.([qkv])_proj", r"blk.\1.attn_\2"),
              (r"model\.layers\.(\d+)\.self_attn\.([qk])_norm", r"blk.\1.attn_\2_norm"),
              (r"model\.layers\.(\d+)\.mlp\.(gate|up|down)_proj", r"blk.\1.ffn_\2"),
              (r"model\.layers\.(\d+)\.input_layernorm", r"blk.\1.attn_norm"),
              (r"model\.layers\.(\d+)\.post_attention_layernorm", r"blk.\1.ffn_norm")]  # fmt: skip


def gguf_file(config, tensors, pre):
    """A GGUF file with float32 tensors and a tokenizer of GPT-2's kind."""
    kind, heads = config["model_type"], config["num_attention_heads"]
    keys = {"context_length": config["max_position_embeddings"], "embedding_length": config["hidden_size"],
            "block_count": config["num_hidden_layers"], "feed_forward_length": config["intermediate_size"],
            "attention.head_count": heads, "attention.head_count_kv": config["num_key_value_heads"],
            "attention.key_length": config.get("head_dim") or config["hidden_size"] // heads,
            "attention.value_length": config.get("head_dim") or config["hidden_size"] // heads,
            "attention.layer_norm_rms_epsilon": config["rms_norm_eps"], "rope.freq_base": float(config["rope_theta"])}  # fmt: skip
    metadata = {"general.architecture": kind, "general.name": "small"} | {f"{kind}.{key}": value for key, value in keys.items()}
    words = [f"t{i}" for i in range(config["vocab_size"])]
    metadata |= {"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": pre, "tokenizer.ggml.tokens": words,
                 "tokenizer.ggml.merges": ["t 1"]}  # fmt: skip
    named = {}
    for name, tensor in tensors.items():
        stem, part = name.rsplit(".", 1)
        for pattern, to in GGUF_NAMES:
            if re.fullmatch(pattern, stem):
                named[re.sub(pattern, to, stem) + "." + part] = tensor
    out = struct.pack("<4sIQQ", b"GGUF", 3, len(named), len(metadata))
    out += b"".join(gguf_string(key) + gguf_value(value) for key, value in metadata.items())
    place, data = 0, b""
    for name, tensor in named.items():
        out += gguf_string(name) + struct.pack("<I", len(tensor.shape)) + struct.pack(f"<{len(tensor.shape)}Q", *reversed(tensor.shape))
        out += struct.pack("<IQ", {"F32": 0, "F16": 1, "BF16": 30}[tensor.dtype], place)
        data += tensor.data + b"\0" * (-len(tensor.data) % 32)
        place = len(data)
    return out + b"\0" * (-len(out) % 32) + data


LINEAR = re.compile(r".*layers\.\d+\.(self_attn|mlp)\.[a-z_]+_proj\.weight")


def quantized(tensors, kind):
    """The tensors of the layers' linear maps in the form in which a scheme stores them; numbers are drawn at random."""
    result = {}
    for name, tensor in tensors.items():
        if not LINEAR.fullmatch(name) or len(tensor.shape) != 2:
            result[name] = tensor
            continue
        stem, (rows, columns), group = name.removesuffix(".weight"), tensor.shape, 32
        if kind == "gptq":
            result |= {stem + ".qweight": random_tensor("I32", [columns // 8, rows]),
                       stem + ".qzeros": random_tensor("I32", [columns // group, rows // 8]),
                       stem + ".scales": random_tensor("F16", [columns // group, rows]),
                       stem + ".g_idx": Tensor("I32", [columns], struct.pack(f"<{columns}i", *(i // group for i in range(columns))))}  # fmt: skip
        elif kind == "awq":
            result |= {stem + ".qweight": random_tensor("I32", [columns, rows // 8]),
                       stem + ".qzeros": random_tensor("I32", [columns // group, rows // 8]),
                       stem + ".scales": random_tensor("F16", [columns // group, rows])}  # fmt: skip
        elif kind == "fp8":
            result |= {name: random_tensor("F8_E4M3", [rows, columns]),
                       stem + ".weight_scale": Tensor("F32", [rows, 1], struct.pack(f"<{rows}f", *[0.01] * rows))}  # fmt: skip
        elif kind == "fp8_blocks":
            blocks = [-(-rows // 128), -(-columns // 128)]
            count = blocks[0] * blocks[1]
            result |= {name: random_tensor("F8_E4M3", [rows, columns]),
                       stem + ".weight_scale_inv": Tensor("F32", blocks, struct.pack(f"<{count}f", *[0.01] * count))}  # fmt: skip
        elif kind == "bnb4":
            count, block = rows * columns, 64
            state = json.dumps({"quant_type": "nf4", "blocksize": block, "dtype": "bfloat16", "shape": [rows, columns]}).encode()
            table = [-1.0, -0.6961928, -0.52507305, -0.3949175, -0.28444138, -0.18477343, -0.091050036, 0.0, 0.0795803, 0.1609302,
                     0.2461123, 0.33791524, 0.44070983, 0.562617, 0.72295684, 1.0]  # fmt: skip
            result |= {name: random_tensor("U8", [count // 2, 1]),
                       name + ".absmax": Tensor("F32", [count // block], struct.pack(f"<{count // block}f", *[0.1] * (count // block))),
                       name + ".quant_map": Tensor("F32", [16], struct.pack("<16f", *table)),
                       name + ".quant_state.bitsandbytes__nf4": Tensor("U8", [len(state)], state)}  # fmt: skip
    return result


def mxfp4(tensors):
    """The experts of gpt-oss as published: blocks of 32 numbers with a common scale."""
    result = {}
    for name, tensor in tensors.items():
        if re.search(r"experts\.(gate_up|down)_proj$", name):
            experts, columns, rows = tensor.shape
            result |= {name + "_blocks": random_tensor("U8", [experts, rows, columns // 32, 16]),
                       name + "_scales": Tensor("U8", [experts, rows, columns // 32], bytes([120]) * (experts * rows * columns // 32))}  # fmt: skip
        else:
            result[name] = tensor
    return result


def rebuild(checkpoint, folder):
    """Writes the folder of a checkpoint. Returns its path, or that of its GGUF file."""
    folder.mkdir(parents=True)
    if "config" in checkpoint:  # a family without a reference case: only its configuration
        (folder / "config.json").write_text(json.dumps(checkpoint["config"]))
        write_safetensors(folder / "model.safetensors", {"embeddings.weight": random_tensor("F32", [8, 4])})
        return folder
    case = MODELS / checkpoint["like"]
    config = json.loads((case / "config.json").read_text())
    tensors = read_safetensors(case / "model.safetensors")
    for key, value in checkpoint.get("set", {}).items():
        place = config
        *nested, last = key.split("/")
        for part in nested:
            place = place.setdefault(part, {})
        if value == "absent":
            place.pop(last, None)
        else:
            place[last] = value
    if checkpoint.get("nested"):  # the language model of one with images or sound
        config = {"model_type": checkpoint["family"], "text_config": config}
    sizes = checkpoint.get("sizes", {})  # sizes of the case that this layout does not allow
    if sizes:
        tensors = {name: random_tensor("F32", [sizes.get(extent, extent) for extent in one.shape], seed) for seed, (name, one) in enumerate(tensors.items())}
    for pattern in checkpoint.get("drop", []):
        tensors = {name: one for name, one in tensors.items() if not re.search(pattern, name)}
    for pattern, to in checkpoint.get("rename", []):
        tensors = {re.sub(pattern, to, name): one for name, one in tensors.items()}
    for pattern, to in checkpoint.get("twice", []):
        tensors |= {re.sub(pattern, to, name): one for name, one in tensors.items() if re.search(pattern, name)}
    for name, source in checkpoint.get("copy", {}).items():
        tensors[name] = tensors[source]
    for name, shape in checkpoint.get("add", {}).items():
        tensors[name] = random_tensor("F32", shape)
    if "quantized" in checkpoint:
        tensors = mxfp4(tensors) if checkpoint["quantized"] == "mxfp4" else quantized(tensors, checkpoint["quantized"])
    dtype = checkpoint.get("dtype", "F32")
    tensors = {name: narrowed(one, dtype) for name, one in tensors.items()}
    kind = checkpoint["weights"]
    if kind == "gguf":
        path = folder / "model.gguf"
        path.write_bytes(gguf_file(config, tensors, checkpoint.get("pre", "llama-bpe")))
        return path
    (folder / "config.json").write_text(json.dumps(config, indent=2))
    if kind == "lora":
        shutil.rmtree(folder)
        return lora(checkpoint, config, tensors, folder)
    if kind == "safetensors":
        write_safetensors(folder / "model.safetensors", tensors)
    elif kind == "bin":
        (folder / "pytorch_model.bin").write_bytes(torch_file(tensors))
    elif kind in ("parts", "bin parts"):
        names, places = sorted(tensors), {}
        for number, own in enumerate((names[::2], names[1::2]), 1):
            part = {name: tensors[name] for name in own}
            stem, ending = ("model", "safetensors") if kind == "parts" else ("pytorch_model", "bin")
            file = f"{stem}-0000{number}-of-00002.{ending}"
            write_safetensors(folder / file, part) if kind == "parts" else (folder / file).write_bytes(torch_file(part))
            places |= dict.fromkeys(own, file)
        index = {"metadata": {"total_size": sum(len(one.data) for one in tensors.values())}, "weight_map": places}
        (folder / f"{stem}.{ending}.index.json").write_text(json.dumps(index))
    return folder


def lora(checkpoint, config, tensors, folder):
    """An adapter with its base beside it."""
    base = folder / "base"
    base.mkdir(parents=True)
    (base / "config.json").write_text(json.dumps(config))
    write_safetensors(base / "model.safetensors", tensors)
    adapter = folder / "adapter"
    adapter.mkdir()
    settings = {"peft_type": "LORA", "task_type": "CAUSAL_LM", "r": 4, "lora_alpha": 8, "lora_dropout": 0.0, "bias": "none",
                "fan_in_fan_out": False, "target_modules": ["q_proj", "v_proj"], "base_model_name_or_path": str(base)}  # fmt: skip
    (adapter / "adapter_config.json").write_text(json.dumps(settings))
    parts = {}
    for name, tensor in tensors.items():
        if re.search(r"self_attn\.[qv]_proj\.weight", name):
            stem = "base_model.model." + name.removesuffix(".weight")
            parts |= {stem + ".lora_A.weight": random_tensor("F32", [4, tensor.shape[1]]), stem + ".lora_B.weight": random_tensor("F32", [tensor.shape[0], 4])}
    write_safetensors(adapter / "adapter_model.safetensors", parts)
    return adapter
