#!/usr/bin/env python3
"""check_python.py PROGRAM SOURCES: checks headscope.Model of the Python package. Compares its arrays with the files of
`headscope trace`, with numbers of Hugging Face's code, and with sums that NumPy computes from other activations; its other
answers with those of the command line. Then kills the program, calls it from threads and forks, and passes it invalid
input. Exits with 77 if NumPy is not installed."""
import json
import os
import pathlib
import pickle
import re
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import threading

SKIPPED = 77
try:
    import numpy as np
except ImportError:
    print("skipped: NumPy is not installed (Debian: python3-numpy)")
    sys.exit(SKIPPED)

PROGRAM, SOURCES = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
sys.path.insert(0, str(SOURCES / "assets/python"))
import headscope  # noqa: E402

MODELS = SOURCES / "tests/data/models"
TEXT = "Lily had a red ball. The cat saw the ball."
DTYPES = {"F32": np.float32, "I64": np.int64}


def read(path):
    """Returns the tensors and the metadata of a .safetensors file."""
    data = pathlib.Path(path).read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    entries = json.loads(data[8 : 8 + length])
    metadata = entries.pop("__metadata__", {})
    return {name: np.frombuffer(data[8 + length + entry["data_offsets"][0] : 8 + length + entry["data_offsets"][1]],
                                DTYPES[entry["dtype"]]).reshape(entry["shape"]) for name, entry in entries.items()}, metadata  # fmt: skip


def command(*words):
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True)
    assert done.returncode == 0, (words, done.stderr)
    return done.stdout


def raises(kind, part, call, *arguments, **named):
    try:
        call(*arguments, **named)
    except kind as fault:
        assert part in str(fault), f"{part!r} is not in {fault}"
        return fault
    raise AssertionError(f"{kind.__name__} was expected: {part}")


def children():
    """Returns the programs that this process started and that run."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            parent = next(line for line in (process / "status").read_text().splitlines() if line.startswith("PPid:"))
            if int(parent.split()[1]) == os.getpid() and os.readlink(process / "exe") == PROGRAM:
                found.append(int(process.name))
        except (OSError, StopIteration):
            pass  # ended in the meantime, or belongs to another user
    return found


def leftovers(client=None):
    """Returns the folders that a process has for its models."""
    names = f"headscope-{client or os.getpid()}-*"
    found = {path for place in ("/dev/shm", tempfile.gettempdir()) for path in pathlib.Path(place).glob(names)}
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o700 for path in found), found
    return found


def same(array, expected, name):
    assert array.dtype == expected.dtype and array.shape == expected.shape, (name, array.dtype, array.shape, expected.shape)
    assert array.tobytes() == expected.tobytes(), f"{name} differs from trace"


# The stage of trace for each hook name, by what TransformerLens documents.
HOOKS = {
    "hook_resid_pre": "resid_in", "hook_resid_mid": "resid_mid", "hook_resid_post": "resid_out", "hook_attn_out": "attn_out",
    "hook_mlp_out": "mlp_out", "ln1.hook_normalized": "norm1", "ln2.hook_normalized": "norm2", "attn.hook_v": "v_heads",
    "attn.hook_rot_q": "q_heads", "attn.hook_rot_k": "k_heads", "attn.hook_attn_scores": "masked",
    "attn.hook_pattern": "weights", "attn.hook_z": "head_out", "attn.hook_result": "contributions", "mlp.hook_post": "mlp_act",
}  # fmt: skip


def check_against_trace(folder, place, words, **prompt):
    """Compares every tensor of `trace` with the activation of its name."""
    with headscope.Model(place, program=PROGRAM) as model:
        run = model.run(**prompt)
        stages = command("trace", "--help").partition("a comma list (default: all; weights of a checkpoint) of")[2]
        stages = re.sub(r"\s+", " ", stages.partition(";")[0]).replace(" ", "").split(",")
        file = str(folder / "all.safetensors")
        command("trace", "--model", str(place), *words, "--stages", ",".join(stages), "-o", file)
        tensors, metadata = read(file)
        assert len(tensors) > 30, sorted(tensors)
        for name, tensor in tensors.items():
            if not name.endswith(("input_ids", "attention_mask", "token_type_ids")):
                same(run.activation(name), tensor, name)
        return model, run, tensors, metadata


def check_pocket(folder):
    model, run, tensors, metadata = check_against_trace(folder, "pocket", ["--text", TEXT], text=TEXT)
    assert run.tokens == json.loads(metadata["tokens"]) and run.ids.tolist() == tensors["input_ids"].tolist()
    assert len(run.weights) == 4 and run.weights[-1].shape == (1, 8, 13, 13)
    for layer in range(4):
        same(np.asarray(run.weights[layer]), tensors[f"layers.{layer}.weights"], "weights")
        same(run.weights[layer][3], tensors[f"layers.{layer}.weights"][0, 3], "one head")
    same(run.logits, tensors["logits"], "logits")
    raises(headscope.HeadscopeError, "the model is closed", model.run, "The cat")
    with headscope.Model("pocket", program=PROGRAM) as model:
        run = model.run(TEXT, activations=[f"blocks.1.{hook}" for hook in HOOKS])
        for hook, stage in HOOKS.items():
            same(run.activation(f"blocks.1.{hook}"), tensors[f"layers.1.{stage}"], hook)
        same(run.activation("blocks.1.mlp.hook_pre"), tensors["layers.1.mlp_gate"], "what the activation function reads")
        same(run.activation("blocks.1.mlp.hook_pre_linear"), tensors["layers.1.mlp_pre"], "hook_pre_linear")
        fresh = model.run(TEXT)
        same(fresh.activation("blocks.1.mlp.hook_pre_linear"), tensors["layers.1.mlp_pre"], "hook_pre_linear of a run without it")
        same(fresh.activation("blocks.1.mlp.hook_pre"), tensors["layers.1.mlp_gate"], "hook_pre after hook_pre_linear")
        same(run.activation("hook_embed"), tensors["embedding"], "hook_embed")
        same(run.activation("ln_final.hook_normalized"), tensors["final_norm"], "ln_final")
        # Without its weight an RMSNorm leaves rows with a mean square of 1.
        bare = run.activation("ln_final.hook_normalized") / model.parameter("final_norm_weight")
        np.testing.assert_allclose((bare.astype(np.float64) ** 2).mean(-1), 1, atol=1e-3)
        # Relations that hold whatever the program calls its numbers.
        act = lambda hook: run.activation("blocks.1." + hook).astype(np.float64)  # noqa: E731
        close = lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)  # noqa: E731
        close(act("attn.hook_pattern") @ act("attn.hook_v"), act("attn.hook_z"))
        close(act("hook_resid_pre") + act("hook_attn_out"), act("hook_resid_mid"))
        close(act("hook_resid_mid") + act("hook_mlp_out"), act("hook_resid_post"))
        close(act("attn.hook_result").sum(1), act("hook_attn_out"))
        scores = act("attn.hook_rot_q") @ np.swapaxes(act("attn.hook_rot_k"), -1, -2) / np.sqrt(24)
        allowed = np.tril(np.ones((13, 13), bool))
        close(np.where(allowed, scores, 0), np.where(allowed, act("attn.hook_attn_scores"), 0))
        # A rotation keeps the length of each query.
        close(np.linalg.norm(act("attn.hook_q"), axis=-1), np.linalg.norm(act("attn.hook_rot_q"), axis=-1))
        x, W = act("ln1.hook_normalized"), model.parameter("layers.1.W_Q").astype(np.float64)
        close(x @ W, np.swapaxes(act("attn.hook_q"), 1, 2).reshape(1, 13, -1))
        assert model.parameter("W_E").shape == (1536, 192)
        raises(ValueError, "there is no hook", run.activation, "blocks.0.hook_wings")
        raises(headscope.HeadscopeError, "has no position", run.activation, "hook_pos_embed")
        raises(headscope.Refused, "no layer 99", run.activation, "layers.99.weights")
        raises(headscope.Refused, "no stage", run.activation, "layers.0.wings")
        raises(ValueError, "is not the name", run.activation, "layers.0")
        raises(TypeError, "named by a text", run.activation, 3)
        raises(IndexError, "no layer 4", run.weights.__getitem__, 4)
        raises(IndexError, "no head 8", run.weights[0].__getitem__, 8)
        weights = run.weights[0]
        assert weights[0, 2].shape == (13, 13) and weights.mean(1)[0].shape == (13, 13) and (2 * weights)[0].shape == (8, 13, 13)
        weights[0, 0] = 0  # a private copy
        assert not weights[0].any()


def check_other_models(folder):
    for name in ("gpt2_tiny", "t5_tiny", "mixtral_tiny", "deepseek_v3_tiny", "qwen3_next_tiny", "llama4_text_tiny"):
        target = {"decoder_ids": [0, 4]} if name == "t5_tiny" else {}
        check_against_trace(folder, MODELS / name, ["--ids=5,7,11"] + ["--decoder-ids=0,4"] * bool(target), ids=[5, 7, 11], **target)
    with headscope.Model(MODELS / "mixtral_tiny", program=PROGRAM) as model:
        command("trace", "--model", str(MODELS / "mixtral_tiny"), "--ids=5,7,11", "--stages=chosen,expert_out", "-o", str(folder / "experts.safetensors"))
        experts, run = read(folder / "experts.safetensors")[0], model.run(ids=[5, 7, 11])
        for stage in ("chosen", "expert_out"):
            same(run.activation(f"layers.0.{stage}"), experts[f"layers.0.{stage}"], stage)
        assert run.activation("layers.0.chosen").dtype == np.int64
    check_golden_models(folder)


def check_golden_models(folder):
    """Compares weights with those of Hugging Face's code."""
    for name in ("gpt2_tiny", "t5_tiny", "gpt_oss_tiny", "qwen3_next_tiny", "llama4_text_tiny", "bert_tiny"):
        expected, _ = read(MODELS / name / "expected.safetensors")
        inputs = {key: value for key, value in expected.items() if not key.startswith("expect.")}
        words = ["--inputs", str(MODELS / name / "expected.safetensors")]
        with headscope.Model(MODELS / name, program=PROGRAM) as model:
            run = model.run(inputs=inputs)
            command("trace", "--model", str(MODELS / name), *words, "-o", str(folder / "weights.safetensors"))
            for tensor, array in read(folder / "weights.safetensors")[0].items():
                if tensor.endswith("weights") or tensor == "logits":
                    same(run.activation(tensor), array, tensor)
            for key, layers in (("attentions", run.weights), ("decoder_attentions", run.weights), ("encoder_attentions", run.encoder_weights),
                                ("cross_attentions", run.cross_weights)):  # fmt: skip
                if f"expect.{key}" in expected and name != "qwen3_next_tiny":
                    ours = np.stack([np.asarray(layers[layer]) for layer in range(len(layers))])
                    rows = inputs["decoder_attention_mask" if key in ("decoder_attentions", "cross_attentions") else "attention_mask"] == 1
                    theirs = expected[f"expect.{key}"]
                    pick = np.broadcast_to(rows[None, :, None, :, None], ours.shape)
                    assert np.abs(ours - theirs)[pick].max() < 1e-4, (name, key)
            if name == "t5_tiny":
                assert run.encoder_ids.shape == (2, 14) and run.ids.shape == (2, 9) and run.tokens == [f"#{one}" for one in run.ids[0]]
                sizes = {"encoder": (14, 14), "decoder": (9, 9), "cross": (9, 14)}
                for stack, size in sizes.items():
                    data = json.loads(re.search(r'"application/json">(.*?)</script>', run.page(stack=stack, text=1), re.S)[1])
                    assert (len(data["rows"]), len(data["columns"])) == size and data["columns"][2] in run.page(stack=stack, text=1)
                    assert data["rows"][1] == f"#{(run.encoder_ids if stack == 'encoder' else run.ids)[1, 1]}"
                same(run.activation("hook_embed"), run.activation("decoder.embedding"), "hook_embed of a decoder")
                same(run.activation("blocks.1.attn.hook_z"), run.activation("decoder.layers.1.head_out"), "hook_z of a decoder")
                assert run.activation("encoder.final_norm").shape == (2, 14, 32)
                raises(ValueError, "no stack", run.page, stack="middle")
                raises(IndexError, "the batch has 2", run.page, text=2)
                prompt = {"ids": [5, 7, 11], "decoder_ids": [0, 4, 9]}
                words = ["--model", str(MODELS / name), "--ids=5,7,11", "--decoder-ids=0,4,9"]
                assert list(model.heads(stack="cross", **prompt)) == json.loads(command("heads", *words, "--stack=cross", "--json"))
                assert dict(model.explain(token=3, **prompt)) == json.loads(command("explain", *words, "--what=logits", "--token-id=3"))
                assert model.generate(tokens=3, **prompt).found == json.loads(command("generate", *words, "--tokens=3", "--json"))
            if name == "qwen3_next_tiny":
                assert not run.weights.has_attention(0)
                raises(headscope.HeadscopeError, "has no attention weights", run.weights.__getitem__, 0)
            if name == "gpt_oss_tiny":
                rest = run.activation("layers.0.sink")
                np.testing.assert_allclose(np.asarray(run.weights[0]).sum(-1) + rest, 1, atol=1e-5)


def check_answers(folder):
    """Compares the other answers with those of the command line."""
    with headscope.Model("pocket", program=PROGRAM) as model:
        text = ["--model", "pocket", "--text", TEXT]
        kinds = {"logits": ({}, []), "lens": ({"top": 3}, ["--top", "3"]), "why": ({}, ["--json"]),
                 "ablation": ({"ablation": "mean", "against": "on"}, ["--ablation", "mean", "--against", "on"]),
                 "score": ({"layer": 1, "head": 2, "query": 5, "key": 3}, "--layer 1 --head 2 --query 5 --key 3".split())}  # fmt: skip
        for what, (named, words) in kinds.items():
            assert dict(model.explain(TEXT, what, **named)) == json.loads(command("explain", *text, "--what", what, *words)), what
        words = model.explain(what="vocabulary", layer=1, head=2, token="cat")
        assert dict(words) == json.loads(command("explain", "--model=pocket", *"--what vocabulary --layer 1 --head 2 --token cat".split()))
        pairs = model.explain(what="composition", layer=1, head=2, top=3)
        assert dict(pairs) == json.loads(command("explain", "--model=pocket", *"--what composition --layer 1 --head 2 --top 3".split()))
        raises(headscope.Refused, "does not read --text", model.explain, TEXT, "composition")
        heads = model.heads(TEXT, scores=["previous", "entropy"])
        assert list(heads) == json.loads(command("heads", *text, "--scores", "previous,entropy", "--json"))
        assert heads.score("previous").shape == (4, 8) and heads.score("previous")[1, 2] == heads[10]["previous"]
        # The score has a definition that NumPy can compute.
        weights = model.run(TEXT).weights[1][2].astype(np.float64)
        assert abs(np.diagonal(weights, -1).mean() - heads.score("previous")[1, 2]) < 1e-6
        raises(ValueError, "was not measured", heads.score, "first")
        assert list(model.run(TEXT).heads(scores=["previous", "entropy"])) == list(heads)
        assert dict(model.run(TEXT).explain("lens", top=3)) == dict(model.explain(TEXT, "lens", top=3))
        raises(ValueError, "one text", model.run(ids=[[5, 7], [5, 9]]).heads)
        assert list(model.heads()) == json.loads(command("heads", "--model=pocket", "--probe", "--json"))
        probe = model.heads(probe=True, length=20, batch=2, seed=3)
        assert list(probe) == json.loads(command("heads", "--model=pocket", *"--probe --length 20 --batch 2 --seed 3 --json".split()))
        written = model.generate("The cat", 6, temperature=0.8, seed=4, top=2)
        sampled = ["--text=The cat", *"--tokens 6 --temperature 0.8 --seed 4 --top 2 --json".split()]
        assert written.found == json.loads(command("generate", "--model=pocket", *sampled))
        assert len(written.ids) == 6 and str(written).strip().startswith("The cat")
        both = ["--model=pocket", "--clean=The cat sat", "--corrupted=The dog sat", "--answer=on", "--against=down"]
        for what in ("residual", "head", "pattern"):
            patched = model.patch("The cat sat", "The dog sat", answer="on", against="down", what=what)
            told = json.loads(command("patch", *both, "--what", what))
            assert (patched.clean, patched.corrupted, patched.clean_tokens) == (told["clean"], told["corrupted"], told["clean_tokens"])
            assert patched.recovered.tolist() == np.asarray(told["recovered"], np.float32).tolist()
        path = model.patch("The cat sat", "The dog sat", answer="on", against="down", start=(0, 1), end="2.3:q")
        assert path.recovered == json.loads(command("patch", *both, "--from=0.1", "--to=2.3:q"))["recovered"]
        check_edits(model, folder)
        raises(headscope.Refused, "is 11 tokens", model.explain, TEXT, token="antidisestablishment")
        raises(headscope.Refused, "no stage", model.run(TEXT).activation, "wings")
        assert raises(headscope.Refused, "at least 1", model.generate, "The cat", 0).code == 1
        raises(TypeError, "one text", model.heads, TEXT, scores="previous")
        raises(ValueError, "either a text or token ids", model.explain)
        raises(ValueError, "nothing was given", model.run)
        raises(ValueError, "text and ids was given", model.run, "a", ids=[1])
        raises(TypeError, "whole numbers", model.run, ids=[1.5])
        raises(TypeError, "one text as str", model.run, ["a", "b"])
        raises(TypeError, "a head is written", model.ablate, 3)
        for text in ("-x --text", "--help", "", "a\nb", "Ä🙂", "a=b"):
            (folder / "text").write_text(text)
            command("trace", "--model=pocket", "--text-file", str(folder / "text"), "-o", str(folder / "text.safetensors"))
            same(model.run(text).logits, read(folder / "text.safetensors")[0]["logits"], text)
        raises(ValueError, "code 0", model.run, "a\0b")
        raises(headscope.Refused, "not UTF-8", model.run, "\udc80")
        raises(TypeError, "equal length", model.run, ids=[[1, 2], [3]])
        raises(headscope.Refused, "99999", model.run, ids=[99999])


def check_edits(model, folder):
    """Compares edited models with --gain, and an ablated head with what NumPy leaves out."""
    file = str(folder / "edited.safetensors")
    ablated = model.ablate((1, 2), "0.3")
    command("trace", "--model=pocket", "--text", TEXT, "--gain=1.2=0", "--gain=0.3=0", "-o", file)
    same(ablated.run(TEXT).logits, read(file)[0]["logits"], "logits without two heads")
    edited = model.edit({(1, 2): 0.5})
    before, after = model.run(TEXT), edited.run(TEXT)
    assert before.logits.tobytes() != after.logits.tobytes()
    parts = before.activation("layers.1.contributions").astype(np.float64)
    np.testing.assert_allclose(after.activation("layers.1.attn_out"), parts.sum(1) - parts[:, 2] / 2, atol=1e-4)
    assert dict(edited.explain(TEXT)) == json.loads(command("explain", "--model=pocket", "--text", TEXT, "--what=logits", "--gain=1.2=0.5"))
    assert model.run(TEXT).logits.tobytes() == before.logits.tobytes(), "the model itself changed"
    check_parameters(model, folder)
    W = model.parameter("layers.2.W_V")
    model.edit(parameters={"layers.2.W_V": 2 * W}).save_edits(folder / "doubled.patch.safetensors")
    patched = model.ablate((1, 2)).edit(parameters={"layers.2.W_V": 0 * W}).edit(patch=folder / "doubled.patch.safetensors")
    same(patched.parameter("layers.2.W_V"), 2 * W, "the parameter of a later file")
    assert not patched.run(TEXT).activation("layers.1.contributions")[:, 2].any(), "a head gain before edits of parameters and a file"
    raises(headscope.Refused, "no head 9", model.ablate((0, 9)).run, TEXT)
    raises(headscope.Refused, "/nowhere", model.edit(patch="/nowhere").run, TEXT)


def check_parameters(model, folder):
    """Compares models with changed parameters with what NumPy computes from the change."""
    before, W = model.run(TEXT), model.parameter("layers.1.W_V")
    changed = W.copy()
    changed[:, 24:48] *= 3  # head 1
    tripled = model.edit(parameters={"layers.1.W_V": changed}).edit({(1, 2): 0})
    after = tripled.run(TEXT)
    values = before.activation("layers.1.v_heads").copy()
    values[:, 1] *= 3
    np.testing.assert_allclose(after.activation("layers.1.v_heads"), values, rtol=1e-5, atol=1e-6)
    same(tripled.parameter("layers.1.W_V"), changed, "the changed parameter")
    assert not after.activation("layers.1.contributions")[:, 2].any(), "a head gain after edits of parameters"
    gained = model.edit({(1, 1): 3}).ablate((1, 2)).run(TEXT)
    np.testing.assert_allclose(after.logits, gained.logits, atol=2e-3)
    tripled.save_edits(folder / "tripled.patch.safetensors")
    file = str(folder / "tripled.safetensors")
    command("trace", "--model=pocket", "--text", TEXT, "--patch", str(folder / "tripled.patch.safetensors"), "-o", file)
    same(after.logits, read(file)[0]["logits"], "logits of saved edits")
    same(model.edit(patch=folder / "tripled.patch.safetensors").run(TEXT).logits, after.logits, "logits of opened edits")
    # A table: the embedding of one token, which pocket also has as its output row.
    table = model.parameter("W_E").copy()
    cat = int(before.ids[0, before.tokens.index("Ġcat")])
    table[cat] = 0
    other = model.edit(parameters={"W_E": table, "layers.0.norm1_weight": model.parameter("layers.0.norm1_weight")})
    embedded = other.run(TEXT).activation("embedding")
    expected = before.activation("embedding").copy()
    expected[0, before.ids[0] == cat] = 0
    same(embedded, expected, "embedding without a token")
    assert not other.run(TEXT).logits[..., cat].any(), "the output row of a tied model"
    assert "edited parameters" in repr(other) and other.edit(parameters={"W_E": model.parameter("W_E")}).run(TEXT).logits.tobytes() == before.logits.tobytes()
    raises(headscope.Refused, "has the shape", model.edit, parameters={"W_E": table[:5]})
    raises(headscope.Refused, "shape", model.edit, parameters={"layers.1.W_V": changed[:5]})
    raises(headscope.Refused, "NaN", model.edit, parameters={"layers.1.W_V": changed * np.nan})
    raises(headscope.Refused, "no layer", model.edit, parameters={"layers.9.W_V": changed})
    raises(headscope.Refused, "not a parameter", model.edit, parameters={"layers.1.wings": changed})
    raises(headscope.Refused, "has no", model.edit, parameters={"layers.1.b_Q": changed[0]})
    raises(TypeError, "real numbers", model.edit, parameters={"layers.1.W_V": changed.astype(complex)})
    with headscope.Model(MODELS / "t5_tiny", program=PROGRAM) as encoder_decoder:
        prompt = {"ids": [5, 7, 11], "decoder_ids": [0, 4]}
        name = "cross.layers.1.W_Q"
        stored, _ = read(MODELS / "t5_tiny" / "model.safetensors")
        same(encoder_decoder.parameter(name), stored["decoder.block.1.layer.1.EncDecAttention.q.weight"].T.copy(), name)
        same(encoder_decoder.parameter("encoder.layers.0.W_O"), stored["encoder.block.0.layer.0.SelfAttention.o.weight"].T.copy(), "W_O")
        raises(ValueError, "is not the name", encoder_decoder.parameter, "a b")
        zero = encoder_decoder.edit(parameters={name: np.zeros((32, 32))}).run(**prompt)
        same(zero.activation("encoder.layers.1.weights"), encoder_decoder.run(**prompt).activation("encoder.layers.1.weights"), "the encoder")
        bias = encoder_decoder.edit(parameters={name: np.zeros((32, 32))}).run(**prompt).activation("cross.layers.1.scores")
        assert not bias.any(), "scores of queries that are 0"


def check_read_once(folder):
    """Checks that a model is not opened again: its folder is damaged after the first run."""
    place = folder / "model"
    shutil.copytree(MODELS / "gpt2_tiny", place)
    with headscope.Model(place, program=PROGRAM) as model:
        first = model.run(ids=[5, 7, 11])
        (place / "config.json").write_text("damaged")
        again = model.run(ids=[5, 7, 11])
        same(again.logits, first.logits, "the second run")
        assert model.explain(ids=[5, 7], token=3)["logit"] and len(model.heads(ids=[5, 7])) == 8
        assert model.parameter("W_E").shape == (200, 32) and len(model.generate(ids=[5], tokens=2).ids) == 2
    raises(headscope.Refused, "config.json", headscope.Model, place, program=PROGRAM)
    check_relative_names(folder, first)


def check_relative_names(folder, first):
    """Checks that a program that is started again finds its model, also from another folder."""
    before, place = os.getcwd(), folder / "opened"
    place.mkdir()
    shutil.copytree(MODELS / "gpt2_tiny", place / "relative")
    try:
        os.chdir(place)
        with headscope.Model("relative", program=PROGRAM) as model:
            os.chdir(before)
            os.kill(model._session._process.pid, signal.SIGKILL)
            raises(headscope.ProgramEnded, "starts it again", model.run, ids=[5, 7, 11])
            same(model.run(ids=[5, 7, 11]).logits, first.logits, "a run after the script changed its folder")
            os.kill(model._session._process.pid, signal.SIGKILL)
            raises(headscope.ProgramEnded, "starts it again", model.run, ids=[5])
            place.rename(folder / "renamed")
            raises(headscope.HeadscopeError, "in which the model was opened", model.run, ids=[5])
    finally:
        os.chdir(before)


def check_life():
    """Checks that no program and no file is left, however a model ends."""
    before = leftovers()
    model = headscope.Model("pocket", program=PROGRAM)
    expected = model.run(TEXT).logits.tobytes()
    (number,) = children()
    assert leftovers() == before, "a model leaves a folder while it is idle"
    os.kill(number, signal.SIGKILL)
    raises(headscope.ProgramEnded, "killed by signal 9", model.run, TEXT)
    assert model.run(TEXT).logits.tobytes() == expected, "a killed program is not started again"
    faults = []

    def work():
        try:
            for _ in range(5):
                assert model.run(TEXT).logits.tobytes() == expected
        except BaseException as fault:
            faults.append(fault)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults, faults
    raises(TypeError, "open it in the other process", pickle.dumps, model)
    child = os.fork()
    if child == 0:
        try:
            raises(headscope.HeadscopeError, "another process", model.run, TEXT)
            del model  # does not end the program of the parent
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0, "a fork can use a model of its parent"
    assert model.run(TEXT).logits.tobytes() == expected, "a fork disturbs the model"
    other = headscope.Model("pocket", program=PROGRAM)
    assert len(children()) == 2 and other.run(TEXT).logits.tobytes() == expected
    other.close()
    del model
    assert not children() and leftovers() == before
    # Ctrl C in the middle of a call.
    model = headscope.Model("pocket", program=PROGRAM)
    (number,) = children()
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    raises(KeyboardInterrupt, "", model.heads, probe=True, length=100, batch=4000)
    assert not children(), "an interrupted call leaves a program"
    assert model.run(TEXT).logits.tobytes() == expected and children() != [number]
    model.close()
    # A script that ends, or is killed, while its model computes.
    path = f"import sys; sys.path.insert(0, {str(SOURCES / 'assets/python')!r}); import headscope; model = headscope.Model('pocket', program={PROGRAM!r}); "
    script = path + "print(model._session._process.pid, flush=True); "
    done = subprocess.run([sys.executable, "-c", script + "model.run('The cat')"], capture_output=True, text=True, check=True)
    assert not pathlib.Path(f"/proc/{int(done.stdout)}").exists()
    with subprocess.Popen([sys.executable, "-c", script + "model.heads(probe=True, length=100, batch=4000)"], stdout=subprocess.PIPE, text=True) as client:
        number = int(client.stdout.readline())
        client.kill()
        client.wait()
        for _ in range(200):  # the call alone takes minutes
            if not pathlib.Path(f"/proc/{number}").exists() or "zombie" in pathlib.Path(f"/proc/{number}/status").read_text():
                break
            threading.Event().wait(0.1)
        else:
            raise AssertionError("a client that was killed leaves a program")
    for folder in leftovers(client.pid):  # a client that is killed cannot remove its folder
        assert not any(folder.iterdir()), list(folder.iterdir())
        folder.rmdir()


def check_programs(folder):
    """Checks models and programs that cannot be used."""
    raises(headscope.NoProgram, "cannot be started", headscope.Model, "pocket", program="/nowhere")
    raises(FileNotFoundError, "HEADSCOPE", headscope.Model, "pocket", program="/nowhere")
    assert raises(headscope.Refused, "/nowhere", headscope.Model, "/nowhere", program=PROGRAM).code == 1
    assert raises(headscope.Refused, "--memory allows 1 KB", headscope.Model, "pocket", program=PROGRAM, memory="1KB").code == 3
    headscope.Model("pocket", program=PROGRAM, memory=4_000_000_000).close()
    scripts = {"older": ('echo "headscope: there is no command \\"serve\\"; see headscope --help" >&2; exit 2', "another version"),
               "newer": ("""echo '{"protocol": 99, "version": "9.0"}'; cat""", "protocol 99"),
               "other": ("echo Hello; cat", "is not Headscope"),
               "silent": ("exit 0", "another version"),
               "broken": ('echo "headscope: out of luck" >&2; exit 4', "out of luck")}  # fmt: skip
    for name, (script, part) in scripts.items():
        path = folder / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o700)
        raises(headscope.HeadscopeError, part, headscope.Model, "pocket", program=str(path))
    os.environ["HEADSCOPE"] = PROGRAM
    with headscope.Model("pocket") as model:
        assert model.name == "pocket" and (model.layer_count, model.head_count) == (4, 8)
    assert command("--version").split()[1] == headscope.__version__


def main():
    os.environ |= {"HEADSCOPE_DEVICE": "cpu"}
    before = leftovers()
    with tempfile.TemporaryDirectory(prefix="headscope_test-") as name:
        folder = pathlib.Path(name)
        check_pocket(folder)
        check_other_models(folder)
        check_answers(folder)
        check_read_once(folder)
        check_life()
        check_programs(folder)
    assert not children(), "a program is left"
    assert leftovers() == before, leftovers() - before
    print("python: arrays, answers, edits, ends and errors are as they should be")


main()
