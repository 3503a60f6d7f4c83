#!/usr/bin/env python3
"""check_pytorch.py PROGRAM DATA UNIT_TESTS: runs the scripts that `headscope export` and a unit test write.

Every script has to exit with success, and to fail after a number in it is changed. The tensors that it computes are
compared with the expected ones of the reference cases (torch, float64). Warnings of PyTorch count as errors. All scripts
run in one interpreter, because importing torch takes longer than most of them. Exits with 77 if torch is not installed."""
import contextlib
import io
import json
import math
import os
import pathlib
import re
import runpy
import subprocess
import sys
import tempfile
import warnings

SKIPPED = 77
try:
    import torch
except ImportError:
    print("skipped: PyTorch is not installed (Debian: python3-torch)")
    sys.exit(SKIPPED)
from tensor_files import read_safetensors, write_patch, write_safetensors

EXPECTED = {  # variable of the script -> tensor of the case file
    "q": "Q", "k": "K", "v": "V", "scaled": "scores", "masked": "scores_masked", "weights": "weights",
    "head_out": "heads", "concat": "concat", "output": "output", "weights_mean": "weights_mean",
    "expected_weights": "weights", "expected_output": "output",
}  # fmt: skip
STAGES = {"x", "q_heads", "k_heads", "v_heads", "scores", "contributions", "q", "k", "v", "scaled", "masked", "weights",
          "weights_mean", "head_out", "concat", "output"}  # fmt: skip


# The numbers are compared as tensors, so few of them are printed: printing all takes a seventh of the time.
torch.set_printoptions(threshold=0, edgeitems=1)


# Families whose attention torch.nn.MultiheadAttention computes.
WITH_MODULE = "gpt2 bert distilbert roberta opt bloom xlm-roberta camembert mpt albert electra xglm mpnet".split()

def run_script(path):
    """Returns exit status (None if it ran to its end), variables and output."""
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            return None, runpy.run_path(str(path), run_name="__main__"), printed.getvalue()
    except SystemExit as end:
        return end.code, {}, printed.getvalue()


class Checker:
    def __init__(self, program, data, folder):
        self.program, self.data, self.folder = program, pathlib.Path(data), pathlib.Path(folder)
        self.script = self.folder / "problem.py"
        self.count = 0

    def export(self, *arguments, to=None):
        done = subprocess.run([self.program, "export", *map(str, arguments), "-o", str(to or self.script)],
                              capture_output=True)  # fmt: skip
        assert done.returncode == 0 and not done.stderr, f"{arguments}: {done.returncode} {done.stderr.decode()}"
        return done.stdout.decode()

    def check(self, *arguments, module):
        """Exports and runs a script. module: it uses torch.nn.MultiheadAttention."""
        self.export(*arguments, "--device", "cpu")
        status, variables, printed = run_script(self.script)
        assert status is None, f"{arguments}: {status}\n{printed}"
        assert ("module_output" in variables) == module, f"{arguments}: module is {not module}"
        for stage in STAGES:
            shape = str(tuple(variables[stage].shape))
            assert re.search(rf"^{stage}  \(.*\) = {re.escape(shape)}$", printed, re.M), f"{arguments}: {stage} not printed"
            assert not variables[stage].isnan().any(), f"{arguments}: NaN in {stage}"
        total = variables["contributions"].sum(dim=1) + variables.get("b_O", torch.zeros(1))
        assert torch.allclose(total, variables["output"], rtol=1e-5, atol=1e-4), f"{arguments}: contributions"
        assert printed.count("largest difference") == (4 if module else 2)
        self.count += 1
        return variables

    def check_case(self, case):
        name, path = case["name"], self.data / "mha" / case["file"]
        source = ["--case", path, "--heads", case["H"], "--kv-heads", case["H_kv"]]
        got = self.check(*source, module=case["H"] == case["H_kv"])
        given = read_safetensors(path)
        for variable, tensor in EXPECTED.items():
            want = given.get("expect." + tensor)
            if want is None:
                assert tensor == "scores_masked" and not case["mask"], f"{name}: {tensor} is missing"
                continue
            finite = want.isfinite()
            assert torch.equal(got[variable][~finite], want[~finite]), f"{name}: {variable}, infinities differ"
            tolerance = 1e-5 + 1e-6 * want[finite].abs().max().item()
            worst = (got[variable][finite] - want[finite]).abs().max().item()
            assert worst <= tolerance, f"{name}: {variable} differs by {worst}, allowed is {tolerance}"
        inputs = {"x": "X", "x_kv": "X_kv"}
        for variable in ["x", "x_kv", "W_Q", "W_K", "W_V", "W_O", "b_Q", "b_K", "b_V", "b_O"]:
            want = given.get(inputs.get(variable, variable))
            assert (want is None) == (variable not in got), f"{name}: {variable}"
            assert want is None or torch.equal(got[variable], want), f"{name}: {variable} has other numbers"
        # The same case with masks in words.
        bare = {k: v for k, v in given.items() if not k.startswith("expect.") and k != "mask.allowed"}
        bare = {k: v for k, v in bare.items() if not k.startswith("torch.")}
        write_safetensors(self.folder / "bare.safetensors", bare)
        source[1] = self.folder / "bare.safetensors"
        again = self.check(*source, "--mask", json.dumps(case["mask"]), module=case["H"] == case["H_kv"])
        assert torch.allclose(again["output"], got["output"], rtol=1e-6, atol=1e-6), f"{name}: --mask"

    def check_norms(self):
        """Checks queries and keys that are normalized in each head: a row over its root mean square, times a parameter."""
        source = self.problem(H=4, Hkv=2, dk=6, dv=3)
        tensors = read_safetensors(source[1])
        tensors.update({"q_norm": torch.randn(6), "k_norm": torch.randn(6)})
        write_safetensors(source[1], tensors)
        got = self.check(*source, module=False)
        for letter, heads in (("q", 4), ("k", 2)):
            rows = got[letter].reshape(2, 4, heads, 6).transpose(1, 2)
            want = torch.nn.functional.normalize(rows, dim=-1) * math.sqrt(6) * tensors[letter + "_norm"]
            worst = (got[letter + "_normed"] - want).abs().max().item()
            assert worst < 1e-4, f"{letter}_normed differs by {worst}"
            assert torch.equal(got[letter + "_normed"], got[letter + "_heads"])

    def check_joint_norms(self):
        """Checks queries and keys that are normalized across the heads, and a sink in each head's softmax."""
        source = self.problem(H=4, Hkv=2, dk=6, dv=3)
        tensors = read_safetensors(source[1])
        tensors.update({"q_norm_all": torch.randn(24), "k_norm_all": torch.randn(12), "sink": 2 * torch.randn(4)})
        write_safetensors(source[1], tensors)
        got = self.check(*source, "--mask", "causal", module=False)
        for letter in "qk":
            rows = got[letter]
            want = torch.nn.functional.normalize(rows, dim=-1) * math.sqrt(rows.shape[-1]) * tensors[letter + "_norm_all"]
            worst = (got[letter + "_normed"].transpose(1, 2).reshape(rows.shape) - want).abs().max().item()
            assert worst < 1e-4, f"{letter}_normed differs by {worst}"
        powers = got["masked"].double().exp()
        want = powers / (powers.sum(-1, keepdim=True) + tensors["sink"].double().exp().reshape(1, 4, 1, 1))
        assert (got["weights"] - want).abs().max() < 1e-6 and want.sum(-1).max() < 0.999

    def problem(self, B=2, Tq=4, Tk=4, D=12, H=3, Hkv=3, dk=4, dv=4, Dkv=None, biases="QKVO", **masks):
        """Writes a random problem as a case file. Returns the options that name it."""
        torch.manual_seed(B + 10 * Tq + 100 * D + 1000 * H + dv)
        tensors = {"X": torch.randn(B, Tq, D), "W_Q": torch.randn(D, H * dk)}
        if Dkv:
            tensors["X_kv"] = torch.randn(B, Tk, Dkv)
        tensors["W_K"], tensors["W_V"] = torch.randn(Dkv or D, Hkv * dk), torch.randn(Dkv or D, Hkv * dv)
        tensors["W_O"] = torch.randn(H * dv, D)
        widths = {"Q": H * dk, "K": Hkv * dk, "V": Hkv * dv, "O": D}
        tensors.update({"b_" + letter: torch.randn(widths[letter]) for letter in biases})
        tensors.update({"mask." + name: tensor for name, tensor in masks.items()})
        path = self.folder / "case.safetensors"
        write_safetensors(path, tensors)
        return ["--case", path, "--heads", H, "--kv-heads", Hkv]

    def check_shapes(self):
        self.check(*self.problem(), module=True)
        self.check(*self.problem(biases=""), module=True)
        self.check(*self.problem(biases="VO"), module=True)
        self.check(*self.problem(B=1, H=1, Hkv=1, dk=12, dv=12), module=True)
        self.check(*self.problem(dv=7), module=False)
        self.check(*self.problem(dk=5, dv=5), module=False)
        self.check(*self.problem(H=1, Hkv=1, dk=3, dv=2, biases="O"), module=False)
        self.check(*self.problem(H=4, Hkv=2, dk=3, dv=3), module=False)
        self.check(*self.problem(H=4, Hkv=1, dk=3, dv=5), module=False)
        self.check(*self.problem(Tk=6, Dkv=12), module=True)
        self.check(*self.problem(Tk=6, Dkv=9), module=True)
        self.check(*self.problem(Tk=6, Dkv=9, biases="K"), module=True)
        self.check(*self.problem(B=1, Tq=1, Tk=1), module=True)
        self.check(*self.problem(), "--gain", "0=0.5", "--gain", "2=-2", module=False)
        self.check(*self.problem(), "--gain", "0=1", module=True)
        self.check(*self.problem(), "--temperature", "0.3", module=False)
        self.check(*self.problem(H=4, Hkv=2, dk=3), "--temperature", "3", "--gain", "1=0", "--mask", "causal", module=False)

    def check_masks(self):
        def rules(*kinds):
            return ["--mask", json.dumps(kinds)]

        causal, window = {"kind": "causal"}, {"kind": "sliding_window_causal", "window": 2}
        symmetric = {"kind": "sliding_window_symmetric", "half_width": 1}
        padding = {"kind": "key_padding", "key_valid": [[1, 1, 1, 0], [1, 1, 0, 0]]}
        additive = {"kind": "additive", "add": [[0, -1, 0.5, "-inf"]] * 4}
        for kinds in [(causal,), (window,), (symmetric,), (padding,), (causal, padding), (additive,), (causal, additive),
                      (additive, padding, symmetric), (padding, {"kind": "key_padding", "key_valid": [1, 0, 1, 1]}),
                      ({"kind": "additive", "add": [0.25, "-inf", -3e38, 1]}, additive),
                      ({"kind": "explicit", "allowed": [[1, 0, 1, 1]]}, causal)]:  # fmt: skip
            self.check(*self.problem(), *rules(*kinds), module=True)
        # Queries and keys end together; the first queries of a longer row may attend to nothing.
        for kinds in [(causal,), (window,), (symmetric,)]:
            self.check(*self.problem(Tq=3, Tk=5, Dkv=12), *rules(*kinds), module=True)
            self.check(*self.problem(Tq=5, Tk=3, Dkv=12), *rules(*kinds), module=True)
        generator = torch.Generator().manual_seed(5)
        some = torch.rand(2, 3, 4, 4, generator=generator) < 0.6
        add = torch.randn(2, 3, 4, 4, generator=generator)
        for allowed in (some, some[:1], some[:, :1], some[:, 0], some[0, 0]):
            self.check(*self.problem(allowed=allowed.clone()), module=True)
            self.check(*self.problem(allowed=allowed.clone(), add=add[:, :1].clone()), *rules(causal, {"kind": "additive"}),
                       module=True)  # fmt: skip
        for numbers in (add, add[0], add[0, 0], add[0, :, :1], add[:, :, :, :1]):
            self.check(*self.problem(add=numbers.clone()), module=True)
        # Rows that may attend to nothing: one, those of an entry, those that minus infinity masks, all.
        closed = torch.ones(2, 4, 4, dtype=torch.bool)
        closed[1, 2] = False
        self.check(*self.problem(allowed=closed), module=True)
        self.check(*self.problem(), *rules({"kind": "key_padding", "key_valid": [[1, 1, 1, 1], [0, 0, 0, 0]]}), module=True)
        self.check(*self.problem(add=torch.where(closed, 0.0, -math.inf).unsqueeze(1)), module=True)
        self.check(*self.problem(allowed=torch.zeros(4, 4, dtype=torch.bool)), module=False)
        one_head = torch.ones(2, 3, 4, 4, dtype=torch.bool)
        one_head[0, 1, 3] = False
        got = self.check(*self.problem(allowed=one_head), module=True)
        assert (got["weights"][0, 1, 3] == 0).all() and got["weights"][0, 0, 3].sum() > 0.999
        self.check(*self.problem(H=4, Hkv=2, dk=3, allowed=closed), *rules(causal), module=False)

    def check_presets(self):
        listed = subprocess.run([self.program, "export", "--help"], capture_output=True, text=True).stdout
        names = re.search(r"weights for the sentence:\s+([\w\s,-]+?)\n\s+--", listed).group(1).replace("\n", " ")
        names = [name.strip() for name in names.split(",")]
        assert len(names) >= 4, names
        for name in names:
            self.check("--preset", name, module=True)
        odd = 'a "quoted" \\ word \'\'\' """ {x} # ß 猫 🐈 %s'
        got = self.check(odd, module=True)
        assert " ".join(got["tokens"]).replace(" ", "") == odd.replace(" ", ""), got["tokens"]
        self.check("The cat sat down", "--heads", 4, "--kv-heads", 2, "--mask", "causal", module=False)

    def check_encoder_decoder(self, folder, given):
        for stack in ("encoder", "decoder", "cross"):
            for layer in range(len(given[f"expect.{stack}_attentions"])):
                options = ["--inputs", folder / "expected.safetensors", "--stack", stack, "--layer", layer]
                # The module always scales by 1 / sqrt(dk), and T5 does not scale.
                got = self.check("--model", folder, *options, module="t5" not in folder.name)
                real = given["attention_mask" if stack == "encoder" else "decoder_attention_mask"].bool()
                want = given[f"expect.{stack}_attentions"][layer]
                worst = (got["weights"] - want).abs().amax(dim=(1, 3))[real].max().item()
                assert worst <= 1e-5, f"{folder.name}, {stack}: weights differ by {worst}"

    def check_both_ways(self):
        """Checks decoders without a causal mask: their weights are those of Hugging Face's code."""
        for name in ("phi3_not_causal", "bidirectional_gemma3"):
            folder = self.data / "files" / name
            given = read_safetensors(folder / "reference.safetensors")
            for layer in (0, 1):
                got = self.check("--model", folder, "--inputs", folder / "reference.safetensors", "--layer", layer, module=False)
                real = given["attention_mask"].bool()
                worst = (got["weights"] - given[f"attentions.{layer}"]).abs().amax(dim=(1, 3))[real].max().item()
                assert worst <= 1e-5, f"{name}: weights differ by {worst}"

    def check_models(self):
        for folder in sorted((self.data / "models").glob("*/")):
            given = read_safetensors(folder / "expected.safetensors")
            if "decoder_input_ids" in given:
                self.check_encoder_decoder(folder, given)
                continue
            config = json.loads((folder / "config.json").read_text())
            family = config["model_type"]
            layers = [[], ["--layer", 0 if folder.name.endswith("_tied") or "mistral" in folder.name else 1]]
            maps = list(range(config.get("num_hidden_layers", 2)))  # the layer of each expected map
            if interval := config.get("full_attention_interval"):  # the other layers have no heads with weights
                maps = maps[interval - 1 :: interval]
                layers = [["--layer", layer] for layer in maps]
            for layer in layers:
                # The module does not support rotation, shared keys and values, or a scale other than 1 / sqrt(dk).
                module = family in WITH_MODULE
                got = self.check("--model", folder, "--inputs", folder / "expected.safetensors", *layer, module=module)
                want = given["expect.attentions"][maps.index(layer[1]) if layer else 0]
                real = given["attention_mask"].bool()
                worst = (got["weights"] - want).abs().amax(dim=(1, 3))[real].max().item()
                assert worst <= 1e-5, f"{folder.name}: weights differ by {worst}"

    def check_whole_layers(self):
        """Checks a layer with its norms, residual and MLP, from the hidden state before it to the next one."""
        for folder in sorted((self.data / "models").glob("*/")):
            given = read_safetensors(folder / "expected.safetensors")
            if "decoder_input_ids" in given:
                self.check_decoder_layer(folder, given)
            else:
                hidden = given["expect.hidden_states"]
                if hidden.dim() == 5:  # copies of the residual stream, of which layers compute with the active one
                    hidden = hidden[:, json.loads((folder / "config.json").read_text())["altup_active_idx"]]
                self.check_layer(folder, [], hidden, given["attention_mask"])
        self.check_broken_layer("smollm3_tiny", "W_out")
        self.check_broken_layer("mixtral_tiny", "W_router")
        self.check_broken_layer("deepseek_v2_tiny", "W_DKV")
        self.check_edited_layer()

    def check_broken_layer(self, name, weight):
        """Checks that a script fails after one number of a parameter changed."""
        folder = self.data / "models" / name
        self.export("--model", folder, "--inputs", folder / "expected.safetensors", "--whole-layer", "--layer", 1, "--device", "cpu")
        text, end = self.script.read_text(), "\n# What Headscope computed"
        assert text.count(end) == 1 and f"\n{weight} = " in text, f"{name}: {weight}"
        self.script.write_text(text.replace(end, f"{weight}[(0,) * {weight}.dim()] += 5\n" + end))
        assert run_script(self.script)[0] not in (None, 0), f"{name}: a changed number of {weight} goes unnoticed"

    def check_whole_models(self):
        """Checks models from the token ids to the logits, or to the last hidden state."""
        for folder in sorted((self.data / "models").glob("*/")):
            self.export("--model", folder, "--inputs", folder / "expected.safetensors", "--whole-model", "--device", "cpu")
            status, got, printed = run_script(self.script)
            assert status is None, f"{folder.name}: {status}\n{printed}"
            given = read_safetensors(folder / "expected.safetensors")
            assert ("logits" in got) == ("expect.logits" in given), folder.name
            if "logits" in got:
                mask = given["decoder_attention_mask" if "decoder_input_ids" in given else "attention_mask"].bool()
                want = given["expect.logits"]
                worst = (got["logits"] - want).abs().amax(dim=-1)[mask].max().item()
                assert worst <= 5e-5 * max(1.0, want.abs().max().item()), f"{folder.name}: logits differ by {worst}"
            self.count += 1

    def check_changed_activations(self, unit_tests):
        """Checks runs with head gains and activations that are set or added, and that the scripts need them."""
        scripts = self.folder / "changed"
        scripts.mkdir()
        done = subprocess.run([unit_tests, "[.scripts]"], capture_output=True, text=True,
                              env=os.environ | {"HEADSCOPE_SCRIPTS": str(scripts)})  # fmt: skip
        written = sorted(scripts.glob("*.py"))
        assert done.returncode == 0 and len(written) == 6, done.stdout
        for script in written:
            status, _, printed = run_script(script)
            assert status is None, f"{script.name}: {status}\n{printed}"
            text, lines = script.read_text(), re.compile(r"^\w+\[.*\] \+?= intervention_\d+$", re.M)
            assert len(lines.findall(text)) == 3, script.name
            for line in lines.findall(text):
                script.write_text(text.replace(line + "\n", ""))
                assert run_script(script)[0] not in (None, 0), f"{script.name}: nothing misses {line}"
            self.count += 1

    def check_layer(self, folder, stack, hidden, mask):
        """Checks the layer between hidden[0] and hidden[1]; None: not known. Returns the tensors of the script."""
        source = ["--model", folder, "--inputs", folder / "expected.safetensors", "--layer", 0, "--whole-layer"]
        self.export(*source, *stack, "--device", "cpu")
        status, got, printed = run_script(self.script)
        assert status is None, f"{folder.name}: {status}\n{printed}"
        last = next(got[name] for name in ("norm2", "resid_out", "norm1", "resid_mid") if f"expected_{name}" in got)
        for name, tensor, want in (("resid_in", got["resid_in"], hidden[0]), ("what leaves", last, hidden[1])):
            if want is not None:
                worst = (tensor - want).abs().amax(dim=-1)[mask.bool()].max().item()
                limit = 2e-5 * max(1.0, want.abs().max().item())
                assert worst <= limit, f"{folder.name} {stack}: {name} differs by {worst}"
        self.count += 1
        return last

    def check_decoder_layer(self, folder, given):
        """Checks an encoder's layer, and the two parts of a decoder's layer: up to its cross-attention, and the rest."""
        source, target = (given[f"expect.{stack}_hidden_states"] for stack in ("encoder", "decoder"))
        whole = target[1] if len(target) > 2 else None  # the final norm follows the last layer
        mask = given["decoder_attention_mask"]
        self.check_layer(folder, ["--stack", "encoder"], source, given["attention_mask"])
        between = self.check_layer(folder, ["--stack", "decoder"], [target[0], None], mask)
        self.check_layer(folder, ["--stack", "cross"], [between, whole], mask)

    def check_edited_layer(self):
        """Checks that with a patch of a norm and of the MLP, the script has the edited parameters and their results."""
        folder = self.data / "models" / "llama_tiny_untied"
        own = read_safetensors(folder / "model.safetensors")
        norm = own["model.layers.1.post_attention_layernorm.weight"].float()
        gate = own["model.layers.1.mlp.gate_proj.weight"].float().T.contiguous()
        changed = gate.clone()
        changed[:, 3] = 0.5
        patch = self.folder / "edits.patch.safetensors"
        write_patch(patch, folder, {1: {"norm2_weight": (norm, {7: 2.5}), "W_gate": (gate, changed)}})
        source = ["--model", folder, "--ids", "3,1,4,1,5", "--layer", 1, "--whole-layer", "--device", "cpu"]
        self.export(*source)
        status, plain, _ = run_script(self.script)
        assert status is None
        self.export(*source, "--patch", patch)
        status, got, printed = run_script(self.script)
        assert status is None, f"{status}\n{printed}"
        norm = norm.clone()
        norm[7] = 2.5
        assert torch.equal(got["norm2_weight"], norm) and torch.equal(got["W_gate"], changed), "an edit is lost"
        assert torch.equal(got["resid_in"], plain["resid_in"]) and torch.equal(got["resid_mid"], plain["resid_mid"])
        rows = got["resid_mid"]
        eps = json.loads((folder / "config.json").read_text())["rms_norm_eps"]
        read = rows * torch.rsqrt(rows.square().mean(dim=-1, keepdim=True) + eps) * norm
        up, down = (own[f"model.layers.1.mlp.{name}_proj.weight"].float().T for name in ("up", "down"))
        want = rows + (torch.nn.functional.silu(read @ changed) * (read @ up)) @ down
        assert (got["resid_out"] - want).abs().max() <= 2e-5 and (want - plain["resid_out"]).abs().max() > 1e-3
        self.count += 2

    def check_large(self):
        """Checks that more than 20,000 numbers are in a separate file, and on standard output inside the script."""
        source = ["--case", self.data / "mha" / "s3_causal_bias.safetensors", "--heads", 8]
        beside = self.folder / "problem.numbers.safetensors"
        beside.unlink(missing_ok=True)
        self.check(*source, module=True)
        assert beside.exists() and self.script.stat().st_size < 20_000
        numbers = read_safetensors(beside)
        numbers["W_V"][0, 0] += 0.5
        write_safetensors(beside, numbers)
        assert run_script(self.script)[0] not in (None, 0), "a changed number in the file beside goes unnoticed"
        beside.unlink()
        self.script.write_text(self.export(*source, to="-"))
        assert run_script(self.script)[0] is None and not beside.exists()

    def check_asserts(self):
        """Checks that a script with one changed number fails. (b_K shifts all scores of a row by the same amount, without
        effect.)"""
        source = ["--case", self.data / "mha" / "s1_none_bias.safetensors", "--heads", 2]
        self.export(*source)
        text = self.script.read_text()
        for name in ["x", "W_Q", "W_K", "W_V", "W_O", "b_Q", "b_V", "b_O", "expected_weights", "expected_output"]:
            first = re.compile(rf"(^{name} = torch\.tensor\([\s\[]*)(-?[\d.e+-]+)", re.M)
            changed, times = first.subn(lambda m: m.group(1) + repr(float(m.group(2)) + 0.01), text, count=1)
            assert times == 1, name
            self.script.write_text(changed)
            status, _, printed = run_script(self.script)
            assert status not in (None, 0), f"{name} changed, and nothing noticed it:\n{printed}"
        self.script.write_text(text.replace("expected_output = torch.tensor([[\n    [", "expected_output = torch.tensor([[\n    [math.nan*"))
        assert run_script(self.script)[0] not in (None, 0), "NaN agrees"
        self.script.write_text(text)
        done = subprocess.run([sys.executable, "-W", "error", str(self.script)], capture_output=True, text=True)
        assert done.returncode == 0 and not done.stderr, done.stderr
        for was, other in (("dk = 4", "dk = 2"), ("dv = 4", "dv = 2"), ("H = 2", "H = 4"), ("Hkv = 2", "Hkv = 4")):
            text = text.replace(was, other)
        self.script.write_text(text)
        done = subprocess.run([sys.executable, str(self.script)], capture_output=True, text=True)
        assert done.returncode == 1 and "not the numbers" in done.stderr, done


def main(program, data, unit_tests):
    warnings.simplefilter("error")
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        checker = Checker(program, data, folder)
        for case in json.loads((pathlib.Path(data) / "mha" / "manifest.json").read_text())["cases"]:
            checker.check_case(case)
        checker.check_shapes()
        checker.check_norms()
        checker.check_joint_norms()
        checker.check_masks()
        checker.check_presets()
        checker.check_models()
        checker.check_both_ways()
        checker.check_whole_layers()
        checker.check_whole_models()
        checker.check_changed_activations(unit_tests)
        checker.check_large()
        checker.check_asserts()
    print(f"{checker.count} scripts agree")


if __name__ == "__main__":
    main(*sys.argv[1:])
