#!/usr/bin/env python3
"""check_torch_files.py PROGRAM DATA: checks that weights saved by torch.save give the numbers of the same safetensors.

Saves the stored models in both formats of torch.save: whole, in parts, as parameters, inside what a trainer saves, with
shared storages, transposed and as float16, bfloat16 and float64. `model check` compares each with its stored reference,
and attention weights, hidden states and logits are compared bit by bit with those of safetensors. A pickle that would run a
command is refused and runs nothing. Exits with 77 if torch is not installed."""
import collections
import json
import pathlib
import shutil
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
from tensor_files import read_safetensors, write_safetensors


def run(program, *arguments, code=0):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == code, f"{arguments}: exit code {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout if code == 0 else done.stderr


def whole(folder, tensors, name="pytorch_model.bin", older=False, protocol=2):
    torch.save(tensors, folder / name, _use_new_zipfile_serialization=not older, pickle_protocol=protocol)


def parts(folder, tensors, older=False):
    names, where = sorted(tensors), {}
    for i, own in enumerate((names[::2], names[1::2])):
        file = f"pytorch_model-0000{i + 1}-of-00002.bin"
        whole(folder, {name: tensors[name] for name in own}, file, older)
        where |= dict.fromkeys(own, file)
    (folder / "pytorch_model.bin.index.json").write_text(json.dumps({"metadata": {}, "weight_map": where}))


def parameters(folder, tensors):
    held = {name: torch.nn.Parameter(tensor) if tensor.is_floating_point() else tensor for name, tensor in tensors.items()}
    state = collections.OrderedDict(("module." + name, value) for name, value in held.items())
    state._metadata = {"": {"version": 1}}
    optimizer = torch.optim.Adam([p for p in held.values() if isinstance(p, torch.nn.Parameter)])
    for p in held.values():
        if isinstance(p, torch.nn.Parameter):
            p.grad = torch.zeros_like(p)
    optimizer.step()
    whole(folder, {"epoch": 3, "best": torch.tensor(0.5), "state_dict": state, "optimizer": optimizer.state_dict()}, "last.ckpt")


def transposed(tensors):
    return {name: tensor.permute(*reversed(range(tensor.dim()))).contiguous().permute(*reversed(range(tensor.dim())))
            for name, tensor in tensors.items()}  # fmt: skip


def in_one_storage(tensors):
    """Every tensor as a view of the same storage."""
    flat = torch.cat([tensor.reshape(-1) for tensor in tensors.values()])
    views, at = {}, 0
    for name, tensor in tensors.items():
        views[name] = flat[at : at + tensor.numel()].view(tensor.shape)
        at += tensor.numel()
    return views


SAVERS = {
    "zip": whole,
    "older": lambda folder, tensors: whole(folder, tensors, older=True),
    "protocol 4": lambda folder, tensors: whole(folder, tensors, "model.pt", protocol=4),
    "parts": parts,
    "older parts": lambda folder, tensors: parts(folder, tensors, True),
    "parameters": parameters,
    "transposed": lambda folder, tensors: whole(folder, transposed(tensors)),
    "older transposed": lambda folder, tensors: whole(folder, transposed(tensors), "model.pth", older=True),
    "one storage": lambda folder, tensors: whole(folder, in_one_storage(tensors)),
    "compiled": lambda folder, tensors: whole(folder, {"model": {"_orig_mod." + name: tensor for name, tensor in tensors.items()}}),
}  # fmt: skip


def new_folder(folder, source):
    made = pathlib.Path(tempfile.mkdtemp(dir=folder))
    shutil.copy(source / "config.json", made)
    return made


def check_references(program, models, folder):
    """Saves every stored model in some ways, and a few in all of them."""
    names = sorted(path.parent.name for path in models.glob("*/model.safetensors"))
    in_all = {"gpt2_tiny", "llama_tiny_tied", "bart_tiny", "qwen2_tiny_bf16"}
    for i, name in enumerate(names):
        tensors = read_safetensors(models / name / "model.safetensors")
        one_type = len({tensor.dtype for tensor in tensors.values()}) == 1
        ways = list(SAVERS) if name in in_all else [list(SAVERS)[i % len(SAVERS)], list(SAVERS)[(i + 3) % len(SAVERS)]]
        for way in ways:
            if way == "one storage" and not one_type:
                continue
            made = new_folder(folder, models / name)
            SAVERS[way](made, tensors)
            out = run(program, "model", "check", made, "--reference", models / name / "expected.safetensors")
            assert out.endswith("agrees\n"), f"{name}, {way}: {out}"
            shutil.rmtree(made)


def trace(program, model, out):
    run(program, "trace", "--model", model, "--ids", "3,17,64,5,99,2,41,7", "-o", out)
    return read_safetensors(out)


def check_bits(program, models, folder):
    """Compares runs bit by bit: other number types, and tied tables as one storage."""
    for name, dtype in (("gpt2_tiny", torch.float32), ("llama_tiny_untied", torch.bfloat16), ("gpt_neox_tiny", torch.float16),
                        ("olmo2_tiny", torch.float64), ("gpt_oss_tiny", torch.bfloat16)):  # fmt: skip
        tensors = {key: tensor.to(dtype) if tensor.is_floating_point() else tensor
                   for key, tensor in read_safetensors(models / name / "model.safetensors").items()}  # fmt: skip
        same, made = new_folder(folder, models / name), new_folder(folder, models / name)
        write_safetensors(same / "model.safetensors", {key: tensor.to(torch.float32) if tensor.is_floating_point() else tensor
                                                       for key, tensor in tensors.items()})  # fmt: skip
        table = next(key for key in tensors if key.endswith(("wte.weight", "embed_tokens.weight", "embed_in.weight")))
        if name == "gpt2_tiny":  # the same numbers by two names
            tensors["lm_head.weight"] = tensors[table]
        whole(made, tensors)
        info = json.loads(run(program, "model", "info", made, "--json"))
        kinds = {torch.float32: "F32", torch.bfloat16: "BF16", torch.float16: "F16", torch.float64: "F64"}
        assert kinds[dtype] in info["parameters_by_dtype"] and info["runnable"], info
        assert name != "gpt2_tiny" or info["tied"], info
        want, got = trace(program, same, folder / "want.safetensors"), trace(program, made, folder / "got.safetensors")
        assert want.keys() == got.keys() and "logits" in want
        for key in want:
            assert torch.equal(want[key], got[key]), f"{name}, {dtype}: {key}"


def check_paths(program, models, folder):
    """Checks the choice between files of a folder, and files that are named themselves."""
    source = models / "gpt2_tiny"
    tensors = read_safetensors(source / "model.safetensors")
    made = new_folder(folder, source)
    whole(made, tensors, "model.pt")
    (made / "training_args.bin").write_bytes(b"not read")
    reference = source / "expected.safetensors"
    run(program, "model", "check", made, "--reference", reference)
    run(program, "model", "check", made / "model.pt", "--reference", reference)
    assert str(made) in run(program, "model", "list", made.parent)
    run(program, "generate", "--model", made / "model.pt", "--ids", "3,17", "--tokens", "2")

    changed = {name: tensor + 1 for name, tensor in tensors.items()}
    whole(made, changed, "second.ckpt")
    message = run(program, "model", "info", made, code=1)
    assert "model.pt, second.ckpt" in message and "name that file" in message, message
    run(program, "model", "check", made / "model.pt", "--reference", reference)
    assert "differ" in run(program, "model", "check", made / "second.ckpt", "--reference", reference, code=1)

    whole(made, changed)  # pytorch_model.bin is chosen before other names, safetensors before both
    assert "differ" in run(program, "model", "check", made, "--reference", reference, code=1)
    shutil.copy(source / "model.safetensors", made)
    run(program, "model", "check", made, "--reference", reference)
    assert "differ" in run(program, "model", "check", made / "pytorch_model.bin", "--reference", reference, code=1)

    split = new_folder(folder, source)
    parts(split, tensors)
    for name in ("pytorch_model.bin.index.json", "pytorch_model-00002-of-00002.bin", "config.json"):
        run(program, "model", "check", split / name, "--reference", reference)
    shutil.copy(source / "model.safetensors", split)
    run(program, "model", "check", split / "pytorch_model.bin.index.json", "--reference", reference)
    (split / "pytorch_model-00001-of-00002.bin").unlink()
    run(program, "model", "check", split, "--reference", reference)
    run(program, "model", "info", split / "pytorch_model.bin.index.json", code=1)

    alone = folder / "alone.pt"
    whole(folder, tensors, alone.name)
    message = run(program, "model", "info", alone, code=1)
    assert "config.json" in message and "missing" in message, message


def check_tokenizer(program, models, folder):
    """Checks that a file named itself is used with the tokenizer next to it."""
    pocket = models.parents[2] / "assets" / "models" / "pocket"
    for source in pocket.glob("*.json"):
        shutil.copy(source, folder)
    whole(folder, read_safetensors(pocket / "model.safetensors"), "step-1.ckpt")
    whole(folder, {"other": torch.ones(1)}, "step-2.ckpt")
    prompt = ["--text", "When Mary and John went to the shop, John gave a book to", "--tokens", "8"]
    assert run(program, "generate", "--model", folder / "step-1.ckpt", *prompt) == run(program, "generate", "--model", pocket, *prompt)
    info = json.loads(run(program, "model", "info", folder / "step-1.ckpt", "--json"))
    assert info["tokenizer_files"] and info["tokenizer_problem"] == "", info


class Command:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        import os

        return os.system, (f"touch {self.path}",)


def check_hostile(program, models, folder):
    made, touched = new_folder(folder, models / "gpt2_tiny"), folder / "touched"
    for older in (False, True):
        for value in (Command(touched), {"state_dict": {"w": torch.ones(1)}, "x": Command(touched)}):
            whole(made, value, older=older)
            message = run(program, "model", "info", made, code=1)
            assert "asks to run posix.system" in message and not touched.exists(), message
    whole(made, torch.nn.Linear(2, 2))
    assert "asks to run torch.nn.modules.linear.Linear" in run(program, "model", "info", made, code=1)
    torch.jit.save(torch.jit.script(torch.nn.Linear(2, 2)), made / "pytorch_model.bin")
    assert "TorchScript" in run(program, "model", "info", made, code=1)
    for tensor, word in ((torch.eye(2).to_sparse(), "sparse"), (torch.eye(2).to_sparse_csr(), "sparse"),
                         (torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.quint8), "quantized"),
                         (torch.ones(1, dtype=torch.complex128), "complex128")):  # fmt: skip
        whole(made, {"w": tensor})
        message = run(program, "model", "info", made, code=1)
        assert word in message and "tensor w" in message, message
    complete = new_folder(folder, models / "gpt2_tiny")
    for older in (False, True):
        whole(complete, read_safetensors(models / "gpt2_tiny" / "model.safetensors"), older=older)
        data = (complete / "pytorch_model.bin").read_bytes()
        for length in (0, 1, 10, 1000, len(data) // 2, len(data) - 1):
            (made / "pytorch_model.bin").write_bytes(data[:length])
            message = run(program, "model", "info", made, code=1)
            assert "pytorch_model.bin" in message, message


def main():
    program, models = sys.argv[1], pathlib.Path(sys.argv[2]) / "models"
    warnings.filterwarnings("ignore", message="Sparse CSR")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for check in (check_references, check_bits, check_paths, check_tokenizer, check_hostile):
            own = folder / check.__name__
            own.mkdir()
            check(program, models, own)
    print("PyTorch files: as the safetensors that they were made from")


if __name__ == "__main__":
    main()
