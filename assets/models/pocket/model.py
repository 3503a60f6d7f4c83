"""pocket in plain PyTorch: a decoder of the Llama family, with the parameter names of Hugging Face.

Shapes: B sequences, T tokens, D numbers a token, H heads of dk numbers, V tokens in the vocabulary.
"""

import json
import struct
from pathlib import Path

import numpy
import torch
from torch import nn
from torch.nn import functional

CONFIG = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 192, "intermediate_size": 384,
          "num_hidden_layers": 4, "num_attention_heads": 8, "num_key_value_heads": 8, "vocab_size": 1536,
          "max_position_embeddings": 256, "rope_theta": 10000.0, "rms_norm_eps": 1e-5, "hidden_act": "silu",
          "attention_bias": False, "mlp_bias": False, "tie_word_embeddings": True, "initializer_range": 0.02,
          "bos_token_id": 0, "eos_token_id": 1, "torch_dtype": "float16"}


class RMSNorm(nn.Module):
    """(..., D) divided by its root mean square, times a learned weight."""

    def __init__(self, size, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.epsilon = epsilon

    def forward(self, x):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.epsilon) * self.weight


def rotation(T, dk, theta):
    """cos and sin of the rotary angles, each (T, dk); numbers c and c + dk/2 turn together."""
    frequencies = theta ** (-torch.arange(0, dk, 2, dtype=torch.float64) / dk)
    angles = torch.arange(T, dtype=torch.float64)[:, None] * frequencies[None, :]
    angles = torch.cat([angles, angles], dim=1)
    return angles.cos().float(), angles.sin().float()


def rotate(x, cos, sin):
    """Turns x (B, H, T, dk) by the angles of rotation()."""
    half = x.shape[-1] // 2
    return x * cos + torch.cat([-x[..., half:], x[..., :half]], dim=-1) * sin


class Attention(nn.Module):
    """Causal multi-head attention with rotary positions, (B, T, D) to (B, T, D)."""

    def __init__(self, config):
        super().__init__()
        D = config["hidden_size"]
        self.H, self.dk = config["num_attention_heads"], D // config["num_attention_heads"]
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(D, D, bias=False) for _ in range(4))

    def heads(self, x):
        """(B, T, D) as (B, H, T, dk)."""
        return x.view(*x.shape[:2], self.H, self.dk).transpose(1, 2)

    def forward(self, x, around, gain=None, kept=None):
        """around: cos, sin and mask (T, T) to add to the scores; gain: (H) factors; kept: a list that gets the weights."""
        cos, sin, mask = around
        B, T, D = x.shape
        q = rotate(self.heads(self.q_proj(x)), cos, sin).reshape(-1, T, self.dk)
        k = rotate(self.heads(self.k_proj(x)), cos, sin).reshape(-1, T, self.dk)
        v = self.heads(self.v_proj(x)).reshape(-1, T, self.dk)
        weights = torch.baddbmm(mask, q, k.transpose(1, 2), alpha=self.dk ** -0.5).softmax(-1)
        out = torch.bmm(weights, v).view(B, self.H, T, self.dk)
        if kept is not None:
            kept.append(weights.view(B, self.H, T, T))
        if gain is not None:
            out = out * gain.view(1, -1, 1, 1)
        return self.o_proj(out.transpose(1, 2).reshape(B, T, D))


class MLP(nn.Module):
    """down(silu(gate(x)) * up(x)), (B, T, D) to (B, T, D)."""

    def __init__(self, config):
        super().__init__()
        D, wide = config["hidden_size"], config["intermediate_size"]
        self.gate_proj, self.up_proj = (nn.Linear(D, wide, bias=False) for _ in range(2))
        self.down_proj = nn.Linear(wide, D, bias=False)

    def forward(self, x):
        return self.down_proj(functional.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    """Attention and MLP, each after a norm and added to its input."""

    def __init__(self, config):
        super().__init__()
        self.input_layernorm = RMSNorm(config["hidden_size"], config["rms_norm_eps"])
        self.self_attn = Attention(config)
        self.post_attention_layernorm = RMSNorm(config["hidden_size"], config["rms_norm_eps"])
        self.mlp = MLP(config)

    def forward(self, x, around, gain=None, kept=None):
        x = x + self.self_attn(self.input_layernorm(x), around, gain, kept)
        return x + self.mlp(self.post_attention_layernorm(x))


class Decoder(nn.Module):
    """Token ids (B, T) to the last hidden state (B, T, D)."""

    def __init__(self, config):
        super().__init__()
        self.config = config
        self.embed_tokens = nn.Embedding(config["vocab_size"], config["hidden_size"])
        self.layers = nn.ModuleList(Layer(config) for _ in range(config["num_hidden_layers"]))
        self.norm = RMSNorm(config["hidden_size"], config["rms_norm_eps"])

    def forward(self, ids, gains=None, kept=None):
        T = ids.shape[1]
        dk = self.config["hidden_size"] // self.config["num_attention_heads"]
        mask = torch.full((T, T), float("-inf")).triu(1)
        around = (*rotation(T, dk, self.config["rope_theta"]), mask)
        x = self.embed_tokens(ids)
        for l, layer in enumerate(self.layers):
            x = layer(x, around, None if gains is None else gains[l], kept)
        return self.norm(x)


class Pocket(nn.Module):
    """The model with its language-model head, which is the word embedding again."""

    def __init__(self, config=CONFIG):
        super().__init__()
        self.config = dict(config)
        self.model = Decoder(self.config)
        self.start()

    def start(self):
        """Random weights: normal, narrower where the result is added to the residual stream.

        All word embeddings share one random direction. It makes no difference to the probabilities, and gives every head
        from the start a number that does not depend on the word, without which it cannot attend by position.
        """
        layers = self.config["num_hidden_layers"]
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2:
                adds = name.endswith(("o_proj.weight", "down_proj.weight"))
                nn.init.normal_(parameter, std=0.05 / ((2 * layers) ** 0.5 if adds else 1.0))
        with torch.no_grad():
            self.model.embed_tokens.weight += 0.05 * torch.randn(self.config["hidden_size"])

    def forward(self, ids, gains=None, kept=None):
        """Logits (B, T, V) for ids (B, T).

        gains: (L, H) factors on what each head hands over. kept: a list that gets the weights (B, H, T, T) of each layer.
        """
        return functional.linear(self.model(ids, gains, kept), self.model.embed_tokens.weight)

    def save(self, folder):
        """Writes config.json and model.safetensors (float16) into the folder."""
        folder = Path(folder)
        (folder / "config.json").write_text(json.dumps(self.config, indent=2) + "\n")
        arrays = {name: tensor.detach().numpy().astype(numpy.float16) for name, tensor in sorted(self.state_dict().items())}
        header, end = {"__metadata__": {"format": "pt"}}, 0
        for name, array in arrays.items():
            header[name] = {"dtype": "F16", "shape": list(array.shape), "data_offsets": [end, end + array.nbytes]}
            end += array.nbytes
        text = json.dumps(header, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 8)
        with open(folder / "model.safetensors", "wb") as file:
            file.write(struct.pack("<Q", len(text)) + text)
            for array in arrays.values():
                file.write(array.tobytes())


def load(folder):
    """The model of a folder that save() wrote, its float16 weights as float32, ready to evaluate."""
    folder = Path(folder)
    model = Pocket(json.loads((folder / "config.json").read_text()))
    data = (folder / "model.safetensors").read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    state = {}
    for name, entry in json.loads(data[8:8 + size]).items():
        if name != "__metadata__":
            start, end = (8 + size + offset for offset in entry["data_offsets"])
            array = numpy.frombuffer(data[start:end], dtype=numpy.float16).reshape(entry["shape"])
            state[name] = torch.from_numpy(array.astype(numpy.float32))
    model.load_state_dict(state)
    return model.eval()
