#!/usr/bin/env python3
"""check_layouts.py PROGRAM DATA MANUAL: checks checkpoints in other layouts than Hugging Face's folders.

Consolidated weights, prefixes and encoders alone are made from stored models, whose numbers `trace` must give. nanoGPT,
both minGPTs, TransformerLens' state dictionary and a torch.nn.TransformerEncoder are small random models whose logits
PyTorch computes here, by the definition or by its own class; the examples of MANUAL, toy-models.md, are among them. Exits with 77 if torch is not installed."""
import json
import math
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
try:
    import torch
    from torch import nn
    from torch.nn.functional import gelu, layer_norm, relu
except ImportError:
    print("skipped: PyTorch is not installed (Debian: python3-torch)")
    sys.exit(SKIPPED)
from tensor_files import read_safetensors, write_safetensors

PROGRAM, DATA, MANUAL = sys.argv[1], pathlib.Path(sys.argv[2]) / "models", pathlib.Path(sys.argv[3])
LIMIT = 2e-5
IDS = [3, 7, 1, 9, 4, 2]


def run(*arguments, code=0):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == code, f"{arguments}: exit code {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout if code == 0 else done.stderr


def trace(model, work, *more):
    out = work / "trace.safetensors"
    run("trace", "--model", model, "--ids", ",".join(map(str, IDS)), *more, "--format", "safetensors", "-o", out)
    return read_safetensors(out)


def difference(a, b):
    """The largest one, as a fraction of the largest number above 1."""
    return ((a.double() - b.double()).abs().max() / b.double().abs().max().clamp(min=1)).item()


def same(name, a, b, names=None):
    names = names or sorted(key for key in a if a[key].is_floating_point())
    worst = max(difference(a[key], b[key]) for key in names)
    assert worst < LIMIT, f"{name}: {worst}"
    print(f"{name}: {len(names)} tensors, {worst:.1e}")


def new_folder(work, name):
    folder = work / name
    folder.mkdir()
    return folder


def neighbours(weight, heads):
    """From halves to neighboring rotary pairs, as in the authors' own layout."""
    out, rest = weight.shape[0], weight.shape[1:]
    return weight.view(heads, 2, out // heads // 2, *rest).transpose(1, 2).reshape(out, *rest)


def consolidated(name, work, as_torch):
    config = json.loads((DATA / name / "config.json").read_text())
    H, Hkv = config["num_attention_heads"], config["num_key_value_heads"]
    rope = config.get("rope_parameters") or {"rope_theta": config.get("rope_theta", 10000.0)}
    params = {"dim": config["hidden_size"], "n_layers": config["num_hidden_layers"], "n_heads": H, "n_kv_heads": Hkv,
              "norm_eps": config["rms_norm_eps"], "vocab_size": -1 if as_torch else config["vocab_size"],
              "rope_theta": rope["rope_theta"]}  # fmt: skip
    if config.get("head_dim"):
        params["head_dim"] = config["head_dim"]
    if config.get("sliding_window"):
        params["sliding_window"] = config["sliding_window"]
    if "num_local_experts" in config:
        params["moe"] = {"num_experts": config["num_local_experts"], "num_experts_per_tok": config["num_experts_per_tok"]}
    parts = {"model.embed_tokens": "tok_embeddings", "model.norm": "norm", "lm_head": "output", "self_attn.q_proj": "attention.wq",
             "self_attn.k_proj": "attention.wk", "self_attn.v_proj": "attention.wv", "self_attn.o_proj": "attention.wo",
             "mlp.gate_proj": "feed_forward.w1", "mlp.down_proj": "feed_forward.w2", "mlp.up_proj": "feed_forward.w3",
             "block_sparse_moe": "feed_forward", "post_attention_layernorm": "ffn_norm", "input_layernorm": "attention_norm",
             "model.layers": "layers"}  # fmt: skip
    tensors = {}
    for key, value in read_safetensors(DATA / name / "model.safetensors").items():
        if key.endswith("q_proj.weight"):
            value = neighbours(value, H)
        if key.endswith("k_proj.weight"):
            value = neighbours(value, Hkv)
        for theirs, own in parts.items():
            key = key.replace(theirs, own)
        tensors[key] = value.contiguous()
    folder = new_folder(work, "consolidated-" + name)
    (folder / "params.json").write_text(json.dumps(params))
    if as_torch:
        torch.save(tensors | {"rope.freqs": torch.ones(4)}, folder / "consolidated.00.pth")
    else:
        write_safetensors(folder / "consolidated.safetensors", tensors)
    same(f"consolidated {name}", trace(DATA / name, work), trace(folder, work))


def prefixes(work):
    for name, change in {
        "doubled": lambda key: "model." + key,
        "compiled": lambda key: "_orig_mod." + key,
        "parallel": lambda key: "module." + key,
        "missing": lambda key: key.removeprefix("model."),
    }.items():
        folder = new_folder(work, "prefix-" + name)
        shutil.copy(DATA / "llama_tiny_untied" / "config.json", folder)
        tensors = read_safetensors(DATA / "llama_tiny_untied" / "model.safetensors")
        write_safetensors(folder / "model.safetensors", {change(key): value for key, value in tensors.items()})
        same("prefix " + name, trace(DATA / "llama_tiny_untied", work), trace(folder, work))


def t5_encoder(work):
    config = json.loads((DATA / "t5_tiny" / "config.json").read_text()) | {"architectures": ["T5EncoderModel"]}
    folder = new_folder(work, "t5-encoder")
    (folder / "config.json").write_text(json.dumps(config))
    tensors = read_safetensors(DATA / "t5_tiny" / "model.safetensors")
    kept = {key: value for key, value in tensors.items() if not key.startswith(("decoder", "lm_head"))}
    write_safetensors(folder / "model.safetensors", kept)
    whole, alone = trace(DATA / "t5_tiny", work, "--decoder-ids", "0,5"), trace(folder, work)
    assert "logits" not in alone
    wanted = {key.removeprefix("encoder."): value for key, value in whole.items() if key.startswith("encoder.")}
    same("T5 encoder", alone, wanted)


def index(work):
    folder = new_folder(work, "index")
    shutil.copy(DATA / "gpt2_tiny" / "config.json", folder)
    tensors, where = read_safetensors(DATA / "gpt2_tiny" / "model.safetensors"), {}
    for i, names in enumerate((sorted(tensors)[::2], sorted(tensors)[1::2])):
        file = f"model-0000{i + 1}-of-00002.safetensors"
        write_safetensors(folder / file, {name: tensors[name] for name in names})
        where |= dict.fromkeys(names, file)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": where}))
    same("index", trace(DATA / "gpt2_tiny", work), trace(folder / "model.safetensors.index.json", work))


def random_state(shapes, seed):
    torch.manual_seed(seed)
    return {name: torch.randn(shape) * 0.3 + (1.0 if name.split(".")[-2:][0].startswith("ln") and name.endswith("weight") else 0)
            for name, shape in shapes.items()}  # fmt: skip


def attend(q, k, v, H, causal=True):
    T, D = q.shape
    q, k, v = (x.view(T, H, D // H).transpose(0, 1) for x in (q, k, v))
    scores = q @ k.transpose(1, 2) / math.sqrt(D // H)
    if causal:
        scores = scores.masked_fill(torch.ones(T, T).triu(1).bool(), -math.inf)
    weights = scores.softmax(-1)
    return (weights @ v).transpose(0, 1).reshape(T, D), weights


def gpt(state, H, L, act, older=False):
    """nanoGPT and minGPT, by their definition."""
    def norm(x, at):
        return layer_norm(x, x.shape[-1:], state[at + ".weight"], state.get(at + ".bias"))

    def linear(x, at):
        return nn.functional.linear(x, state[at + ".weight"], state.get(at + ".bias"))

    T = len(IDS)
    if older:
        x = state["tok_emb.weight"][IDS] + state["pos_emb"][0, :T]
    else:
        x = state["transformer.wte.weight"][IDS] + state["transformer.wpe.weight"][:T]
    maps = []
    for l in range(L):
        at = f"blocks.{l}." if older else f"transformer.h.{l}."
        h = norm(x, at + ("ln1" if older else "ln_1"))
        q, k, v = [linear(h, at + "attn." + n) for n in ("query", "key", "value")] if older else \
            linear(h, at + "attn.c_attn").chunk(3, -1)  # fmt: skip
        out, weights = attend(q, k, v, H)
        maps.append(weights)
        x = x + linear(out, at + ("attn.proj" if older else "attn.c_proj"))
        h = norm(x, at + ("ln2" if older else "ln_2"))
        x = x + linear(act(linear(h, at + ("mlp.0" if older else "mlp.c_fc"))), at + ("mlp.2" if older else "mlp.c_proj"))
    x = norm(x, "ln_f" if older else "transformer.ln_f")
    return x @ state["head.weight" if older else "lm_head.weight"].T, maps


def gelu_new(x):
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def compare(name, found, logits, maps):
    worst = max([difference(found["logits"][0], logits)] +
                [difference(found[f"layers.{l}.weights"][0], m) for l, m in enumerate(maps)])  # fmt: skip
    assert worst < LIMIT, f"{name}: {worst}"
    print(f"{name}: {worst:.1e}")


def gpts(work):
    D, H, L, V, T = 24, 4, 2, 17, 12
    for bias in (True, False):
        shapes = {"transformer.wte.weight": (V, D), "transformer.wpe.weight": (T, D)}
        for l in range(L):
            at = f"transformer.h.{l}."
            shapes |= {at + "ln_1.weight": (D,), at + "attn.c_attn.weight": (3 * D, D), at + "attn.c_proj.weight": (D, D),
                       at + "ln_2.weight": (D,), at + "mlp.c_fc.weight": (4 * D, D), at + "mlp.c_proj.weight": (D, 4 * D)}  # fmt: skip
        shapes["transformer.ln_f.weight"] = (D,)
        if bias:
            shapes |= {name[:-6] + "bias": shape[:1] for name, shape in shapes.items() if "wte" not in name and "wpe" not in name}
        state = random_state(shapes, 5)
        state["lm_head.weight"] = state["transformer.wte.weight"]
        arguments = {"n_layer": L, "n_head": H, "n_embd": D, "block_size": T, "bias": bias, "vocab_size": V, "dropout": 0.0}
        folder = new_folder(work, f"out-{bias}")
        saved = {"model": {"_orig_mod." + key: value for key, value in state.items()}, "model_args": arguments, "iter_num": 5,
                 "best_val_loss": 1.5, "config": {"dataset": "shakespeare_char"}}  # fmt: skip
        torch.save(saved, folder / "ckpt.pt")
        for path in (folder, folder / "ckpt.pt"):
            compare(f"nanoGPT, biases {bias}", trace(path, work), *gpt(state, H, L, gelu))
    state["lm_head.weight"] = torch.randn(V, D)
    untied = work / "mingpt.pt"
    torch.save(state | {f"transformer.h.{l}.attn.bias": torch.ones(1, 1, T, T).tril() for l in range(L)}, untied)
    assert "--heads" in run("model", "info", untied, code=1)
    compare("minGPT", trace(untied, work, "--heads", H), *gpt(state, H, L, gelu_new))
    shapes = {"tok_emb.weight": (V, D), "pos_emb": (1, T, D), "ln_f.weight": (D,), "ln_f.bias": (D,), "head.weight": (V, D)}
    for l in range(L):
        at = f"blocks.{l}."
        for name, shape in {"ln1": (D,), "ln2": (D,), "attn.key": (D, D), "attn.query": (D, D), "attn.value": (D, D),
                            "attn.proj": (D, D), "mlp.0": (4 * D, D), "mlp.2": (D, 4 * D)}.items():  # fmt: skip
            shapes |= {at + name + ".weight": shape, at + name + ".bias": shape[:1]}
    state = random_state(shapes, 6)
    torch.save(state | {"blocks.0.attn.mask": torch.ones(1, 1, T, T)}, work / "mingpt-2020.pt")
    compare("minGPT of 2020", trace(work / "mingpt-2020.pt", work, "--heads", H), *gpt(state, H, L, gelu, True))


def lens_model(normed, mlp):
    """A model of TransformerLens: matrices by head, no norms or LayerNorm, with or without an MLP. Its state dictionary,
    logits and attention weights."""
    D, H, dk, L, V, T, F = 16, 4, 6, 2, 13, 9, 20
    state = {"embed.W_E": torch.randn(V, D), "pos_embed.W_pos": torch.randn(T, D), "unembed.W_U": torch.randn(D, V),
             "unembed.b_U": torch.randn(V)}  # fmt: skip
    for l in range(L):
        at = f"blocks.{l}."
        state |= {at + "attn.W_" + n: torch.randn(H, D, dk) * 0.3 for n in "QKV"} | {at + "attn.W_O": torch.randn(H, dk, D) * 0.3}
        state |= {at + "attn.b_" + n: torch.randn(H, dk) for n in "QKV"} | {at + "attn.b_O": torch.randn(D)}
        state |= {at + "attn.mask": torch.ones(T, T).tril(), at + "attn.IGNORE": torch.tensor(-1e5)}
        if normed:
            state |= {at + f"{n}.{p}": torch.randn(D) for n in ("ln1", "ln2") for p in "wb"}
        if mlp:
            state |= {at + "mlp.W_in": torch.randn(D, F), at + "mlp.b_in": torch.randn(F), at + "mlp.W_out": torch.randn(F, D) * 0.3,
                      at + "mlp.b_out": torch.randn(D)}  # fmt: skip
    if normed:
        state |= {"ln_final.w": torch.randn(D), "ln_final.b": torch.randn(D)}

    def norm(x, at):
        return layer_norm(x, (D,), state[at + ".w"], state[at + ".b"]) if normed else x

    x, maps = state["embed.W_E"][IDS] + state["pos_embed.W_pos"][: len(IDS)], []
    for l in range(L):
        at = f"blocks.{l}."
        h = norm(x, at + "ln1")
        q, k, v = [torch.einsum("td,hdk->htk", h, state[at + "attn.W_" + n]) + state[at + "attn.b_" + n][:, None] for n in "QKV"]
        scores = (q @ k.transpose(1, 2) / math.sqrt(dk)).masked_fill(torch.ones(len(IDS), len(IDS)).triu(1).bool(), -math.inf)
        maps.append(scores.softmax(-1))
        x = x + torch.einsum("htk,hkd->td", maps[-1] @ v, state[at + "attn.W_O"]) + state[at + "attn.b_O"]
        if mlp:
            h = norm(x, at + "ln2")
            x = x + relu(h @ state[at + "mlp.W_in"] + state[at + "mlp.b_in"]) @ state[at + "mlp.W_out"] + state[at + "mlp.b_out"]
    return state, norm(x, "ln_final") @ state["unembed.W_U"] + state["unembed.b_U"], maps


def lens(work):
    for name, normed, mlp in (("attention only", False, False), ("relu, LayerNorm", True, True), ("relu, no norm", False, True)):
        torch.manual_seed(len(name))
        state, logits, maps = lens_model(normed, mlp)
        folder = new_folder(work, "lens " + name)
        torch.save(state, folder / "model.pt")
        description = {"layout": "transformer_lens"} | ({"activation": "relu"} if mlp else {}) | ({} if normed else {"norm": "none"})
        (folder / "model.json").write_text(json.dumps(description))
        compare("TransformerLens, " + name, trace(folder / "model.json", work), logits, maps)
        text = run("generate", "--model", folder / "model.json", "--ids", "1,2", "--tokens", "3", "--json")
        assert len(json.loads(text)["ids"]) >= 3


def torch_model(D, activation, first, causal):
    """torch.nn.TransformerEncoder by PyTorch's own class, with embeddings and a head: its state dictionary and logits."""
    H, L, V, T, F = 4, 2, 11, 8, 24
    layer = nn.TransformerEncoderLayer(D, H, F, dropout=0.0, activation=activation, batch_first=True, norm_first=first)
    encoder = nn.TransformerEncoder(layer, L, norm=nn.LayerNorm(D) if first else None)
    for parameter in encoder.parameters():
        nn.init.normal_(parameter, std=0.3)
    words, positions, head = nn.Embedding(V, D), nn.Embedding(T, D), nn.Linear(D, V)
    with torch.no_grad():
        x = words.weight[IDS] + positions.weight[: len(IDS)]
        mask = torch.ones(len(IDS), len(IDS)).triu(1).bool() if causal else None
        encoder.train()  # the fast path of evaluation rounds otherwise
        logits = head(encoder(x[None], mask=mask))[0]
    state = {"encoder." + key: value for key, value in encoder.state_dict().items()}
    return state | {"words.weight": words.weight.detach(), "positions.weight": positions.weight.detach(),
                    "head.weight": head.weight.detach(), "head.bias": head.bias.detach()}, logits  # fmt: skip


def torch_encoder(work):
    """Norms after the sums, or before them."""
    D, H, L = 16, 4, 2
    for first in (False, True):
        torch.manual_seed(3)
        state, logits = torch_model(D, "gelu", first, True)
        folder = new_folder(work, f"encoder-{first}")
        write_safetensors(folder / "weights.safetensors", state)
        at = "encoder.layers.{l}."

        def rows(part, i):
            return {"tensor": at + "self_attn.in_proj_" + part, "rows": [i * D, (i + 1) * D]}

        block = {"W_O": at + "self_attn.out_proj.weight", "b_O": at + "self_attn.out_proj.bias", "norm1": at + "norm1.weight",
                 "norm1_bias": at + "norm1.bias", "norm2": at + "norm2.weight", "norm2_bias": at + "norm2.bias",
                 "W_in": at + "linear1.weight", "b_in": at + "linear1.bias", "W_out": at + "linear2.weight",
                 "b_out": at + "linear2.bias"}  # fmt: skip
        block |= {f"{p}_{n}": rows(part, i) for p, part in (("W", "weight"), ("b", "bias")) for i, n in enumerate("QKV")}
        description = {"weights": "weights.safetensors", "heads": H, "linear": True, "layers": L, "block": block,
                       "embedding": "words.weight", "positions": "positions.weight", "unembedding": "head.weight",
                       "unembedding_bias": "head.bias", "activation": "gelu", "norm_place": "before" if first else "after"}  # fmt: skip
        if first:
            description |= {"final_norm": "encoder.norm.weight", "final_norm_bias": "encoder.norm.bias"}
        (folder / "encoder.json").write_text(json.dumps(description))
        compare(f"torch.nn.TransformerEncoder, norm_first {first}", trace(folder / "encoder.json", work), logits, [])


def manual(work):
    """The three examples of the manual's page, with models that fit them."""
    first, second, third = re.findall(r"```json\n(.*?)```", MANUAL.read_text(), re.DOTALL)
    folder = new_folder(work, "manual")
    torch.manual_seed(8)
    state, logits, maps = lens_model(False, True)
    torch.save(state, folder / "toy.pt")
    (folder / "toy.json").write_text(first)
    compare("the manual's TransformerLens", trace(folder / "toy.json", work), logits, maps)
    D, H, L, V, T, F = 16, 4, 3, 12, 7, 20
    state = {"tok.weight": torch.randn(V, D), "pos.weight": torch.randn(T, D), "out.weight": torch.randn(V, D)}
    for l in range(L):
        at = f"layers.{l}."
        state |= {at + n + ".weight": torch.randn(D, D) * 0.3 for n in "qkvo"}
        state |= {at + f"{n}.{p}": torch.randn(D) for n in ("ln_a", "ln_b") for p in ("weight", "bias")}
        state |= {at + "up.weight": torch.randn(F, D) * 0.3, at + "down.weight": torch.randn(D, F) * 0.3}
    state |= {"ln_f.weight": torch.randn(D), "ln_f.bias": torch.randn(D)}
    x, maps = state["tok.weight"][IDS] + state["pos.weight"][: len(IDS)], []
    for l in range(L):
        own = {key.removeprefix(f"layers.{l}."): value for key, value in state.items()}
        h = layer_norm(x, (D,), own["ln_a.weight"], own["ln_a.bias"])
        out, weights = attend(*(h @ own[n + ".weight"].T for n in "qkv"), H)
        maps.append(weights)
        x = x + out @ own["o.weight"].T
        h = layer_norm(x, (D,), own["ln_b.weight"], own["ln_b.bias"])
        x = x + gelu(h @ own["up.weight"].T) @ own["down.weight"].T
    logits = layer_norm(x, (D,), state["ln_f.weight"], state["ln_f.bias"]) @ state["out.weight"].T
    write_safetensors(folder / "model.safetensors", state)
    (folder / "own.json").write_text(second)
    compare("the manual's own names", trace(folder / "own.json", work), logits, maps)
    state, logits = torch_model(64, "relu", False, False)
    torch.save(state, folder / "encoder.pt")
    (folder / "encoder.json").write_text(third)
    compare("the manual's encoder", trace(folder / "encoder.json", work), logits, [])


with tempfile.TemporaryDirectory() as temporary:
    place = pathlib.Path(temporary)
    consolidated("llama_tiny_untied", place, True)
    consolidated("mistral_tiny", place, False)
    consolidated("mixtral_tiny", place, False)
    prefixes(place)
    t5_encoder(place)
    index(place)
    gpts(place)
    lens(place)
    torch_encoder(place)
    manual(place)
