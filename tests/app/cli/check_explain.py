#!/usr/bin/env python3
"""check_explain.py PROGRAM DATA: recomputes the output of `headscope explain` and `headscope patch` with NumPy.

Implements the forward pass of five decoders in float64, with a hook for every activation and without code of the program.
Its logits are compared with those of `headscope trace` first. Then each explanation is computed from the recorded
activations, and each patched run by a hook that replaces an activation. The models are GPT-2 (LayerNorm, learned
positions), Llama (RMSNorm, rotary positions, grouped keys), Qwen 3 (norms on queries and keys), Phi (a parallel residual,
partial rotation, a bias of the output matrix) and pocket, the model that comes with the program. Exits with 77 if NumPy is
not installed."""
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
from types import SimpleNamespace

SKIPPED = 77
# The matrices are small: more threads would only wait for each other.
os.environ.update({"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})
try:
    import numpy as np
except ImportError:
    print("skipped: NumPy is not installed (Debian: python3-numpy)")
    sys.exit(SKIPPED)

PROGRAM, DATA = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
POCKET = DATA.parents[1] / "assets" / "models" / "pocket"
BY_POSITION, BY_HEAD = ["residual", "attention", "mlp"], ["head", "q", "k", "v", "pattern"]
compared = 0


# ---- the models

TYPES = {"F32": "<f4", "F16": "<f2"}


def read_safetensors(path):
    data = pathlib.Path(path).read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + length])
    header.pop("__metadata__", None)
    return {
        name: np.frombuffer(data, TYPES[e["dtype"]], int(np.prod(e["shape"])), 8 + length + e["data_offsets"][0])
        .reshape(e["shape"]).astype(float)
        for name, e in header.items() if e["dtype"] in TYPES
    }  # fmt: skip


def gelu(x):
    return 0.5 * x * (1 + np.tanh((2 / np.pi) ** 0.5 * (x + 0.044715 * x**3)))


def silu(x):
    return x / (1 + np.exp(-x))


class Norm:
    """LayerNorm, or RMSNorm if `centred` is false."""

    def __init__(self, weight, bias, eps, centred):
        self.weight, self.bias, self.eps, self.centred = weight, bias, eps, centred

    def hold(self, c, x):
        """Normalizes rows c with the scale of x: exact for c = x, and linear in c."""
        centre = (lambda v: v - v.mean(axis=-1, keepdims=True)) if self.centred else (lambda v: v)
        return centre(c) / np.sqrt((centre(x) ** 2).mean(axis=-1, keepdims=True) + self.eps) * self.weight

    def __call__(self, x):
        return self.hold(x, x) + (0 if self.bias is None else self.bias)


class Linear:
    def __init__(self, weight, bias=None):
        self.weight, self.bias = weight, bias

    def __call__(self, x):
        return x @ self.weight + (0 if self.bias is None else self.bias)


def gpt2(config, w):
    D, eps = config["n_embd"], config["layer_norm_epsilon"]
    norm = lambda name: Norm(w[name + ".weight"], w[name + ".bias"], eps, True)
    linear = lambda name: Linear(w[name + ".weight"], w[name + ".bias"])
    layers = []
    for l in range(config["n_layer"]):
        at = f"transformer.h.{l}."
        packed = linear(at + "attn.c_attn")
        part = lambda n: Linear(packed.weight[:, n * D : (n + 1) * D], packed.bias[n * D : (n + 1) * D])
        up, down = linear(at + "mlp.c_fc"), linear(at + "mlp.c_proj")
        layers.append(SimpleNamespace(
            norm1=norm(at + "ln_1"), q=part(0), k=part(1), v=part(2), o=linear(at + "attn.c_proj"), norm2=norm(at + "ln_2"),
            mlp=lambda x, up=up, down=down: down(gelu(up(x))), q_norm=None, k_norm=None))  # fmt: skip
    words = w["transformer.wte.weight"]
    return SimpleNamespace(words=words, positions=w["transformer.wpe.weight"], layers=layers, end=norm("transformer.ln_f"),
                           W_U=words.T, b_U=None, H=config["n_head"], Hkv=config["n_head"], dk=D // config["n_head"],
                           turned=0, base=None, parallel=False)  # fmt: skip


def llama(config, w):
    """Llama, Qwen 3 and pocket; Phi, whose names differ little."""
    phi = config["model_type"] == "phi"
    eps, H = config["layer_norm_eps" if phi else "rms_norm_eps"], config["num_attention_heads"]
    dk = config.get("head_dim") or config["hidden_size"] // H
    norm = lambda name: Norm(w[name + ".weight"], w.get(name + ".bias"), eps, phi) if name + ".weight" in w else None
    linear = lambda name: Linear(w[name + ".weight"].T, w.get(name + ".bias"))
    layers = []
    for l in range(config["num_hidden_layers"]):
        attention, mlp = (f"model.layers.{l}.{part}." for part in ("self_attn", "mlp"))
        if phi:
            up, down = linear(mlp + "fc1"), linear(mlp + "fc2")
            make = lambda x, up=up, down=down: down(gelu(up(x)))
        else:
            gate, up, down = (linear(mlp + name) for name in ("gate_proj", "up_proj", "down_proj"))
            make = lambda x, gate=gate, up=up, down=down: down(silu(gate(x)) * up(x))
        layers.append(SimpleNamespace(
            norm1=norm(f"model.layers.{l}.input_layernorm"), norm2=norm(f"model.layers.{l}.post_attention_layernorm"),
            q=linear(attention + "q_proj"), k=linear(attention + "k_proj"), v=linear(attention + "v_proj"),
            o=linear(attention + ("dense" if phi else "o_proj")), mlp=make,
            q_norm=norm(attention + "q_norm"), k_norm=norm(attention + "k_norm")))  # fmt: skip
    words = w["model.embed_tokens.weight"]
    return SimpleNamespace(
        words=words, positions=None, layers=layers, end=norm("model.final_layernorm" if phi else "model.norm"),
        W_U=w.get("lm_head.weight", words).T, b_U=w.get("lm_head.bias"), H=H, Hkv=config["num_key_value_heads"], dk=dk,
        turned=int(dk * config.get("partial_rotary_factor", 1)), base=config["rope_theta"], parallel=phi)  # fmt: skip


def rotate(m, x, positions):
    """Rotates rows x (.., dk) by their positions: number p of the rotated part is paired with number p + half."""
    half = m.turned // 2
    if half == 0:
        return x
    angle = np.multiply.outer(np.asarray(positions, float), m.base ** (-2.0 * np.arange(half) / m.turned))
    first, second, rest = np.split(x, [half, m.turned], axis=-1)
    cos, sin = np.cos(angle), np.sin(angle)
    return np.concatenate([first * cos - second * sin, second * cos + first * sin, rest], axis=-1)


def forward(m, ids, hook=lambda name, layer, value: value, gains={}):
    """Computes every activation by (name, layer). hook may return another activation, which everything downstream reads.
    Queries, keys and values are (H, T, dk): query heads that share keys get a copy each."""
    at, T = {}, len(ids)

    def see(name, layer, value):
        at[name, layer] = value = hook(name, layer, value)
        return value

    x = see("embedding", None, m.words[list(ids)])
    if m.positions is not None:
        x = x + see("position", None, m.positions[:T])
    heads = lambda rows, n: rows.reshape(T, n, m.dk).transpose(1, 0, 2).repeat(m.H // n, axis=0)
    later = np.triu(np.ones((T, T), bool), 1)
    for l, layer in enumerate(m.layers):
        x = see("resid_in", l, x)
        normed = layer.norm1(x)
        q, k = see("q_raw", l, heads(layer.q(normed), m.H)), see("k_raw", l, heads(layer.k(normed), m.Hkv))
        q, k = (n(rows) if n else rows for n, rows in ((layer.q_norm, q), (layer.k_norm, k)))
        q, k, v = see("q", l, q), see("k", l, k), see("v", l, heads(layer.v(normed), m.Hkv))
        scaled = rotate(m, q, range(T)) @ rotate(m, k, range(T)).transpose(0, 2, 1) / np.sqrt(m.dk)
        e = np.where(later, 0, np.exp(see("scaled", l, scaled) - np.where(later, -np.inf, scaled).max(-1, keepdims=True)))
        A = see("pattern", l, e / e.sum(axis=-1, keepdims=True))
        gain = np.array([gains.get((l, h), 1.0) for h in range(m.H)])[:, None, None]
        added = see("head", l, gain * (A @ v @ layer.o.weight.reshape(m.H, m.dk, -1)))
        out = see("attention", l, added.sum(axis=0) + (0 if layer.o.bias is None else layer.o.bias))
        x = x + out + see("mlp", l, layer.mlp(normed if m.parallel else layer.norm2(x + out)))
    x = see("resid_in", len(m.layers), x)
    at["logits", None] = logits_of(m, x)
    return at


def logits_of(m, x):
    return m.end(x) @ m.W_U + (0 if m.b_U is None else m.b_U)


# ---- the program


def run(*arguments):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, (arguments, done.returncode, done.stderr)
    return done.stdout


def listed(ids):
    return ",".join(map(str, ids))


def close(got, want, tolerance, *what):
    global compared
    got, want = np.asarray(got, float), np.asarray(want, float)
    assert got.shape == want.shape, (*what, got.shape, want.shape)
    wrong = np.abs(got - want) > tolerance * np.maximum(1, np.abs(want))
    assert not wrong.any(), (*what, "differs at", np.argwhere(wrong)[:5].tolist(), got[wrong][:5], want[wrong][:5])
    compared += got.size


class Case:
    """A model and the two prompts of its explanations."""

    def __init__(self, folder, model, ids, corrupted):
        self.folder, self.model, self.ids, self.corrupted = folder, model, ids, corrupted
        config, weights = json.loads((model / "config.json").read_text()), read_safetensors(model / "model.safetensors")
        self.m = (gpt2 if config["model_type"] == "gpt2" else llama)(config, weights)
        self.clean_run, self.corrupted_run = forward(self.m, ids), forward(self.m, corrupted)
        self.L, self.T = len(self.m.layers), len(ids)

    def explain(self, what, *more, ids=True):
        return json.loads(run("explain", "--model", self.model, "--what", what, *(["--ids", listed(self.ids)] if ids else []),
                              *more))  # fmt: skip

    # -- the forward pass

    def check_logits(self):
        out = self.folder / "trace.safetensors"
        for ids, own in ((self.ids, self.clean_run), (self.corrupted, self.corrupted_run)):
            run("trace", "--model", self.model, "--ids", listed(ids), "--stages", "logits,resid_in,weights", "-o", out)
            traced = read_safetensors(out)
            close(traced["logits"][0], own["logits", None], 2e-4, self.model.name, "logits")
            for l in range(self.L):
                close(traced[f"layers.{l}.resid_in"][0], own["resid_in", l], 2e-4, self.model.name, "resid_in", l)
                close(traced[f"layers.{l}.weights"][0], own["pattern", l], 2e-4, self.model.name, "weights", l)

    # -- the components of the residual stream

    def writers(self, at, position, until):
        """Returns name and vector of every residual stream component that layer `until` reads at a position."""
        out = [("embedding", at["embedding", None][position])]
        if self.m.positions is not None:
            out.append(("position", at["position", None][position]))
        for l in range(until):
            out += [(f"L{l}H{h}", at["head", l][h, position]) for h in range(self.m.H)]
            if self.m.layers[l].o.bias is not None:
                out.append((f"L{l} b_O", self.m.layers[l].o.bias))
            out.append((f"L{l} mlp", at["mlp", l][position]))
        close(sum(vector for name, vector in out), at["resid_in", until][position], 1e-9, "writers add up to the stream")
        return out

    def attribution(self, at, position, token, against, gains):
        m, x = self.m, at["resid_in", self.L][position]
        direction = m.W_U[:, token] - (m.W_U.mean(axis=1) if against is None else m.W_U[:, against])
        want = {name: m.end.hold(c, x) @ direction for name, c in self.writers(at, position, self.L)}
        if m.end.bias is not None:
            want["final norm bias"] = m.end.bias @ direction
        if m.b_U is not None:
            want["head bias"] = m.b_U[token] - (m.b_U.mean() if against is None else m.b_U[against])
        # The output of head h at the position, split by the token of each value.
        sources = {}
        for l, layer in enumerate(m.layers):
            W_O = layer.o.weight.reshape(m.H, m.dk, -1)
            for h in range(m.H):
                parts = at["pattern", l][h, position][:, None] * at["v", l][h] @ W_O[h]
                sources[f"L{l}H{h}"] = gains.get((l, h), 1.0) * (m.end.hold(parts, x) @ direction)
        return want, sources

    def check_attribution(self, position, token, against, gains={}):
        at = forward(self.m, self.ids, gains=gains)
        options = [*(word for (l, h), g in gains.items() for word in ("--gain", f"{l}.{h}={g}")),
                   *([] if token is None else ["--token-id", token]),
                   *([] if against is None else ["--against-id", against]),
                   *([] if position is None else ["--position", position])]  # fmt: skip
        got, where = self.explain("logits", *options), (self.model.name, "logits", options)
        position = self.T - 1 if position is None else position
        logits = at["logits", None][position]
        token = int(logits.argmax()) if token is None else token
        assert got["token"]["id"] == token and got["position"] == position, where
        assert got["against"] == "mean" if against is None else got["against"]["id"] == against, where
        want, sources = self.attribution(at, position, token, against, gains)
        logit = logits[token] - (logits.mean() if against is None else logits[against])
        close(sum(want.values()), logit, 1e-9, *where, "the formula itself")
        assert [w["name"] for w in got["writers"]] == list(want), (*where, [w["name"] for w in got["writers"]])
        close([w["value"] for w in got["writers"]], list(want.values()), 2e-5, *where, "writers")
        close(got["logit"], logit, 2e-5, *where, "logit")
        close(sum(w["value"] for w in got["writers"]), got["logit"], 2e-5, *where, "sum")
        assert list(got["by_source"]) == list(sources), where
        for name, parts in sources.items():
            close(got["by_source"][name], parts, 2e-5, *where, name)
            close(sum(got["by_source"][name]), want[name], 2e-5, *where, name, "sum over sources")

    def check_logit_parts(self):
        last = self.clean_run["logits", None][-1]
        best, worst = int(last.argmax()), int(last.argmin())
        self.check_attribution(None, best, worst)
        self.check_attribution(self.T // 2, 3, 7)
        self.check_attribution(0, 5, None)
        self.check_attribution(None, None, None)
        self.check_attribution(None, best, None, {(0, 1): 0.5, (self.L - 1, 2): -2.0})

    def check_lens(self):
        streams = [self.clean_run["resid_in", l] for l in range(self.L + 1)]
        for top, position in ((3, None), (5, 2)):
            got = self.explain("lens", "--top", top, *([] if position is None else ["--position", position]))["layers"]
            assert [row["layer"] for row in got] == list(range(self.L + 1)), self.model.name
            for row, x in zip(got, streams, strict=True):
                logits = logits_of(self.m, x)
                e = np.exp(logits - logits.max(axis=-1, keepdims=True))
                P, places = e / e.sum(axis=-1, keepdims=True), range(self.T) if position is None else [position]
                assert [cell["position"] for cell in row["positions"]] == list(places), self.model.name
                for cell in row["positions"]:
                    i, where = cell["position"], (self.model.name, "lens", row["layer"], cell["position"])
                    assert cell["read"]["id"] == self.ids[i] and len({entry["id"] for entry in cell["top"]}) == top, where
                    chances = [entry["probability"] for entry in cell["top"]]
                    close(chances, np.sort(P[i])[::-1][:top], 2e-5, *where)
                    close(chances, [P[i, entry["id"]] for entry in cell["top"]], 2e-5, *where)

    # -- scores

    def side(self, at, l, head, position, queries):
        """Returns names and vectors (components, dk) of a query or a key before the rotation, every norm at the scale of
        the run."""
        m, layer = self.m, self.m.layers[l]
        linear, norm = (layer.q, layer.q_norm) if queries else (layer.k, layer.k_norm)
        h = head if queries else head // (m.H // m.Hkv)
        columns = slice(h * m.dk, (h + 1) * m.dk)
        W, b = linear.weight[:, columns], None if linear.bias is None else linear.bias[columns]
        named = self.writers(at, position, l)
        rows = [layer.norm1.hold(c, at["resid_in", l][position]) @ W for name, c in named]
        names = [name for name, c in named]
        if layer.norm1.bias is not None:
            names, rows = names + [f"L{l} norm1 bias"], rows + [layer.norm1.bias @ W]
        if b is not None:
            names, rows = names + ["bias"], rows + [b]
        rows = np.array(rows)
        return names, norm.hold(rows, rows.sum(axis=0)) if norm else rows

    def check_score(self, l, head, i, j, gains={}):
        more = [word for (layer, h), g in gains.items() for word in ("--gain", f"{layer}.{h}={g}")]
        got = self.explain("score", "--layer", l, "--head", head, "--query", i, "--key", j, *more)
        where, m, at = (self.model.name, "score", l, head, i, j, *more), self.m, forward(self.m, self.ids, gains=gains)
        names, q = self.side(at, l, head, i, True)
        _, k = self.side(at, l, head, j, False)
        terms = rotate(m, q, [i] * len(names)) @ rotate(m, k, [j] * len(names)).T / np.sqrt(m.dk)
        scaled = at["scaled", l][head, i, j]
        close(terms.sum(), scaled, 1e-9, *where, "the formula itself")
        assert got["writers"] == names, (*where, got["writers"], names)
        close(got["scaled"], scaled, 2e-5, *where, "scaled")
        close(got["terms"], terms, 2e-5, *where, "terms")
        close(np.sum(got["terms"]), got["scaled"], 2e-5, *where, "sum of the terms")
        if not m.turned:
            assert "pairs" not in got, where
            return
        # abs(q) abs(k) cos(phi_q - phi_k + (i - j) theta) of each pair; pairs that do not rotate are only in the sum.
        half, q, k = m.turned // 2, q.sum(axis=0), k.sum(axis=0)
        both = lambda v: v[:half] + 1j * v[half : 2 * half]
        theta = m.base ** (-2.0 * np.arange(half) / m.turned)
        turn = np.angle(both(q)) - np.angle(both(k)) + (i - j) * theta
        assert len(got["pairs"]) == m.dk // 2, where
        close(got["pairs"][:half], np.abs(both(q)) * np.abs(both(k)) * np.cos(turn) / np.sqrt(m.dk), 2e-5, *where, "pairs")
        close(sum(got["pairs"]), got["scaled"], 2e-5, *where, "sum of the pairs")
        close(np.array(got["wavelengths"][:half]) / (2 * np.pi / theta), np.ones(half), 1e-3, *where, "wavelengths")

    def check_scores(self):
        last = self.T - 1
        for question in ((0, 1, last, 2), (self.L - 1, 0, last, 0), (self.L - 1, 3, last, last - 1), (1, 2, 4, 4)):
            self.check_score(*question)
        self.check_score(1, 3, last, 1, {(0, 1): 0.0, (0, 2): 3.0})

    def check_vocabulary(self):
        m, token = self.m, self.ids[1]
        for l, head in ((0, 1), (self.L - 1, 3)):
            layer, own = m.layers[l], slice(head * m.dk, (head + 1) * m.dk)
            shared = head // (m.H // m.Hkv)
            kv, e = slice(shared * m.dk, (shared + 1) * m.dk), m.words[token]
            writes = e @ layer.v.weight[:, kv] @ layer.o.weight[own] @ m.W_U
            wants = e @ layer.q.weight[:, own] @ layer.k.weight[:, kv].T @ m.words.T / np.sqrt(m.dk)
            asked = ("vocabulary", "--layer", l, "--head", head, "--token-id", token, "--top", 4)
            got = self.explain(*asked, ids=False)
            assert got["token"]["id"] == token, self.model.name
            for name, all_values, sign in (("promotes", writes, 1), ("suppresses", writes, -1), ("looks_for", wants, 1)):
                where, values = (self.model.name, "vocabulary", l, head, name), [entry["value"] for entry in got[name]]
                assert len({entry["id"] for entry in got[name]}) == 4, where
                close(values, -sign * np.sort(-sign * all_values)[:4], 2e-5, *where)
                close(values, [all_values[entry["id"]] for entry in got[name]], 2e-5, *where)

    # -- patching

    def choose_tokens(self, position):
        """Returns the two tokens whose difference of logits the two prompts change most."""
        change = self.clean_run["logits", None][position] - self.corrupted_run["logits", None][position]
        return int(change.argmax()), int(change.argmin())

    def difference(self, at, position, tokens):
        return at["logits", None][position, tokens[0]] - at["logits", None][position, tokens[1]]

    def recovered(self, position, tokens, hook, runs):
        """Returns the fraction that a hook restores in the corrupted run. runs: clean run, corrupted run, head gains."""
        clean, corrupted = (self.difference(at, position, tokens) for at in runs[:2])
        assert abs(clean - corrupted) > 0.2, (self.model.name, clean, corrupted)
        patched = self.difference(forward(self.m, self.corrupted, hook, runs[2]), position, tokens)
        return clean, corrupted, (patched - corrupted) / (clean - corrupted)

    def patch(self, position, tokens, *more):
        common = ["patch", "--model", self.model, "--clean-ids", listed(self.ids), "--corrupted-ids", listed(self.corrupted),
                  "--answer-id", tokens[0], "--against-id", tokens[1],
                  *([] if position is None else ["--position", position]), *more]  # fmt: skip
        path = self.folder / "patch.safetensors"
        assert run(*common, "-o", path) == ""
        tensors = read_safetensors(path)
        assert sorted(tensors) == ["clean", "corrupted", "recovered"], sorted(tensors)
        assert tensors["clean"].shape == tensors["corrupted"].shape == (1,), (self.model.name, more)
        return tensors

    def check_json(self, tokens, what, *more):
        """Checks the same numbers and the tokens of both prompts, on standard output and in a file."""
        tensors = self.patch(None, tokens, *more)
        common = ["patch", "--model", self.model, "--clean-ids", listed(self.ids), "--corrupted-ids", listed(self.corrupted),
                  "--answer-id", tokens[0], "--against-id", tokens[1], *more]  # fmt: skip
        text, path = run(*common), self.folder / "patch.json"
        assert run(*common, "-o", path) == "" and path.read_text() == text == run(*common, "--json")
        got = json.loads(text)
        assert list(got) == ["what", "clean", "corrupted", "clean_tokens", "corrupted_tokens", "recovered"], list(got)
        assert got["what"] == what and len(got["clean_tokens"]) == len(got["corrupted_tokens"]) == self.T, got
        differing = [a != b for a, b in zip(got["clean_tokens"], got["corrupted_tokens"], strict=True)]
        assert differing == [a != b for a, b in zip(self.ids, self.corrupted, strict=True)], got
        for name, tensor in tensors.items():
            own = np.asarray(got[name], np.float32).astype(float)
            assert np.array_equal(tensor, own if own.ndim else own[None]), (self.model.name, more, name)

    def check_map(self, what, position, tokens, runs, *more):
        """Checks a whole map: computes each number in a run with a hook that inserts the clean run's activation."""
        got, where = self.patch(position, tokens, "--what", what, *more), (self.model.name, "patch", what, position, more)
        name = "resid_in" if what == "residual" else what
        want = np.zeros((self.L + (what == "residual"), self.m.H if what in BY_HEAD else self.T))
        for l, column in np.ndindex(*want.shape):

            def hook(seen, layer, value, l=l, column=column):
                if (seen, layer) == (name, l):
                    value = value.copy()
                    value[column] = runs[0][name, l][column]
                return value

            clean, corrupted, want[l, column] = self.recovered(self.T - 1 if position is None else position, tokens, hook, runs)
        close(got["clean"], [clean], 2e-5, *where, "clean")
        close(got["corrupted"], [corrupted], 2e-5, *where, "corrupted")
        close(got["recovered"], want, 5e-5, *where)
        assert np.abs(want).max() > 0.01, (*where, "nothing is recovered anywhere")

    def check_maps(self):
        runs = (self.clean_run, self.corrupted_run, {})
        for what in BY_POSITION + BY_HEAD:
            self.check_map(what, None, self.choose_tokens(self.T - 1), runs)
        for what in ("mlp", "k"):
            self.check_map(what, self.T - 3, self.choose_tokens(self.T - 3), runs)
        gains = {(0, 2): 3.0}
        gained = [forward(self.m, ids, gains=gains) for ids in (self.ids, self.corrupted)]
        self.check_map("head", None, self.choose_tokens(self.T - 1), (*gained, gains), "--gain", "0.2=3")
        self.check_json(self.choose_tokens(self.T - 1), "head", "--what", "head")
        self.check_json(self.choose_tokens(self.T - 1), "path", "--from", "0.1", "--to", "1.3:k")

    def check_path(self, start, end, inputs):
        (la, a), (lb, b) = start, end
        m, layer, read = self.m, self.m.layers[lb], self.corrupted_run["resid_in", lb]
        change = layer.norm1.hold(self.clean_run["head", la][a] - self.corrupted_run["head", la][a], read)
        shared = b // (m.H // m.Hkv)
        more = {"q_raw": (layer.q, b), "k_raw": (layer.k, shared), "v": (layer.v, shared)}

        def hook(seen, at, value):
            if at == lb and seen in more and (not inputs or seen[0] == inputs):
                linear, n = more[seen]
                value = value.copy()
                value[b] += change @ linear.weight[:, n * m.dk : (n + 1) * m.dk]
            return value

        tokens = self.choose_tokens(self.T - 1)
        to = f"{lb}.{b}" + (f":{inputs}" if inputs else "")
        got = self.patch(None, tokens, "--from", f"{la}.{a}", "--to", to)
        where = (self.model.name, "path", start, to)
        clean, corrupted, recovered = self.recovered(self.T - 1, tokens, hook, (self.clean_run, self.corrupted_run, {}))
        close([*got["clean"], *got["corrupted"]], [clean, corrupted], 2e-5, *where)
        close(got["recovered"], [recovered], 1e-5, *where)
        return abs(recovered)

    def check_paths(self, paths):
        largest = max(self.check_path(start, end, inputs) for start, end in paths for inputs in ("", "q", "k", "v"))
        assert largest > 0.01, (self.model.name, "no path recovers anything", largest)

    # -- the causes of a prediction

    def check_why(self, position):
        got, where = self.explain("why", "--json", "--position", position), (self.model.name, "why", position)
        logits = self.clean_run["logits", None][position]
        chances = lambda row: np.exp(row - row.max()) / np.exp(row - row.max()).sum()
        token, against = map(int, np.argsort(-logits)[:2])
        assert [got["token"]["id"], got["against"]["id"]] == [token, against], where
        close([got["token"]["probability"], got["against"]["probability"]], chances(logits)[[token, against]], 2e-5, *where)
        close(got["logit"], logits[token] - logits[against], 2e-4, *where)
        want, _ = self.attribution(self.clean_run, position, token, against, {})
        causes = {name: part for name, part in want.items() if name in ("embedding", "position") or "H" in name or "mlp" in name}
        listed_names = [cause["name"] for cause in got["causes"]]
        first = max(causes, key=causes.get)
        others = [name for name in sorted(causes, key=lambda name: -abs(causes[name])) if name != first]
        assert listed_names == [first, *others[:2]], (*where, listed_names, first, others[:3])
        close([cause["value"] for cause in got["causes"]], [causes[name] for name in listed_names], 2e-4, *where)
        close(got["rest"] + sum(cause["value"] for cause in got["causes"]), got["logit"], 1e-5, *where)
        head = max((name for name in causes if "H" in name), key=causes.get)
        if causes[head] <= 0:
            assert "head" not in got, where
            return
        assert got["head"]["name"] == head, where
        l, h = map(int, head[1:].split("H"))
        row = self.clean_run["pattern", l][h, position]
        assert got["head"]["attends_to"]["position"] == int(np.argmax(row)), where
        close(got["head"]["attends_to"]["weight"], row.max(), 2e-4, *where)
        off = forward(self.m, self.ids, gains={(l, h): 0.0})["logits", None][position]
        assert got["without"]["likeliest"]["id"] == int(np.argmax(off)), where
        close([got["without"]["token"], got["without"]["against"]], chances(off)[[token, against]], 2e-5, *where)
        close(got["without"]["logit"], off[token] - off[against], 2e-4, *where)

    def check(self, paths):
        self.check_logits()
        self.check_logit_parts()
        for position in (self.T - 1, 3):
            self.check_why(position)
        self.check_lens()
        self.check_scores()
        self.check_vocabulary()
        self.check_maps()
        self.check_paths(paths)


def pocket_ids(sentence):
    (line,) = run("tokenize", "--tokenizer", POCKET, sentence, "--json").splitlines()
    return json.loads(line)["ids"]


# ---- input that is refused


def refused(code, words, *arguments):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == code, (arguments, done)
    assert done.stdout == "" and done.stderr.startswith("headscope: "), (arguments, done)
    assert done.stderr.count("\n") == 1 and done.stderr.endswith("\n"), (arguments, done.stderr)
    assert words in done.stderr, (arguments, done.stderr)


def check_refusals(folder):
    model = DATA / "models" / "gpt2_tiny"
    logits = ["explain", "--model", model, "--what", "logits", "--ids", "1,2,3"]
    refused(2, "text", "explain", "--model", model, "--what", "logits")
    refused(1, "--what", "explain", "--model", model, "--ids", "1,2,3", "--what", "nonsense")
    refused(2, "--what", "explain", "--model", model, "--ids", "1,2,3")
    refused(2, "--text", *logits, "--text", "4,5")
    refused(1, "--gain", *logits, "--gain", "1=0")
    refused(2, "--top", *logits, "--top", "3")
    refused(2, "--layer", *logits, "--layer", "0")
    refused(2, "--through-mlp", *logits, "--through-mlp")
    refused(1, "200", *logits, "--token-id", "200")
    refused(1, "-1", *logits, "--against-id", "-1")
    refused(1, "3", *logits, "--position", "3")
    refused(1, "200", "explain", "--model", model, "--what", "logits", "--ids", "1,200")
    refused(1, "tokenizer", "explain", "--model", model, "--what", "logits", "--text", "a word")
    refused(1, "tokenizer", *logits, "--token", "word")
    refused(1, "position 9", "explain", "--model", model, "--what", "why", "--ids", "1,2,3", "--position", "9")
    refused(2, "--token", "explain", "--model", model, "--what", "why", "--ids", "1,2,3", "--token-id", "3")
    refused(1, "--top", "explain", "--model", model, "--what", "lens", "--ids", "1,2,3", "--top", "0")
    refused(1, "Zanzibar", "explain", "--model", "pocket", "--what", "logits", "--text", "The cat", "--token", "Zanzibar")
    refused(1, "", "explain", "--model", folder / "nowhere", "--what", "lens", "--ids", "1")
    score = ["explain", "--model", model, "--what", "score", "--ids", "1,2,3"]
    refused(2, "--layer", *score, "--head", "0", "--query", "1", "--key", "0")
    refused(2, "--key", *score, "--layer", "0", "--head", "0", "--query", "1")
    refused(1, "layer 2", *score, "--layer", "2", "--head", "0", "--query", "1", "--key", "0")
    refused(1, "head 4", *score, "--layer", "1", "--head", "4", "--query", "1", "--key", "0")
    refused(1, "position 3", *score, "--layer", "1", "--head", "0", "--query", "1", "--key", "3")
    refused(2, "--token-id, which is for logits, ablation, vocabulary;", *score, "--token-id", "3")
    refused(2, "--query, which is for score;", "explain", "--model", model, "--what", "lens", "--ids", "1", "--query", "0")
    words = ["explain", "--model", model, "--what", "vocabulary"]
    refused(2, "--layer", *words, "--head", "0", "--token-id", "3")
    refused(2, "--token", *words, "--layer", "0", "--head", "0")
    refused(1, "200", *words, "--layer", "0", "--head", "0", "--token-id", "200")
    refused(2, "does not read --ids", *words, "--layer", "0", "--head", "0", "--token-id", "3", "--ids", "1,2")

    patch = ["patch", "--model", model, "--clean-ids", "1,2,3", "--corrupted-ids", "1,4,3"]
    asked = [*patch, "--answer-id", "5", "--against-id", "6"]
    refused(2, "--answer", *patch, "--against-id", "6", "--what", "head")
    refused(2, "--against", *patch, "--answer-id", "6", "--what", "head")
    refused(2, "--what", *asked)
    refused(1, "--what", *asked, "--what", "nonsense")
    refused(2, "--from", *asked, "--to", "0.1")
    refused(1, "no later head", *asked, "--from", "1.1")
    refused(2, "--what head and --from", *asked, "--what", "head", "--from", "0.1", "--to", "1.2")
    refused(1, "layer.head", *asked, "--from", "0.1", "--to", "1")
    refused(1, "after the colon, write q, k or v", *asked, "--from", "0.1", "--to", "1.2:x")
    refused(1, ".safetensors", *asked, "--what", "head", "-o", folder / "map.txt")
    refused(2, "--json", *asked, "--what", "head", "--json", "-o", folder / "map.safetensors")
    refused(2, "--clean", "patch", "--model", model, "--corrupted-ids", "1,4,3", "--answer-id", "5", "--against-id", "6",
            "--what", "head")  # fmt: skip
    refused(1, "equal length", *patch[:-1], "1,4", "--answer-id", "5", "--against-id", "6", "--what", "head")
    refused(1, "200", *patch, "--answer-id", "200", "--against-id", "6", "--what", "head")
    refused(1, "200", *patch[:-1], "1,200,3", "--answer-id", "5", "--against-id", "6", "--what", "head")
    refused(1, "same logit difference", *patch[:-1], "1,2,3", "--answer-id", "5", "--against-id", "6", "--what", "head")
    refused(1, "earlier layer", *asked, "--from", "1.0", "--to", "0.1")
    refused(1, "4", *asked, "--from", "0.4", "--to", "1.0")
    refused(1, "position 3", *asked, "--what", "head", "--position", "3")
    bidirectional = ["patch", "--model", DATA / "models" / "bert_tiny", *asked[3:], "--what", "head"]
    refused(1, "decoder", *bidirectional)
    assert not list(folder.glob("map.*"))


def main():
    all_paths = [((0, a), (1, b)) for a, b in ((0, 0), (1, 3), (3, 2))]
    models = DATA / "models"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        ids, corrupted = [5, 9, 2, 17, 9, 2, 40, 11], [5, 9, 61, 17, 80, 2, 40, 11]
        for model in ("gpt2_tiny", "llama_tiny_tied", "qwen3_tiny", "phi_tiny"):
            paths = all_paths + ([((0, 6), (1, 7)), ((0, 2), (1, 5))] if model == "llama_tiny_tied" else [])
            Case(folder, models / model, ids, corrupted).check(paths)
        sentences = [f"When Mary and John went to the shop, {who} gave a book to" for who in ("John", "Mary")]
        Case(folder, POCKET, *map(pocket_ids, sentences)).check([((0, 6), (2, 5)), ((0, 4), (3, 5)), ((0, 6), (1, 5))])
        check_refusals(folder)
    print(f"{compared} numbers of explain and patch agree with NumPy")


main()
