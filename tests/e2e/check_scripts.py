#!/usr/bin/env python3
"""check_scripts.py PROGRAM: runs the Python of the manual's page on scripts, block by block as a reader does, with a window
on a virtual display. A small module has the name of transformers, which is not installed here. Then checks what some lines
give, and that no program is left."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import types

import numpy

from desktop import Display, Failure, clean_environment

SOURCES = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCES / "assets/python"))


def check(holds, what):
    if not holds:
        raise Failure(what)


def transformers():
    """Returns a module whose model gives attention weights in the form of transformers."""
    import torch

    ids = torch.tensor([[3, 5, 7, 9]])

    class Inputs(dict):
        input_ids = ids

    class Model:
        def eval(self):
            return self

        def __call__(self, output_attentions, **inputs):
            check(output_attentions and inputs["input_ids"] is ids, "the model is called with other arguments")
            weights = torch.rand(1, 12, 4, 4).tril()
            layer = (weights / weights.sum(-1, keepdim=True)).to(torch.bfloat16)
            return types.SimpleNamespace(attentions=(layer,) * 12, last_hidden_state=None)

    class Tokenizer:
        def __call__(self, text, return_tensors):
            return Inputs(input_ids=ids)

        def convert_ids_to_tokens(self, given):
            return ["The", "Ġcat", "Ġsat", "Ġdown"]

    module = types.ModuleType("transformers")
    module.AutoModel = types.SimpleNamespace(from_pretrained=lambda name, attn_implementation: Model())
    module.AutoTokenizer = types.SimpleNamespace(from_pretrained=lambda name: Tokenizer())
    return module


def programs(program):
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            parent = next(line for line in (process / "status").read_text().splitlines() if line.startswith("PPid:"))
            if os.readlink(process / "exe") == program and int(parent.split()[1]) == os.getpid():
                found.append(process.name)
        except (OSError, StopIteration):
            pass  # ended in the meantime, or belongs to another user
    return found


def check_values(values, program):
    """Checks variables that the page leaves."""
    run, heads, patching, written = (values[name] for name in ("run", "heads", "patching", "written"))
    check(run.tokens[1:] == ["ĠThe", "Ġcat", "Ġsat", "Ġdown"], f"the tokens are {run.tokens}")
    check(heads.score("previous").shape == (4, 8) and patching.recovered.shape == (4, 8), "scores have other shapes")
    check(len(written.probabilities) == 20 and "Once upon a time" in written.text, f"the text is {written.text}")
    check(abs(sum(part["value"] for part in values["parts"]["writers"]) - values["parts"]["logit"]) < 1e-3, "parts do not add up")
    check("maps" not in values and "<canvas" in values["html"], "the page of a run has no map")
    check(not programs(program), "a program is left")


def check_serve(page, program):
    """Sends the requests that the page prints."""
    lines = "".join(re.findall(r"^```\n(\{.*?)^```", page, re.S | re.M)).splitlines()
    done = subprocess.run([program, "serve", "--model", "pocket"], input="".join(line + "\n" for line in lines[::2]), capture_output=True, text=True)
    answers = done.stdout.splitlines()[1:]
    check(len(answers) == len(lines) // 2 == 3, f"the requests are answered by {answers} {done.stderr}")
    for answer, printed in zip(answers, lines[1::2]):
        begin, _, end = printed.partition("...")
        check(answer.startswith(begin) and answer.endswith(end), f"{answer} is not as printed: {printed}")
    check(">cat<" in pathlib.Path("picture.svg").read_text(encoding="utf-8"), "the scene has no text")


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    page = (SOURCES / "assets/manual/scripts.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.S | re.M)
    check(len(blocks) >= 8, "the page has too few blocks")
    with tempfile.TemporaryDirectory() as folder, Display() as display:
        clean = clean_environment()
        os.environ.clear()
        os.environ.update(clean, DISPLAY=display.name, HOME=folder, HEADSCOPE=program, HEADSCOPE_DEVICE="cpu")
        os.chdir(folder)
        sys.modules["transformers"] = transformers()
        values = {}
        for number, block in enumerate(blocks):
            try:
                exec(compile(block, f"block {number + 1} of scripts.md", "exec"), values)
            except Exception as fault:
                raise Failure(f"{block}\n{type(fault).__name__}: {fault}") from fault
        check_values(values, program)
        check_serve(page, program)
    print(f"scripts: {len(blocks)} blocks of the manual run, numpy {numpy.__version__}")


if __name__ == "__main__":
    main()
