#!/usr/bin/env python3
"""check_exchange.py PROGRAM DATA: compares .npz files and JSON for CircuitsVis with the safetensors of `headscope trace`.

NumPy reads .npz files, and checks JSON against the arguments that circuitsvis.attention.attention_heads takes. Texts and
attentions of a file are chosen by --batch and --stack. Exits with 77 without NumPy."""
import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy
except ImportError:
    sys.exit(77)

from check_files import read_safetensors

PROGRAM, DATA = sys.argv[1], pathlib.Path(sys.argv[2])
ATTENTION = DATA / "attention"
SENTENCE = "The cat sat down"
# The parameters of attention_heads() in CircuitsVis 1.43.
PARAMETERS = {"attention", "tokens", "attention_head_names", "max_value", "min_value", "negative_color", "positive_color", "mask_upper_tri"}
compared = 0


def run(*arguments, code=0):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == code, (arguments, done.returncode, done.stderr)
    assert code == 0 or (done.stderr.startswith("headscope: ") and done.stderr.count("\n") == 1), (arguments, done.stderr)
    return done.stdout if code == 0 else done.stderr


def same(got, want, what):
    global compared
    assert got.dtype == want.dtype and got.shape == want.shape, (what, got.dtype, got.shape, want.dtype, want.shape)
    assert numpy.array_equal(got, want, equal_nan=got.dtype.kind == "f"), what
    compared += got.size


def check_npz(folder, name, arguments):
    """Compares every array with the tensor of the same name."""
    run(*arguments, "-o", folder / f"{name}.safetensors")
    run(*arguments, "-o", folder / f"{name}.npz")
    tensors, _ = read_safetensors(folder / f"{name}.safetensors")
    with numpy.load(folder / f"{name}.npz") as arrays:
        for key, tensor in tensors.items():
            same(arrays[key], numpy.asarray(tensor), (name, key))
        return {key: arrays[key] for key in arrays.files}


def check_circuitsvis(path, weights, names):
    """weights: (heads, T, T), in the order of the names."""
    data = json.loads(path.read_text(encoding="utf-8"))
    assert set(data) <= PARAMETERS, set(data)
    attention = numpy.array(data["attention"], numpy.float32)
    same(attention, weights, path.name)
    assert data["attention_head_names"] == names, data["attention_head_names"]
    assert len(data["tokens"]) == weights.shape[-1] and all(isinstance(token, str) for token in data["tokens"])
    later = bool(numpy.triu(weights, 1).any())
    assert data.get("mask_upper_tri", True) == (not later), (path.name, later)
    return data


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        arrays = check_npz(folder, "sentence", ["trace", SENTENCE])
        assert arrays["tokens"].tolist() == SENTENCE.split(), arrays["tokens"]
        assert json.loads(str(arrays["config"]))["H"] == arrays["weights"].shape[1]
        check_npz(folder, "causal", ["trace", SENTENCE, "--mask", "causal", "--stages", "weights,masked"])
        model = ["trace", "--model", "pocket", "--text", "Tom had a dog."]
        arrays = check_npz(folder, "model", [*model, "--stages", "weights"])
        layers = sorted(key for key in arrays if key.endswith(".weights"))
        assert arrays["input_ids"].dtype == numpy.int64, arrays["input_ids"].dtype
        run("export", SENTENCE, "--tensor", "W_O", "-o", folder / "W_O.npz")
        run("export", SENTENCE, "--tensor", "W_O", "-o", folder / "W_O.npy")
        same(numpy.load(folder / "W_O.npz")["W_O"], numpy.load(folder / "W_O.npy"), "W_O")

        run(*model, "-o", folder / "model.circuitsvis.json")
        weights = numpy.concatenate([arrays[f"layers.{n}.weights"][0] for n in range(len(layers))])
        heads = len(weights) // len(layers)
        names = [f"L{layer}H{head}" for layer in range(len(layers)) for head in range(heads)]
        check_circuitsvis(folder / "model.circuitsvis.json", weights, names)
        run(*model, "--layer", 1, "--head", 2, "-o", folder / "head.circuitsvis.json")
        check_circuitsvis(folder / "head.circuitsvis.json", arrays["layers.1.weights"][0, 2:3], ["L1H2"])
        both = check_npz(folder, "both_ways", ["trace", SENTENCE, "--mask", "none", "--stages", "weights"])
        run("trace", SENTENCE, "--mask", "none", "--format", "circuitsvis", "-o", folder / "both.json")
        check_circuitsvis(folder / "both.json", both["weights"][0], [f"H{n}" for n in range(both["weights"].shape[1])])

        # Opened again, the scores of the heads are those of the model's own weights.
        own = json.loads(run("heads", "--attention", folder / "model.safetensors", "--json"))
        for ending in ("npz", "circuitsvis.json"):
            assert json.loads(run("heads", "--attention", folder / f"model.{ending}", "--json")) == own, ending

        # One text, and one attention, of a file.
        batch = numpy.load(ATTENTION / "batch.npy")
        for text in range(batch.shape[1]):
            numpy.save(folder / "one.npy", batch[:, text])
            want = json.loads(run("heads", "--attention", folder / "one.npy", "--scores", "previous,entropy", "--json"))
            got = run("heads", "--attention", ATTENTION / "batch.npy", "--batch", text, "--scores", "previous,entropy", "--json")
            assert json.loads(got) == want, text
        assert "choose one with --batch 0 to 2" in run("heads", "--attention", ATTENTION / "batch.npy", code=1)
        assert "--stack encoder, decoder or cross" in run("render", "--attention", ATTENTION / "triple.npz", "-o", folder / "a.png", code=1)
        run("render", "--attention", ATTENTION / "triple.npz", "--stack", "cross", "--batch", 1, "-o", folder / "cross.svg")
        assert "beau" in (folder / "cross.svg").read_text(encoding="utf-8")
        assert "--model or --attention" in run("heads", SENTENCE, "--stack", "cross", code=2)
        assert "--probe or --attention" in run("heads", SENTENCE, "--batch", 1, code=2)

        # Refused, and no file is left.
        for arguments, part in ((["trace", SENTENCE, "--stages", "q,weights"], "only the stage weights"),
                                (["trace", SENTENCE, "--kv-sentence", "Le chat dort ici", "--preset", "translation"], "another text"),
                                (["export", SENTENCE, "--tensor", "q"], "not q")):  # fmt: skip
            target = folder / "refused.circuitsvis.json"
            assert part in run(*arguments, "-o", target, code=1), arguments
            assert not target.exists(), arguments
    print(f"exchange: {compared} numbers are those of the safetensors")


main()
