#!/usr/bin/env python3
"""check_files.py PROGRAM DATA: runs `headscope trace` over every reference case of DATA and checks its files.

The numbers are compared with the expected tensors (torch, float64), the five formats with one another bit for bit. The
readers are NumPy, Python's csv and json, and a dozen lines for safetensors: they do not share code with the program."""
import csv
import io
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

import numpy

EXPECTED = {  # stage -> tensor of the case file
    "q": "Q", "k": "K", "v": "V", "scaled": "scores", "masked": "scores_masked", "weights": "weights",
    "head_out": "heads", "concat": "concat", "output": "output", "weights_mean": "weights_mean",
}  # fmt: skip
STAGES = {"x", "q_heads", "k_heads", "v_heads", "scores", "contributions", *EXPECTED}
TYPES = {"F32": "<f4", "F64": "<f8", "I64": "<i8", "BOOL": "?"}


def read_safetensors(path):
    data = pathlib.Path(path).read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + length])
    metadata = header.pop("__metadata__", {})
    tensors = {
        name: numpy.frombuffer(data, TYPES[e["dtype"]], numpy.prod(e["shape"], dtype=int), 8 + length + e["data_offsets"][0])
        .reshape(e["shape"])
        for name, e in header.items()
    }
    return tensors, metadata


def write_safetensors(path, tensors):
    names = {numpy.dtype(v): k for k, v in TYPES.items()}
    header, data = {}, b""
    for name, tensor in tensors.items():
        raw = numpy.ascontiguousarray(tensor).tobytes()
        header[name] = {"dtype": names[tensor.dtype], "shape": tensor.shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def same_bits(got, expected, what):
    assert got.shape == expected.shape, f"{what}: shape {got.shape}, expected {expected.shape}"
    assert got.astype("<f4").tobytes() == expected.astype("<f4").tobytes(), f"{what}: other numbers"


class Checker:
    def __init__(self, program, data, folder):
        self.program, self.data, self.folder = program, pathlib.Path(data), pathlib.Path(folder)

    def trace(self, *arguments):
        done = subprocess.run([self.program, "trace", *map(str, arguments)], capture_output=True)
        assert done.returncode == 0 and not done.stderr, f"{arguments}: {done.returncode} {done.stderr.decode()}"
        return done.stdout

    def check_numbers(self, case, got, metadata, expected):
        name = case["name"]
        assert set(got) == STAGES, f"{name}: stages {sorted(got)}"
        for stage, source in EXPECTED.items():
            want = expected.get("expect." + source)
            if want is None:  # without a mask, masked equals scaled
                assert stage == "masked" and not case["mask"], f"{name}: {source} is missing"
                want = expected["expect.scores"]
            assert got[stage].shape == want.shape, f"{name}: {stage} has shape {got[stage].shape}"
            finite = numpy.isfinite(want)
            assert numpy.array_equal(got[stage][~finite], want[~finite]), f"{name}: {stage}, infinities differ"
            tolerance = 1e-5 + 1e-6 * numpy.abs(want[finite]).max(initial=0)
            worst = numpy.abs(got[stage][finite] - want[finite]).max(initial=0)
            assert worst <= tolerance, f"{name}: {stage} differs by {worst}, allowed is {tolerance}"
        assert not any(numpy.isnan(t).any() for t in got.values()), f"{name}: NaN"
        sums = got["weights"].sum(-1)
        assert (numpy.isclose(sums, 1, atol=1e-6) | (sums == 0)).all(), f"{name}: rows do not sum to 1"
        assert (got["weights"][got["masked"] == -numpy.inf] == 0).all(), f"{name}: masked keys have weight"
        assert json.loads(metadata["fully_masked_rows"]) == case["fully_masked_rows"], f"{name}: fully_masked_rows"
        config = json.loads(metadata["config"])
        for key, want in {"B": "B", "Tq": "T_q", "Tk": "T_k", "D": "D", "H": "H", "Hkv": "H_kv", "dk": "d_k"}.items():
            assert config[key] == case[want], f"{name}: config {key} is {config[key]}"

    def check_formats(self, name, source, got, metadata):
        parsed = json.loads(self.trace(*source, "-o", "-"))
        assert parsed["fully_masked_rows"] == json.loads(metadata["fully_masked_rows"])
        assert parsed["config"] == json.loads(metadata["config"]) and parsed["device"] == metadata["device"]
        self.trace(*source, "--format", "npy", "-o", self.folder / "npy")
        rows = list(csv.DictReader(io.StringIO(self.trace(*source, "--format", "csv", "-o", "-").decode())))
        tabs = list(csv.DictReader(io.StringIO(self.trace(*source, "--format", "tsv", "-o", "-").decode()), delimiter="\t"))
        assert tabs == rows, f"{name}: tsv and csv differ"
        for stage, tensor in got.items():
            entry = parsed["stages"][stage]
            same_bits(numpy.array(entry["values"], dtype=object).astype("f4"), tensor, f"{name} {stage} json")
            assert entry["shape"] == list(tensor.shape)
            same_bits(numpy.load(self.folder / "npy" / f"{stage}.npy"), tensor, f"{name} {stage} npy")
            mine = [row for row in rows if row["stage"] == stage]
            values = numpy.array([row["value"] for row in mine]).astype("f4")
            same_bits(values, tensor.reshape(-1), f"{name} {stage} csv")
            columns = ["b", "h", "i", "j"] if tensor.ndim == 4 else ["b", "i", "j"]
            where = tuple(numpy.array([int(row[c]) for row in mine]) for c in columns)
            same_bits(values, tensor[where], f"{name} {stage} csv indices")

    def check_case(self, case):
        path = self.data / "mha" / case["file"]
        source = ["--case", path, "--heads", case["H"], "--kv-heads", case["H_kv"], "--device", "cpu"]
        out = self.folder / "out.safetensors"
        expected, _ = read_safetensors(path)
        self.trace(*source, "-o", out)
        got, metadata = read_safetensors(out)
        self.check_numbers(case, got, metadata, expected)
        if case["D"] <= 64:
            self.check_formats(case["name"], source, got, metadata)

        # Takes the mask from the manifest instead of the file, and the weights from a second file: the same numbers except
        # for rounding, because a mask in words lets an engine sum over fewer keys.
        bare = {k: v for k, v in expected.items() if k in ("X", "X_kv", "mask.add")}
        others = {k: v for k, v in expected.items() if k[:2] in ("W_", "b_")}
        write_safetensors(self.folder / "bare.safetensors", bare)
        write_safetensors(self.folder / "weights.safetensors", others)
        source[1] = self.folder / "bare.safetensors"
        self.trace(*source, "--weights", self.folder / "weights.safetensors", "--mask", json.dumps(case["mask"]), "-o", out)
        again, _ = read_safetensors(out)
        for stage, tensor in got.items():
            close = numpy.allclose(again[stage], tensor, rtol=1e-6, atol=1e-6)
            assert close, f"{case['name']}: {stage} is different with --mask and --weights"


def main(program, data):
    with tempfile.TemporaryDirectory() as folder:
        checker = Checker(program, data, folder)
        cases = json.loads((pathlib.Path(data) / "mha" / "manifest.json").read_text())["cases"]
        for case in cases:
            checker.check_case(case)
    print(f"{len(cases)} cases agree")


if __name__ == "__main__":
    main(*sys.argv[1:])
