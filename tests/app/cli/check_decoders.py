#!/usr/bin/env python3
"""check_decoders.py PROGRAM DATA: checks OLMo 1 to 3 and gpt-oss with options that no stored case has.

Implements the families' layers with PyTorch in float64. First checks this code with the stored cases of Hugging Face's
code, then the program with this code: small random checkpoints with other sizes, windows, storage, spellings of config.json
and left padding; a head with gain 0; tokens that are generated one by one. Exits with 77 if torch is not
installed."""
import json
import math
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77
try:
    import torch
    from torch.nn import functional as F
except ImportError:
    print("skipped: PyTorch is not installed (Debian: python3-torch)")
    sys.exit(SKIPPED)
from tensor_files import read_safetensors, write_safetensors

OLMO = {"hidden_size": 24, "intermediate_size": 40, "num_hidden_layers": 4, "num_attention_heads": 6, "vocab_size": 60,
        "num_key_value_heads": 3, "max_position_embeddings": 64, "rms_norm_eps": 1e-3}  # fmt: skip
OSS = {**OLMO, "model_type": "gpt_oss", "head_dim": 8, "num_local_experts": 5, "num_experts_per_tok": 3, "sliding_window": 3}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 512, "beta_fast": 4.0, "beta_slow": 1.0}
CASES = {
    "olmo": {**OLMO, "model_type": "olmo", "clip_qkv": None},
    "olmo, clipped and tied": {**OLMO, "model_type": "olmo", "clip_qkv": 0.6, "tie_word_embeddings": True},
    "olmo2, bfloat16": {**OLMO, "model_type": "olmo2", "attention_bias": True, "torch_dtype": "bfloat16"},
    "olmo2, one key head": {**OLMO, "model_type": "olmo2", "num_key_value_heads": 1, "rope_theta": 500.0},
    "olmo3": {**OLMO, "model_type": "olmo3", "sliding_window": 4, "rope_scaling": YARN, "rope_theta": 700.0},
    "olmo3, spelled anew": {
        **OLMO, "model_type": "olmo3", "sliding_window": 2, "dtype": "float32",
        "layer_types": ["full_attention", "sliding_attention"] * 2,
        "rope_parameters": {"full_attention": {**YARN, "rope_theta": 300.0},
                            "sliding_attention": {"rope_type": "default", "rope_theta": 900.0}},
    },
    "gpt_oss, its own scaling": {**OSS, "tie_word_embeddings": True},
    "gpt_oss, one expert of two": {**OSS, "num_local_experts": 2, "num_experts_per_tok": 1, "rope_scaling": YARN,
                                   "torch_dtype": "bfloat16", "rope_theta": 300},
    "gpt_oss, spelled anew": {
        **OSS, "num_key_value_heads": 1, "attention_bias": False, "swiglu_limit": 0.5, "swiglu_alpha": 1.3,
        "layer_types": ["full_attention", "full_attention", "sliding_attention", "full_attention"],
        "rope_parameters": {**YARN, "truncate": False, "rope_theta": 200.0}, "dtype": "float32",
    },
}  # fmt: skip
NO_PREFIX = {"olmo3, spelled anew", "gpt_oss, spelled anew"}


class Settings:
    """The settings of a config, with the defaults of the families' configuration classes."""

    def __init__(self, config):
        get = config.get
        self.family = get("model_type")
        self.oss = self.family == "gpt_oss"
        self.L, self.D, self.H = (get(k) for k in ("num_hidden_layers", "hidden_size", "num_attention_heads"))
        self.Hkv = get("num_key_value_heads", self.H)
        self.dk = get("head_dim", self.D // self.H)
        self.inside, self.vocab, self.eps = get("intermediate_size"), get("vocab_size"), get("rms_norm_eps")
        self.biased, self.tied = get("attention_bias", self.oss), get("tie_word_embeddings", False)
        self.clip = get("clip_qkv")
        self.experts, self.used = get("num_local_experts"), get("num_experts_per_tok")
        self.limit, self.alpha = 7.0, 1.702  # Hugging Face reads neither from config.json
        types = get("layer_types") or [
            "sliding_attention" if (l % 2 == 0 if self.oss else (l + 1) % 4) else "full_attention" for l in range(self.L)]
        slides = [self.family in ("olmo3", "gpt_oss") and kind == "sliding_attention" for kind in types]
        self.windows = [get("sliding_window") if slide else None for slide in slides]
        usual = {"rope_type": "yarn", "factor": 32.0, "original_max_position_embeddings": 4096, "beta_fast": 32.0,
                 "beta_slow": 1.0, "truncate": False}  # fmt: skip
        theta = get("rope_theta", 150000.0 if self.oss else 10000.0)
        full = {"rope_theta": theta, **(get("rope_parameters") or get("rope_scaling") or (usual if self.oss else {}))}
        sliding = full if self.oss else {"rope_theta": theta}
        if "full_attention" in full:
            full, sliding = full["full_attention"], full["sliding_attention"]
        self.ropes = [sliding if slide else full for slide in slides]


def turns(rope, dk, T):
    """Returns cosines and sines (T, dk/2), by Peng et al. 2023, "YaRN", if the settings say so."""
    frequency = rope["rope_theta"] ** (-torch.arange(0, dk, 2).double() / dk)
    magnitude = 1.0
    if rope.get("rope_type") == "yarn":
        length, factor = rope["original_max_position_embeddings"], rope["factor"]
        # The position in the head of the pair that makes this number of turns within the original length.
        place = lambda often: dk * math.log(length / (often * 2 * math.pi)) / (2 * math.log(rope["rope_theta"]))
        first, last = place(rope["beta_fast"]), place(rope["beta_slow"])
        if rope.get("truncate", True):
            first, last = math.floor(first), math.ceil(last)
        first, last = max(first, 0), min(last, dk - 1)
        slow = ((torch.arange(dk // 2).double() - first) / max(last - first, 0.001)).clamp(0, 1)
        frequency = frequency * (slow / factor + 1 - slow)
        magnitude = 0.1 * math.log(factor) + 1
    angle = torch.arange(T).double()[:, None] * frequency
    return angle.cos() * magnitude, angle.sin() * magnitude


def rotated(heads, cos, sin):
    first, second = heads.chunk(2, -1)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], -1)


def rms(x, weight, eps):
    return x / (x.square().mean(-1, keepdim=True) + eps).sqrt() * weight


def mixture(s, x, w):
    logits = F.linear(x, w("mlp.router.weight"), w("mlp.router.bias"))
    top, chosen = logits.topk(s.used, -1)
    shares = torch.zeros_like(logits).scatter(-1, chosen, top.softmax(-1))
    out = torch.zeros_like(x)
    for e in range(s.experts):
        both = x @ w("mlp.experts.gate_up_proj")[e] + w("mlp.experts.gate_up_proj_bias")[e]
        gate, up = both[..., 0::2].clamp(max=s.limit), both[..., 1::2].clamp(-s.limit, s.limit)
        made = (up + 1) * gate * torch.sigmoid(s.alpha * gate)
        out += shares[..., e : e + 1] * (made @ w("mlp.experts.down_proj")[e] + w("mlp.experts.down_proj_bias")[e])
    return out, shares


def forward(config, weights, ids, mask, silent=None):
    """silent: (layer, head) without output. Returns stages by the names of `trace`."""
    s, out = Settings(config), {}
    prefix = "model." if "model.norm.weight" in weights or "model.embed_tokens.weight" in weights else ""
    whole = lambda name: weights[prefix + name].double()
    B, T = ids.shape
    place = torch.arange(T)
    x = whole("embed_tokens.weight")[ids]
    plain = lambda x: F.layer_norm(x, x.shape[-1:], eps=1e-5)
    for l in range(s.L):
        w = lambda name: whole(f"layers.{l}.{name}")
        bias = lambda name: w(f"self_attn.{name}_proj.bias") if s.biased else None
        project = lambda name, from_: F.linear(from_, w(f"self_attn.{name}_proj.weight"), bias(name))
        norm = lambda x, name: plain(x) if s.family == "olmo" else rms(x, w(name + ".weight"), s.eps)
        after = s.family in ("olmo2", "olmo3")
        out[f"hidden.{l}"] = x
        seen = x if after else norm(x, "input_layernorm")
        q, k, v = (project(name, seen) for name in "qkv")
        if s.clip is not None:
            q, k, v = (t.clamp(-s.clip, s.clip) for t in (q, k, v))
        out[f"layers.{l}.v"] = v
        if after:
            q, k = (rms(t, w(f"self_attn.{name}_norm.weight"), s.eps) for name, t in (("q", q), ("k", k)))
        q, k, v = (t.reshape(B, T, -1, s.dk).transpose(1, 2) for t in (q, k, v))
        if after:
            out[f"layers.{l}.q_normed"], out[f"layers.{l}.k_normed"] = q, k
        cos, sin = turns(s.ropes[l], s.dk, T)
        q, k = rotated(q, cos, sin), rotated(k, cos, sin)
        k, v = (t.repeat_interleave(s.H // s.Hkv, 1) for t in (k, v))
        allowed = (place[None] <= place[:, None]) & mask[:, None, None, :].bool()
        if s.windows[l] is not None:
            allowed = allowed & (place[None] > place[:, None] - s.windows[l])
        scores = (q @ k.transpose(-1, -2) / s.dk**0.5).masked_fill(~allowed, -math.inf)
        if s.oss:
            sink = w("self_attn.sinks").reshape(1, -1, 1, 1).expand(B, s.H, T, 1)
            shares = torch.cat([scores, sink], -1).softmax(-1)
            A, out[f"layers.{l}.sink"] = shares[..., :-1], shares[..., -1]
        else:
            A = scores.softmax(-1).nan_to_num(0.0)
        out[f"layers.{l}.weights"] = A
        heads = A @ v
        if silent is not None and silent[0] == l:
            heads[:, silent[1]] = 0
        attended = project("o", heads.transpose(1, 2).reshape(B, T, -1))
        out[f"layers.{l}.attn_raw"] = attended
        x = x + (norm(attended, "post_attention_layernorm") if after else attended)
        seen = x if after else norm(x, "post_attention_layernorm")
        if s.oss:
            made, out[f"layers.{l}.routing"] = mixture(s, seen, w)
        else:
            gate, up = (F.linear(seen, w(f"mlp.{name}_proj.weight")) for name in ("gate", "up"))
            made = F.linear(F.silu(gate) * up, w("mlp.down_proj.weight"))
        made = norm(made, "post_feedforward_layernorm") if after else made
        out[f"layers.{l}.mlp_out"] = made
        x = x + made
    x = plain(x) if s.family == "olmo" else rms(x, whole("norm.weight"), s.eps)
    out[f"hidden.{s.L}"] = x
    out["logits"] = x @ (whole("embed_tokens.weight") if s.tied else weights["lm_head.weight"].double()).T
    return out


def random_weights(config, prefix, seed):
    s, torch_random = Settings(config), torch.Generator().manual_seed(seed)
    weights = {}

    def add(name, *shape, scale=None, around=0.0):
        scale = scale or 1 / math.sqrt(shape[-1])
        weights[name] = around + scale * torch.randn(shape, generator=torch_random)

    add(prefix + "embed_tokens.weight", s.vocab, s.D, scale=1.0)
    if not s.tied:
        add("lm_head.weight", s.vocab, s.D)
    norms = {"olmo": [], "gpt_oss": ["input_layernorm", "post_attention_layernorm"]}.get(
        s.family, ["post_attention_layernorm", "post_feedforward_layernorm"])
    for l in range(s.L):
        at = f"{prefix}layers.{l}."
        for name, rows, cols in (("q", s.H * s.dk, s.D), ("k", s.Hkv * s.dk, s.D), ("v", s.Hkv * s.dk, s.D), ("o", s.D, s.H * s.dk)):
            add(f"{at}self_attn.{name}_proj.weight", rows, cols)
            if s.biased:
                add(f"{at}self_attn.{name}_proj.bias", rows, scale=0.3)
        for name in norms:
            add(f"{at}{name}.weight", s.D, scale=0.3, around=1.0)
        if s.family in ("olmo2", "olmo3"):
            add(f"{at}self_attn.q_norm.weight", s.H * s.dk, scale=0.3, around=1.0)
            add(f"{at}self_attn.k_norm.weight", s.Hkv * s.dk, scale=0.3, around=1.0)
        if not s.oss:
            for name, rows, cols in (("gate", s.inside, s.D), ("up", s.inside, s.D), ("down", s.D, s.inside)):
                add(f"{at}mlp.{name}_proj.weight", rows, cols)
            continue
        add(at + "self_attn.sinks", s.H, scale=1.0)
        add(at + "mlp.router.weight", s.experts, s.D)
        add(at + "mlp.router.bias", s.experts, scale=0.5)
        add(at + "mlp.experts.gate_up_proj", s.experts, s.D, 2 * s.inside, scale=0.8)
        add(at + "mlp.experts.gate_up_proj_bias", s.experts, 2 * s.inside, scale=0.5)
        add(at + "mlp.experts.down_proj", s.experts, s.inside, s.D, scale=0.1)
        add(at + "mlp.experts.down_proj_bias", s.experts, s.D, scale=0.5)
    if s.family != "olmo":
        add(prefix + "norm.weight", s.D, scale=0.3, around=1.0)
    if "bfloat16" in (config.get("torch_dtype"), config.get("dtype")):
        weights = {name: tensor.bfloat16() for name, tensor in weights.items()}
    return weights


def run(program, *arguments):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True)
    assert done.returncode == 0, (arguments, done.stderr.decode())
    return done.stdout


def compare(name, got, want, mask, worst):
    """Compares real rows only; `worst` keeps the largest difference of each kind."""
    missing = [key for key in want if key not in got]
    assert not missing, f"{name}: not written: {missing}"
    for key, value in want.items():
        kind = key.rsplit(".", 1)[-1] if key.startswith("layers") else key.split(".")[0]
        heads = key.startswith("layers") and kind in ("weights", "sink", "q_normed", "k_normed")
        real = mask.bool()[:, None].expand(value.shape[:3]) if heads else mask.bool()
        assert got[key].shape == value.shape, (name, key, got[key].shape, value.shape)
        gap = (got[key].double() - value)[real].abs().max().item()
        worst[kind] = max(worst.get(kind, 0.0), gap)
        most = (1e-5 if kind in ("weights", "sink", "routing") else 5e-5) * (1 if heads else max(1.0, value[real].abs().max().item()))
        assert gap <= most, f"{name}: {key} differs by {gap}"


def check_against_stored(data):
    for name in ("olmo2_tiny", "gpt_oss_tiny"):
        folder = data / "models" / name
        stored = read_safetensors(folder / "expected.safetensors")
        mask = stored["attention_mask"]
        mine = forward(json.loads((folder / "config.json").read_text()), read_safetensors(folder / "model.safetensors"),
                       stored["input_ids"], mask)  # fmt: skip
        for l, hidden in enumerate(stored["expect.hidden_states"]):
            assert (mine[f"hidden.{l}"] - hidden)[mask.bool()].abs().max() < 3e-6, (name, l)
        for l, weights in enumerate(stored["expect.attentions"]):
            real = mask.bool()[:, None].expand(weights.shape[:3])
            assert (mine[f"layers.{l}.weights"] - weights)[real].abs().max() < 1e-6, (name, l)
        assert (mine["logits"] - stored["expect.logits"])[mask.bool()].abs().max() < 5e-6, name


def check_program(program, folder, worst):
    ids = torch.randint(0, OLMO["vocab_size"], (2, 11), generator=torch.Generator().manual_seed(3))
    mask = torch.ones_like(ids)
    mask[1, :4] = 0
    inputs, out = folder / "inputs.safetensors", folder / "out.safetensors"
    write_safetensors(inputs, {"input_ids": ids, "attention_mask": mask})
    stages = "weights,v,q_normed,k_normed,attn_raw,mlp_out,routing"
    for number, (name, config) in enumerate(CASES.items()):
        prefix = "" if name in NO_PREFIX else "model."
        model = folder / str(number)
        model.mkdir()
        weights = random_weights(config, prefix, number + 1)
        (model / "config.json").write_text(json.dumps(config))
        write_safetensors(model / "model.safetensors", weights)
        drop = "attn_raw" if config["model_type"] in ("olmo", "gpt_oss") else ""
        for silent in (None, (1, 2)):
            want = forward(config, weights, ids, mask, silent)
            want = {key: value for key, value in want.items() if not drop or not key.endswith(drop)}
            gain = [] if silent is None else ["--gain", f"{silent[0]}.{silent[1]}=0"]
            run(program, "trace", "--model", model, "--inputs", inputs, "--stages", stages, *gain, "-o", out)
            compare(name, read_safetensors(out), want, mask, worst)
        check_generated(program, name, config, model, weights)


def check_generated(program, name, config, model, weights):
    text = [5, 7, 11, 3, 8]
    made = json.loads(run(program, "generate", "--model", model, "--ids", ",".join(map(str, text)), "--tokens", 7, "--json"))
    for token, probability in zip(made["ids"], made["model_probabilities"], strict=True):
        ids = torch.tensor([text])
        shares = forward(config, weights, ids, torch.ones_like(ids))["logits"][0, -1].softmax(-1)
        assert token == shares.argmax().item(), (name, text, token)
        assert abs(shares[token].item() - probability) < 2e-5, (name, text)
        text.append(token)


def check_refused(program, folder):
    """Checks that tensors in blocks of 4 bits are refused with their name and the readable types."""
    model = folder / "blocks"
    model.mkdir()
    (model / "config.json").write_text(json.dumps({**OSS, "quantization_config": {"quant_method": "mxfp4"}}))
    write_safetensors(model / "model.safetensors", {"x": torch.ones(1)})
    done = subprocess.run([program, "trace", "--model", model, "--ids", "1", "-o", folder / "out"], capture_output=True, text=True)
    assert done.returncode == 1 and "MXFP4" in done.stderr and "BF16" in done.stderr, done.stderr


def main(program, data):
    worst = {}
    check_against_stored(pathlib.Path(data))
    with tempfile.TemporaryDirectory() as folder:
        check_program(program, pathlib.Path(folder), worst)
        check_refused(program, pathlib.Path(folder))
    print("largest differences:", ", ".join(f"{kind} {gap:.1e}" for kind, gap in worst.items()))


if __name__ == "__main__":
    main(*sys.argv[1:])
