#!/usr/bin/env python3
"""check_recipe.py PROGRAM DATA MANUAL: runs the manual's Python recipe for reference outputs.

Debian has neither transformers nor safetensors for Python. Small stubs replace them: a "model" that returns the output of
Hugging Face's code (the reference cases), and a writer of the file format. All other code is the recipe as printed. `model
check` has to accept the file that it writes, and to refuse it after a number in it is changed. Exits with 77 if torch is
not installed."""
import pathlib
import re
import subprocess
import sys
import tempfile
import types

SKIPPED = 77
try:
    import torch
except ImportError:
    print("skipped: PyTorch is not installed (Debian: python3-torch)")
    sys.exit(SKIPPED)
from tensor_files import read_safetensors, write_safetensors

INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def save_file(tensors, path):
    """Like safetensors.torch.save_file, which refuses views."""
    for name, tensor in tensors.items():
        if not tensor.is_contiguous():
            raise ValueError(f"{name} is not contiguous")
    write_safetensors(path, tensors)


def stand_ins(expected):
    """Returns the modules that the recipe imports; the model returns the expected outputs."""
    inputs = {name: expected[name] for name in INPUTS if name in expected}

    class Model:
        @staticmethod
        def from_pretrained(folder, attn_implementation):
            assert attn_implementation == "eager"
            return Model()

        def float(self):
            return self

        def eval(self):
            return self

        def __call__(self, output_attentions, output_hidden_states, **given):
            assert output_attentions and output_hidden_states and set(given) == set(inputs)
            return types.SimpleNamespace(
                logits=expected["expect.logits"],
                attentions=tuple(expected["expect.attentions"]),
                hidden_states=tuple(expected["expect.hidden_states"]),
            )

    class Tokenizer:
        @staticmethod
        def from_pretrained(folder):
            return lambda text, return_tensors: inputs

    transformers = types.ModuleType("transformers")
    transformers.AutoModelForCausalLM = transformers.AutoModelForMaskedLM = Model
    transformers.AutoTokenizer = Tokenizer
    safetensors, torch_part = types.ModuleType("safetensors"), types.ModuleType("safetensors.torch")
    torch_part.save_file = save_file
    return {"transformers": transformers, "safetensors": safetensors, "safetensors.torch": torch_part}


def main():
    program, data, manual = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    (recipe,) = re.findall(r"```python\n(.*?)```", manual.read_text(), re.DOTALL)
    failures = 0
    references = {path.parent: read_safetensors(path) for path in sorted((data / "models").glob("*/expected.safetensors"))}
    # The recipe is for models of one stack with a head.
    models = [folder for folder, expected in references.items() if {"expect.attentions", "expect.logits"} <= expected.keys()]
    for folder in models:
        expected = references[folder]
        with tempfile.TemporaryDirectory() as place:
            reference = pathlib.Path(place) / "reference.safetensors"
            text = recipe.replace("CHECKPOINT", str(folder)).replace("reference.safetensors", str(reference))
            sys.modules.update(stand_ins(expected))
            exec(compile(text, str(manual), "exec"), {})  # noqa: S102

            def check():
                command = [program, "model", "check", str(folder), "--reference", str(reference)]
                return subprocess.run(command, capture_output=True, text=True)

            fine = check()
            tensors = read_safetensors(reference)
            real = expected["attention_mask"][-1].nonzero().flatten()
            tensors["logits"][-1, real[-1], 0] += 0.01
            save_file(tensors, reference)
            changed = check()
        if fine.returncode != 0 or changed.returncode != 1:
            failures += 1
            print(f"{folder.name}: exit codes {fine.returncode} and, with a changed logit, {changed.returncode}")
            print(fine.stdout, fine.stderr, changed.stdout, changed.stderr)
    print(f"{len(models) - failures} of {len(models)} references made by the manual's recipe are accepted")
    sys.exit(1 if failures or not models else 0)


main()
