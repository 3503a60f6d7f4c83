#!/usr/bin/env python3
"""check_blocks.py PROGRAM DATA: checks the whole layer that `trace --model` writes.

Computes each stage around the attention again with PyTorch, from the checkpoint's parameters and the previous stage, for a
serial, a gated, a parallel and a post-norm model, and for both stacks of encoder-decoder models. Exits with 77 if torch is
not installed."""
import json
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
from tensor_files import read_safetensors

IDS = "1,5,9,5,7,3"


def trace(program, model, stages, out, *more):
    done = subprocess.run([program, "trace", "--model", str(model), "--ids", IDS, *more, "--stages", stages, "-o", str(out)],
                          capture_output=True)  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    return read_safetensors(out)


def close(name, got, want):
    worst = (got - want).abs().max().item()
    assert worst < 2e-5 * max(1.0, want.abs().max().item()), f"{name} differs by {worst}"


class Layer:
    """The parameters of one layer, by their names in the file."""

    def __init__(self, weights, prefix):
        self.weights, self.prefix = weights, prefix

    def __getitem__(self, name):
        return self.weights.get(self.prefix + name)


def rms(x, weight, eps):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps) * weight


def check_llama(data, program, folder):
    model = data / "models" / "llama_tiny_untied"
    config, weights = json.loads((model / "config.json").read_text()), read_safetensors(model / "model.safetensors")
    names = "embedding,resid_in,norm1,x,attn_out,output,resid_mid,norm2,mlp_pre,mlp_gate,mlp_act,mlp_out,resid_out,final_norm,probabilities"
    got, eps, L = trace(program, model, names, folder / "t.safetensors"), config["rms_norm_eps"], config["num_hidden_layers"]
    ids = torch.tensor([int(i) for i in IDS.split(",")])
    close("embedding", got["embedding"][0], weights["model.embed_tokens.weight"].float()[ids])
    assert "position" not in got
    for l in range(L):
        layer, at = Layer(weights, f"model.layers.{l}."), lambda name: got[f"layers.{l}.{name}"]
        close("resid_in", at("resid_in"), got[f"hidden.{l}"])
        close("norm1", at("norm1"), rms(at("resid_in"), layer["input_layernorm.weight"].float(), eps))
        assert torch.equal(at("norm1"), at("x")) and torch.equal(at("attn_out"), at("output"))
        close("resid_mid", at("resid_mid"), at("resid_in") + at("attn_out"))
        close("norm2", at("norm2"), rms(at("resid_mid"), layer["post_attention_layernorm.weight"].float(), eps))
        close("mlp_pre", at("mlp_pre"), at("norm2") @ layer["mlp.up_proj.weight"].float().T)
        close("mlp_gate", at("mlp_gate"), at("norm2") @ layer["mlp.gate_proj.weight"].float().T)
        close("mlp_act", at("mlp_act"), F.silu(at("mlp_gate")) * at("mlp_pre"))
        close("mlp_out", at("mlp_out"), at("mlp_act") @ layer["mlp.down_proj.weight"].float().T)
        close("resid_out", at("resid_out"), at("resid_mid") + at("mlp_out"))
    close("final_norm", got["final_norm"], rms(at("resid_out"), weights["model.norm.weight"].float(), eps))
    close("final_norm", got["final_norm"], got[f"hidden.{L}"])
    close("probabilities", got["probabilities"], got["logits"].softmax(-1))


def check_gpt2(data, program, folder):
    model = data / "models" / "gpt2_tiny"
    weights = read_safetensors(model / "model.safetensors")
    prefix = "transformer." if "transformer.wte.weight" in weights else ""
    got = trace(program, model, "embedding,position,resid_in,norm2,mlp_pre,mlp_act,mlp_out,resid_mid,resid_out",
                folder / "g.safetensors")  # fmt: skip
    close("position", got["position"][0], weights[prefix + "wpe.weight"].float()[: len(IDS.split(","))])
    close("resid_in", got["layers.0.resid_in"], got["embedding"] + got["position"])
    layer, at = Layer(weights, prefix + "h.1."), lambda name: got[f"layers.1.{name}"]
    width = at("norm2").shape[-1:]
    close("norm2", at("norm2"), F.layer_norm(at("resid_mid"), width, layer["ln_2.weight"], layer["ln_2.bias"]))
    close("mlp_pre", at("mlp_pre"), at("norm2") @ layer["mlp.c_fc.weight"] + layer["mlp.c_fc.bias"])
    x = at("mlp_pre")
    close("mlp_act", at("mlp_act"), 0.5 * x * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (x + 0.044715 * x**3))))
    close("mlp_out", at("mlp_out"), at("mlp_act") @ layer["mlp.c_proj.weight"] + layer["mlp.c_proj.bias"])
    assert "layers.1.mlp_gate" not in got


def check_sums(data, program, folder):
    """Checks a parallel layer, which does not have a sum in its middle, and one with norms after the sums."""
    names = "resid_in,norm1,attn_out,resid_mid,norm2,mlp_out,resid_out"
    got = trace(program, data / "models" / "gpt_neox_tiny", names, folder / "n.safetensors")
    at = lambda name: got[f"layers.0.{name}"]
    close("parallel", at("resid_out"), at("resid_in") + at("attn_out") + at("mlp_out"))
    assert "layers.0.resid_mid" not in got
    got = trace(program, data / "models" / "bert_tiny", names, folder / "b.safetensors")
    close("resid_mid", at("resid_mid"), at("resid_in") + at("attn_out"))
    close("resid_out", at("resid_out"), at("norm1") + at("mlp_out"))
    close("norm2", at("norm2"), got["hidden.1"])


def check_part(model, prefix, at, attention, mlp, norms, activation):
    """Checks one attention, and the MLP if it follows, from its input. Returns its output."""
    weights, config = read_safetensors(model / "model.safetensors"), json.loads((model / "config.json").read_text())
    before = config["model_type"] in ("t5", "mbart")
    layer = Layer(weights, prefix)

    def norm(name, x):
        weight, bias = layer[name + ".weight"], layer[name + ".bias"]
        return rms(x, weight, config["layer_norm_epsilon"]) if bias is None else F.layer_norm(x, x.shape[-1:], weight, bias)

    def linear(name, x):
        return F.linear(x, layer[name + ".weight"], layer[name + ".bias"])

    close("output", at("attn_out"), linear(attention, at("concat")))
    if before:
        close("norm1", at("norm1"), norm(norms[0], at("resid_in")))
        assert torch.equal(at("x"), at("norm1"))
    close("resid_mid", at("resid_mid"), at("resid_in") + at("attn_out"))
    middle = at("resid_mid")
    if not before:
        middle = norm(norms[0], at("resid_mid"))
        close("norm1", at("norm1"), middle)
    if mlp is None:
        return middle
    if before:
        close("norm2", at("norm2"), norm(norms[1], middle))
    close("mlp_pre", at("mlp_pre"), linear(mlp[0], at("norm2") if before else middle))
    close("mlp_act", at("mlp_act"), activation(at("mlp_pre")))
    close("mlp_out", at("mlp_out"), linear(mlp[1], at("mlp_act")))
    close("resid_out", at("resid_out"), middle + at("mlp_out"))
    if before:
        return at("resid_out")
    close("norm2", at("norm2"), norm(norms[1], at("resid_out")))
    return at("norm2")


def check_encoder_decoders(data, program, folder):
    """Checks both stacks of every family: an encoder's layer, and the two parts of a decoder's layer."""
    names = "resid_in,norm1,x,concat,attn_out,resid_mid,norm2,mlp_pre,mlp_act,mlp_out,resid_out"
    activations = {"t5": F.relu, "bart": F.gelu, "mbart": F.gelu, "marian": F.silu}
    for family, activation in activations.items():
        model = data / "models" / f"{family}_tiny"
        got = trace(program, model, names, folder / f"{family}.safetensors", "--decoder-ids", "2,7,4,11")
        depth = {stack: max(int(name.split(".")[2]) for name in got if name.startswith(stack + ".layers.")) + 1
                 for stack in ("encoder", "decoder")}  # fmt: skip
        for stack in ("encoder", "decoder"):
            for l in range(depth[stack]):
                at = lambda name, of=stack: got[f"{of}.layers.{l}.{name}"]
                of_attention = ("resid_in", "norm1", "x", "concat", "attn_out", "resid_mid")
                cross = lambda name: got[f"{'cross' if name in of_attention else 'decoder'}.layers.{l}.{name}"]
                assert f"cross.layers.{l}.mlp_act" not in got
                close("resid_in", at("resid_in"), got[f"{stack}.hidden.{l}"])
                if family == "t5":
                    block, dense = f"{stack}.block.{l}.layer.", "DenseReluDense."
                    last = 1 if stack == "encoder" else 2
                    mlp = [f"{last}.{dense}wi", f"{last}.{dense}wo"]
                    first = ["0.SelfAttention.o", mlp if stack == "encoder" else None, ["0.layer_norm", f"{last}.layer_norm"]]
                    second = ["1.EncDecAttention.o", mlp, ["1.layer_norm", f"{last}.layer_norm"]]
                else:
                    block, mlp = f"model.{stack}.layers.{l}.", ["fc1", "fc2"]
                    first = ["self_attn.out_proj", mlp if stack == "encoder" else None,
                             ["self_attn_layer_norm", "final_layer_norm"]]  # fmt: skip
                    second = ["encoder_attn.out_proj", mlp, ["encoder_attn_layer_norm", "final_layer_norm"]]
                leaves = check_part(model, block, at, *first, activation)
                if stack == "decoder":
                    close("cross resid_in", cross("resid_in"), leaves)
                    leaves = check_part(model, block, cross, *second, activation)
                if l + 1 < depth[stack] or family in ("bart", "marian"):
                    close("hidden", got[f"{stack}.hidden.{l + 1}"], leaves)


def main(program, data):
    with tempfile.TemporaryDirectory() as folder:
        for check in (check_llama, check_gpt2, check_sums, check_encoder_decoders):
            check(pathlib.Path(data), program, pathlib.Path(folder))
    done = subprocess.run([program, "trace", "a b", "--stages", "resid_in", "-o", "-"], capture_output=True)
    assert done.returncode == 1 and b"--model" in done.stderr, done
    print("the whole layer agrees")


if __name__ == "__main__":
    main(*sys.argv[1:])
