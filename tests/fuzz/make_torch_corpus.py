#!/usr/bin/env python3
"""Writes the small PyTorch files that the reader is tested and fuzzed with: tests/data/corpus/torch.

The reader must accept a file whose name begins with good_, and refuse one with bad_ with an input error. Uses only the
standard library: modules with the names of PyTorch's take its place, so that Python's own pickler writes what torch.save
writes. tests/app/cli/check_torch_files.py checks files of PyTorch itself. Can be run from any folder."""
import argparse
import collections
import io
import pathlib
import pickle
import struct
import sys
import types
import zlib

OUT = pathlib.Path(__file__).resolve().parent.parent / "data" / "corpus" / "torch"
MAGIC = 0x1950A86A20F9469CFC6C


def module(name, classes=(), functions=()):
    made = types.ModuleType(name)
    for item in classes:
        setattr(made, item, type(item, (), {"__module__": name}))
    for item in functions:
        function = eval("lambda *a: None")
        function.__module__, function.__name__, function.__qualname__ = name, item, item
        setattr(made, item, function)
    sys.modules[name] = made
    return made


STORAGES = {"Float": "f", "Double": "d", "Half": "e", "Long": "q", "Int": "i", "Short": "h", "Char": "b", "Byte": "B", "Bool": "?"}
torch = module("torch", [s + "Storage" for s in [*STORAGES, "BFloat16", "ComplexFloat", "ComplexDouble", "QInt8"]], ["Size"])
utils = module("torch._utils", (), ["_rebuild_tensor", "_rebuild_tensor_v2", "_rebuild_tensor_v3", "_rebuild_parameter",
                                    "_rebuild_sparse_tensor", "_rebuild_qtensor"])  # fmt: skip
serialization = module("torch.serialization", (), ["_get_layout"])
storage_module = module("torch.storage", ["UntypedStorage"])


class Call:
    """An object that the pickler writes as a call."""

    def __init__(self, function, *arguments):
        self.reduced = (function, arguments)

    def __reduce__(self):
        return self.reduced


class Named:
    """An object that the pickler writes as the name of a global."""

    def __init__(self, name):
        self.name = name

    def __reduce__(self):
        return self.name


class Storage:
    def __init__(self, kind, numbers, data=None, view=None):
        self.cls = storage_module.UntypedStorage if kind == "Untyped" else getattr(torch, kind + "Storage")
        self.data = data if data is not None else struct.pack(f"<{len(numbers)}{STORAGES[kind]}", *numbers)
        self.count, self.view, self.key, self.location = len(numbers), view, None, "cpu"


def tensor(storage, shape, strides=None, offset=0, *more):
    if strides is None:
        strides, step = [], 1
        for extent in reversed(shape):
            strides.insert(0, step)
            step *= max(extent, 1)
    return Call(utils._rebuild_tensor_v2, storage, offset, tuple(shape), tuple(strides), False, collections.OrderedDict(), *more)


def floats(*numbers):
    return Storage("Float", numbers)


class Pickler(pickle.Pickler):
    def __init__(self, file, protocol, older, keys="{}"):
        super().__init__(file, protocol)
        self.older, self.storages, self.keys = older, [], keys

    def persistent_id(self, value):
        if not isinstance(value, Storage):
            return None
        if value.key is None or value not in self.storages:
            value.key = self.keys.format(len(self.storages))
            self.storages.append(value)
        return ("storage", value.cls, value.key, value.location, value.count) + ((value.view,) if self.older else ())


def pickled(value, protocol=2, older=False):
    out = io.BytesIO()
    pickler = Pickler(out, protocol, older)
    pickler.dump(value)
    return out.getvalue(), pickler.storages


def archive(parts, method=0, flags=0, zip64=False, shift=0, claim=0):
    """A ZIP archive of stored parts. claim: bytes that the directory adds to every size."""
    out, directory = b"", b""
    for name, data in parts.items():
        crc, name = zlib.crc32(data), name.encode()
        place, size = len(out) + shift, len(data) + claim
        pad = b"FB" + struct.pack("<H", 5) + b"ZZZZZ"
        out += struct.pack("<4s5H3I2H", b"PK\3\4", 20, flags, method, 0, 0, crc, len(data), len(data), len(name), len(pad)) + name + pad + data
        extra = struct.pack("<2H3Q", 1, 24, size, size, place) if zip64 else b""
        if zip64:
            size, place = 2**32 - 1, 2**32 - 1
        directory += struct.pack("<4s6H3I5H2I", b"PK\1\2", 20, 20, flags, method, 0, 0, crc, size, size, len(name), len(extra), 0, 0, 0, 0, place) + name + extra
    end = len(out) + shift
    count, size = len(parts), len(directory)
    tail = b""
    if zip64:
        tail = struct.pack("<4sQ2H2I4Q", b"PK\6\6", 44, 45, 45, 0, 0, count, count, size, end) + struct.pack("<4sIQI", b"PK\6\7", 0, end + size, 1)
        count, size, end = 2**16 - 1, 2**32 - 1, 2**32 - 1
    return out + directory + tail + struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, count, count, size, end, 0)


def zipped(value, protocol=2, more=None, **options):
    data, storages = pickled(value, protocol)
    parts = {"archive/data.pkl": data}
    parts |= {f"archive/data/{storage.key}": storage.data for storage in storages}
    parts |= {"archive/version": b"3\n"} | (more or {})
    return archive(parts, **options)


def raw(data, storages=()):
    """An archive with this pickle."""
    return archive({"archive/data.pkl": data} | {f"archive/data/{i}": part for i, part in enumerate(storages)})


def older(value, protocol=2, little=True, cut=0, counts=None):
    data, storages = pickled(value, protocol, older=True)
    out = b"".join(pickle.dumps(v, protocol) for v in (MAGIC, 1001, {"protocol_version": 1001, "little_endian": little}))
    out += data + pickle.dumps([storage.key for storage in storages], protocol)
    for i, storage in enumerate(storages):
        out += struct.pack("<q", storage.count if counts is None else counts[i]) + storage.data
    return out[: len(out) - cut] if cut else out


W, V = floats(1.5, -2.0, float("inf"), 1e-40, 5.0, 6.0), floats(7.0)
all_types = {
    "f32": tensor(floats(0.25), [1]),
    "f64": tensor(Storage("Double", [0.1, -1e300]), [2]),
    "f16": tensor(Storage("Half", [1.0, 6e-8, -65504.0]), [3]),
    "bf16": tensor(Storage("BFloat16", [0, 0], struct.pack("<2H", 0x3F80, 0xFF80)), [2]),
    "i64": tensor(Storage("Long", [-(2**62)]), [1]),
    "i32": tensor(Storage("Int", [-7]), [1]),
    "i16": tensor(Storage("Short", [-3]), [1]),
    "i8": tensor(Storage("Char", [-1]), [1]),
    "u8": tensor(Storage("Byte", [200]), [1]),
    "bool": tensor(Storage("Bool", [True, False]), [1, 2]),
    "c64": tensor(Storage("ComplexFloat", [0], struct.pack("<2f", 1, 2)), [1]),
    "u8_untyped": tensor(Storage("Untyped", [0, 0], b"ab"), [2]),
    "f8": Call(utils._rebuild_tensor_v3, Storage("Untyped", [0, 0], b"ab"), 0, (2,), (1,), False,
               collections.OrderedDict(), Named("float8_e4m3fn")),
}  # fmt: skip
torch.float8_e4m3fn = all_types["f8"].reduced[1][6]
all_types["f8"].reduced[1][6].__class__.__module__ = "torch"
mixed = {"epoch": 3, "lr": 1e-4, "name": "run \u00e4", "big": 2**70, "negative": -(2**40), "none": None, "set": {1, 2},
         "list": [1, [2, (3,)]], "frozen": frozenset([1]), 7: "number", "size": Call(torch.Size, (2, 3)),
         "flags": (True, False)}  # fmt: skip
state = collections.OrderedDict(w=tensor(W, [2, 3]), b=tensor(V, [1]))
state._metadata = collections.OrderedDict({"": {"version": 1}})
cycle = {"w": tensor(W, [2, 3])}
cycle["self"] = cycle
prefixed = {"module._orig_mod." + name: value for name, value in state.items()}
plain = {"w": tensor(W, [2, 3])}
pairs = b"\x80\x02ccollections\nOrderedDict\n]]("  # an OrderedDict of pairs, as Python 2 wrote it
one, storages_of_one = pickled(tensor(V, [1]))
pairs += b"X\1\0\0\0w" + one[2:-1] + b"ea\x85R."

good = {
    "state": zipped(state),
    "zip64": zipped(state, zip64=True),
    "little": zipped(state, more={"archive/byteorder": b"little", "archive/.data/serialization_id": b"1"}),
    "all_types": zipped(all_types),
    "wrapped": zipped({"epoch": 2, "best": tensor(V, []), "state_dict": state, "optimizer": {"state": {0: {"step": tensor(V, [1])}}}}),
    "wrapped_twice": zipped({"model": {"model_state_dict": prefixed}}),
    "module": zipped({"module": state, **mixed}),
    "mixed": zipped(plain | mixed),
    "mixed_5": zipped(plain | mixed | {"bytes": b"x", "array": bytearray(b"yz")}, protocol=5),
    "prefixed": zipped(prefixed),
    "parameter": zipped({"w": Call(utils._rebuild_parameter, tensor(W, [2, 3]), True, collections.OrderedDict())}),
    "first_rebuild": zipped({"w": Call(utils._rebuild_tensor, W, 0, (2, 3), (3, 1))}),
    "shared": zipped({"a": tensor(W, [2, 3]), "b": tensor(W, [2, 3]), "c": tensor(W, [2], [1], 4)}),
    "transposed": zipped({"w": tensor(W, [3, 2], [1, 3])}),
    "sliced": zipped({"w": tensor(W, [2, 2], [3, 2]), "column": tensor(W, [2], [3], 1), "cube": tensor(W, [2, 1, 3], [1, 6, 2])}),
    "expanded": zipped({"w": tensor(V, [4, 3], [0, 0])}),
    "empty": zipped({"w": tensor(floats(), [0, 3]), "v": tensor(V, [1])}),
    "scalar": zipped({"w": tensor(V, [])}),
    "cycle": zipped(cycle),
    "pairs": raw(pairs, [storages_of_one[0].data]),
    "skipped_sparse": zipped({"state_dict": state, "x": Call(utils._rebuild_sparse_tensor, Call(serialization._get_layout, "torch.sparse_coo"), ())}),
    "deep": raw(b"\x80\x02}(X\1\0\0\0w" + one[2:-1] + b"X\1\0\0\0d" + b"]" * 9000 + b"a" * 8999 + b"u.", [storages_of_one[0].data]),
}  # fmt: skip
good |= {f"protocol_{p}": zipped(state, protocol=p) for p in (1, 3, 4, 5)}
good |= {"older": older(state), "older_4": older(state | {"x": tensor(W, [3, 2], [1, 3])}, 4),
         "older_view": older({"w": tensor(Storage("Float", [1.0, 2.0, 3.0, 4.0], view=("v", 1, 3)), [3])}),
         "older_types": older({name: value for name, value in all_types.items() if name not in ("f8", "u8_untyped")})}  # fmt: skip


def asks(name, arguments=b"(X\4\0\0\0echotR", rest=b"."):
    return b"\x80\x02c" + name + b"\n" + arguments + rest


def with_tensor(value):
    return zipped({"w": value})


whole = zipped(state)
bad = {
    "os_system": raw(asks(b"os\nsystem")),
    "posix_system": raw(asks(b"posix\nsystem")),
    "eval": raw(asks(b"builtins\neval")),
    "eval_older": asks(b"__builtin__\neval"),
    "eval_stack_global": raw(b"\x80\x04\x8c\x08builtins\x8c\x04eval\x93\x8c\x011\x85R."),
    "getattr": raw(asks(b"builtins\ngetattr")),
    "torch_load": raw(asks(b"torch\nload")),
    "torch_dotted": raw(b"\x80\x04\x8c\x05torch\x8c\x0bhub.load.__\x93."),
    "codecs": raw(asks(b"_codecs\nencode")),
    "instance": raw(b"\x80\x02(X\4\0\0\0echoios\nsystem\n."),
    "instance_known": raw(b"\x80\x02(icollections\nOrderedDict\n."),
    "global_only": raw(b"\x80\x02}X\1\0\0\0acsubprocess\nPopen\ns."),
    "deferred": raw(asks(b"numpy.core.multiarray\nscalar")),
    "long_name": raw(asks(b"a" * 3000 + b"\n" + b"b" * 3000)),
    "reduce_string": raw(b"\x80\x02X\2\0\0\0os)R."),
    "reduce_type": raw(b"\x80\x02ctorch\nFloatStorage\n)R."),
    "reduce_list": raw(b"\x80\x02ccollections\nOrderedDict\n]R."),
    "newobj_string": raw(b"\x80\x02X\2\0\0\0os)\x81."),
    "build_tensor": raw(b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n)R}b."),
    "build_string": raw(b"\x80\x02X\1\0\0\0a}b."),
    "append_string": raw(b"\x80\x02X\1\0\0\0aK\1a."),
    "append_tuple": raw(b"\x80\x02)K\1a."),
    "setitem_list": raw(b"\x80\x02]K\1K\2s."),
    "odd_items": raw(b"\x80\x02}(K\1u."),
    "memo_missing": raw(b"\x80\x02h\5."),
    "memo_far": raw(b"\x80\x02j\xff\xff\xff\xff."),
    "memo_empty_stack": raw(b"\x80\x02q\0."),
    "memo_negative": raw(b"g-1\n."),
    "no_mark": raw(b"\x80\x02t."),
    "below_mark": raw(b"\x80\x02K\1(\x85."),
    "empty_stack": raw(b"\x80\x02."),
    "stop_in_mark": raw(b"\x80\x02}(."),
    "extension": raw(b"\x80\x02\x82\1."),
    "persistent_text": raw(b"\x80\x02P0\n."),
    "persistent_string": raw(b"\x80\x02X\1\0\0\0aQ."),
    "unknown_operation": raw(b"\x80\x02\xff."),
    "no_stop": raw(b"\x80\x02}"),
    "count_huge": raw(b"\x80\x02\x8d\xff\xff\xff\xff\xff\xff\xff\x7fa."),
    "long_huge": raw(b"\x80\x02\x8b\xff\xff\xff\xff."),
    "pairs_string": raw(b"\x80\x02ccollections\nOrderedDict\nX\1\0\0\0a\x85R."),
    "pairs_three": raw(b"\x80\x02ccollections\nOrderedDict\n](K\1K\2K\3ta\x85R."),
    "decimal": raw(b"I1x\n."),
    "self_list": raw(b"\x80\x02]q\0h\0a."),
    "no_names": raw(b"\x80\x02]."),
    "no_tensors": zipped({"epoch": 3}),
    "tensor_alone": zipped(tensor(V, [1])),
    "number_keys": zipped({0: tensor(V, [1])}),
    "tensor_without_arguments": raw(b"\x80\x02}X\1\0\0\0wctorch._utils\n_rebuild_tensor_v2\n)Rs."),
    "tensor_of_string": raw(b"\x80\x02}X\1\0\0\0wctorch._utils\n_rebuild_tensor_v2\n(X\1\0\0\0aK\0))tRs."),
    "parameter_of_none": raw(b"\x80\x02}X\1\0\0\0wctorch._utils\n_rebuild_parameter\n(NtRs."),
    "parameter_without_arguments": raw(b"\x80\x02}X\1\0\0\0wctorch._utils\n_rebuild_parameter\n)Rs."),
    "storage_short": raw(b"\x80\x02}X\1\0\0\0wctorch._utils\n_rebuild_tensor_v2\n(X\7\0\0\0storage\x85QK\0))tRs."),
    "offset_beyond": with_tensor(tensor(W, [2, 3], None, 1)),
    "offset_negative": with_tensor(tensor(W, [1], None, -1)),
    "offset_huge": with_tensor(tensor(W, [2], [1], 2**63 - 1)),
    "offset_larger": with_tensor(tensor(W, [1], [1], 2**64)),
    "stride_beyond": with_tensor(tensor(W, [2, 3], [4, 1])),
    "stride_negative": with_tensor(tensor(W, [2, 3], [3, -1])),
    "stride_huge": with_tensor(tensor(W, [3], [2**62])),
    "stride_count": with_tensor(tensor(W, [2, 3], [1])),
    "shape_negative": with_tensor(tensor(W, [-1])),
    "shape_huge": with_tensor(tensor(W, [2**40, 2**40])),
    "shape_huge_with_zero": with_tensor(tensor(W, [2**40, 2**40, 0], [0, 0, 0])),
    "shape_string": with_tensor(tensor(W, "ab", [1, 1])),
    "shape_number": with_tensor(Call(utils._rebuild_tensor_v2, W, 0, 3, (1,), False, collections.OrderedDict())),
    "axes": with_tensor(tensor(W, [1] * 9)),
    "expanded_huge": with_tensor(tensor(V, [2**40], [0])),
    "negated": with_tensor(tensor(W, [6], None, 0, {"neg": True})),
    "sparse": with_tensor(Call(utils._rebuild_sparse_tensor, Call(serialization._get_layout, "torch.sparse_coo"), ())),
    "quantized": with_tensor(Call(utils._rebuild_qtensor, Storage("QInt8", [0], b"a"), 0, (1,), (1,))),
    "quantized_storage": with_tensor(tensor(Storage("QInt8", [0], b"a"), [1])),
    "complex128": with_tensor(tensor(Storage("ComplexDouble", [0], bytes(16)), [1])),
    "typed_without_type": with_tensor(Call(utils._rebuild_tensor_v3, W, 0, (1,), (1,), False, collections.OrderedDict(), 3)),
    "typed_too_large": with_tensor(Call(utils._rebuild_tensor_v3, Storage("Untyped", [0, 0], b"ab"), 0, (2,), (1,), False,
                                        collections.OrderedDict(), torch.FloatStorage)),
    "numbers_missing": raw(pickled(plain)[0]),
    "numbers_short": raw(pickled(plain)[0], [W.data[:-1]]),
    "big_endian": zipped(state, more={"archive/byteorder": b"big"}),
    "torchscript": zipped(state, more={"archive/constants.pkl": b"\x80\x02)."}),
    "deflated": zipped(state, method=8),
    "encrypted": zipped(state, flags=1),
    "shifted": zipped(state, shift=8),
    "claimed": zipped(state, claim=2**20),
    "zip64_cut": zipped(state, zip64=True).replace(b"PK\6\6", b"PK\6\0"),
    "zip64_no_extra": zipped(state, zip64=True).replace(struct.pack("<2H", 1, 24), struct.pack("<2H", 2, 24)),
    "directory_cut": whole.replace(b"PK\1\2", b"PK\1\0"),
    "no_directory": whole[: whole.index(b"PK\1\2")],
    "cut": whole[:200],
    "end_cut": whole[:-5],
    "twice": archive({"archive/data.pkl": b"\x80\x02}.", "archive/datA.pkl": b""}).replace(b"datA", b"data"),
    "other_zip": archive({"word/document.xml": b"<a/>"}),
    "nothing": b"",
    "two_bytes": b"PK",
    "text": b"hello",
    "git_lfs": b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 4\n",
    "plain_pickle": pickle.dumps({"a": 1}, 2),
    "older_cut": older(state, cut=3),
    "older_pickle_cut": older(state)[:100],
    "older_big_endian": older(state, little=False),
    "older_counts": older(state, counts=[5, 1]),
    "older_count_negative": older(state, counts=[-1, 1]),
    "older_no_keys": older({"w": tensor(V, [1])}).replace(pickle.dumps(["0"], 2), pickle.dumps([], 2)),
    "older_other_key": older({"w": tensor(V, [1])}).replace(pickle.dumps(["0"], 2), pickle.dumps(["1"], 2)),
    "older_view_beyond": older({"w": tensor(Storage("Float", [1.0, 2.0], view=("v", 1, 2)), [2])}),
    "tar": b"storages\0" + bytes(300),
}  # fmt: skip

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    for path in OUT.iterdir():
        path.unlink()
    for prefix, files in (("good", good), ("bad", bad)):
        for name, data in files.items():
            (OUT / f"{prefix}_{name}.pt").write_bytes(data)
