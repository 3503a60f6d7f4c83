#!/usr/bin/env python3
"""Writes the small files that the parsers are tested and fuzzed with: tests/data/corpus/{safetensors,mask,
tokenizer,sentencepiece,project,lesson,expression,formula,markdown,adapter,toy,params,prompts}.

Parsers must accept a file whose name begins with good_, and refuse one with bad_ with an input error. Uses only the
standard library, so that the files do not depend on the program that reads them. Can be run from any folder."""
import base64
import json
import pathlib
import struct

ROOT = pathlib.Path(__file__).resolve().parent.parent / "data" / "corpus"


def safetensors(header, data=b"", length=None):
    text = header if isinstance(header, bytes) else json.dumps(header, separators=(",", ":")).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def entry(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


F32 = struct.pack("<4f", 1.5, -2.0, float("inf"), 1e-40)
good = {
    "empty": safetensors({}),
    "padded": safetensors(b'{"a":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}}   ', F32),
    "metadata": safetensors({"__metadata__": {"tokens": '["a"]'}, "a": entry("F32", [4], 0, 16)}, F32),
    "all_types": safetensors(
        {
            "f64": entry("F64", [2], 0, 16),
            "i64": entry("I64", [1], 16, 24),
            "f32": entry("F32", [1], 24, 28),
            "i32": entry("I32", [1], 28, 32),
            "f16": entry("F16", [3], 32, 38),
            "bf16": entry("BF16", [2], 38, 42),
            "u8": entry("U8", [2], 42, 44),
            "bool": entry("BOOL", [1, 3], 44, 47),
            "i8": entry("I8", [1], 47, 48),
        },
        struct.pack("<2dqfi", 0.1, -1e300, -(2**62), 0.25, -7)
        + struct.pack("<3e", 1.0, 6e-8, -65504.0)
        + struct.pack("<2H", 0x3F80, 0xFF80)
        + bytes([0, 200, 1, 0, 1, 255]),
    ),
    "scalar": safetensors({"s": entry("F32", [], 0, 4)}, F32[:4]),
    "zero_extent": safetensors({"z": entry("F32", [0, 3], 0, 0), "a": entry("F32", [1], 0, 4)}, F32[:4]),
    "rank_8": safetensors({"r": entry("F32", [1, 1, 1, 1, 1, 1, 2, 2], 0, 16)}, F32),
    "unaligned": safetensors({"b": entry("BOOL", [1], 0, 1), "f": entry("F32", [1], 1, 5)}, b"\x01" + F32[:4]),
    "unicode_name": safetensors({"größe\n": entry("F32", [1], 0, 4)}, F32[:4]),
}
deep = b"[" * 5000 + b"]" * 5000
bad = {
    "nothing": b"",
    "seven_bytes": b"\x02\0\0\0\0\0\0",
    "no_header": struct.pack("<Q", 0),
    "length_beyond_file": safetensors({}, length=3),
    "length_huge": safetensors({}, length=2**64 - 1),
    "length_wraps": safetensors({}, length=2**64 - 6),
    "length_short": safetensors({"a": entry("F32", [1], 0, 4)}, F32[:4], length=10),
    "not_an_object": safetensors(b"[]"),
    "leading_blank": safetensors(b" {}"),
    "text_after": safetensors(b"{}{}"),
    "cut_json": safetensors(b'{"a":{"dtype":"F32"'),
    "bad_utf8": safetensors(b'{"\xff\xfe":{}}'),
    "nul_inside": safetensors(b'{"a":\0}'),
    "deep": safetensors(b'{"a":' + deep + b"}"),
    "deep_metadata": safetensors(b'{"__metadata__":' + deep + b"}"),
    "duplicate": safetensors(
        b'{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}',
        F32[:4],
    ),
    "duplicate_field": safetensors(b'{"a":{"dtype":"F32","shape":[1],"shape":[2],"data_offsets":[0,8]}}', F32[:8]),
    "metadata_number": safetensors({"__metadata__": {"n": 1}}),
    "metadata_list": safetensors({"__metadata__": []}),
    "no_dtype": safetensors({"a": {"shape": [1], "data_offsets": [0, 4]}}, F32[:4]),
    "no_shape": safetensors({"a": {"dtype": "F32", "data_offsets": [0, 4]}}, F32[:4]),
    "no_offsets": safetensors({"a": {"dtype": "F32", "shape": [1]}}, F32[:4]),
    "entry_is_number": safetensors({"a": 3}),
    "unknown_dtype": safetensors({"a": entry("F33", [1], 0, 4)}, F32[:4]),
    "dtype_number": safetensors({"a": {"dtype": 5, "shape": [1], "data_offsets": [0, 4]}}, F32[:4]),
    "shape_negative": safetensors({"a": entry("F32", [-1], 0, 4)}, F32[:4]),
    "shape_fraction": safetensors({"a": entry("F32", [1.0], 0, 4)}, F32[:4]),
    "shape_string": safetensors({"a": entry("F32", "1", 0, 4)}, F32[:4]),
    "shape_huge": safetensors({"a": entry("F32", [2**64 - 1], 0, 4)}, F32[:4]),
    "shape_overflows": safetensors({"a": entry("F32", [2**32, 2**32], 0, 0)}),
    "shape_overflows_width": safetensors({"a": entry("F32", [2**62], 0, 0)}),
    "shape_overflows_with_zero": safetensors({"a": entry("F32", [2**40, 2**40, 0], 0, 0)}),
    "shape_overflows_after_zero": safetensors({"a": entry("F32", [0, 2**40, 2**40], 0, 0)}),
    "rank_9": safetensors({"a": entry("F32", [1] * 9, 0, 4)}, F32[:4]),
    "offsets_reversed": safetensors({"a": entry("F32", [1], 4, 0)}, F32[:4]),
    "offsets_beyond": safetensors({"a": entry("F32", [2], 0, 8)}, F32[:4]),
    "offsets_huge": safetensors({"a": entry("F32", [1], 2**64 - 4, 2**64 - 1)}, F32[:4]),
    "offsets_three": safetensors({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4, 4]}}, F32[:4]),
    "offsets_fraction": safetensors({"a": entry("F32", [1], 0.0, 4.0)}, F32[:4]),
    "size_too_small": safetensors({"a": entry("F32", [2], 0, 4)}, F32[:4]),
    "size_too_large": safetensors({"a": entry("F32", [1], 0, 8)}, F32[:8]),
    "overlap": safetensors({"a": entry("F32", [2], 0, 8), "b": entry("F32", [2], 4, 12)}, F32[:12]),
    "same_bytes_twice": safetensors({"a": entry("F32", [1], 0, 4), "b": entry("F32", [1], 0, 4)}, F32[:4]),
    "gap": safetensors({"a": entry("F32", [1], 0, 4), "b": entry("F32", [1], 8, 12)}, F32[:12]),
    "gap_at_front": safetensors({"a": entry("F32", [1], 4, 8)}, F32[:8]),
    "bytes_after": safetensors({"a": entry("F32", [1], 0, 4)}, F32[:8]),
    "number_overflow": safetensors(b'{"a":{"dtype":"F32","shape":[1e999],"data_offsets":[0,4]}}', F32[:4]),
    "pickle": b"\x80\x02}q\x00(X\x01\x00\x00\x00aq\x01K\x01u.",
    "torch_zip": b"PK\x03\x04\x00\x00\x08\x08\x00\x00archive/data.pkl",
    "numpy": b"\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }",
    "git_lfs": b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 4\n",
}
good_masks = {
    "word": "causal",
    "none": " none\n",
    "empty_list": "[]",
    "one_object": '{"kind":"causal"}',
    "all_kinds": '[{"kind":"causal"},{"kind":"key_padding","key_valid":[[1,1,0],[1,0,0]]},'
    '{"kind":"sliding_window_causal","window":4},{"kind":"sliding_window_symmetric","half_width":0},'
    '{"kind":"explicit","allowed":[[1,0,1],[true,false,1],[1,1,1]]}]',
    "padding_flat": '[{"kind":"key_padding","key_valid":[1,true,0]}]',
    "explicit_3": '[{"kind":"explicit","allowed":[[[1,0]],[[0,1]]]}]',
    "explicit_4": '[{"kind":"explicit","allowed":[[[[1,0],[0,1]]]]}]',
    "additive": '[{"kind":"additive","add":[[0,-1.5],["-inf",2e-3]]}]',
    "additive_elsewhere": '[{"kind":"additive","shape":"Tq,Tk","seed":5001}]',
    "window_largest": '[{"kind":"sliding_window_causal","window":2147483647}]',
}
bad_masks = {
    "empty": "",
    "blank": " \n",
    "unknown_word": "causl",
    "number": "3",
    "cut": '[{"kind":"causal"}',
    "trailing_comma": '[{"kind":"causal"},]',
    "word_in_list": '["causal"]',
    "no_kind": '[{"window":3}]',
    "kind_number": '[{"kind":1}]',
    "unknown_kind": '[{"kind":"causal"},{"kind":"diagonal"}]',
    "duplicate_key": '[{"kind":"causal","kind":"causal"}]',
    "field_of_another": '[{"kind":"causal","window":3}]',
    "window_missing": '[{"kind":"sliding_window_causal"}]',
    "window_zero": '[{"kind":"sliding_window_causal","window":0}]',
    "window_negative": '[{"kind":"sliding_window_causal","window":-1}]',
    "window_fraction": '[{"kind":"sliding_window_causal","window":1.5}]',
    "window_huge": '[{"kind":"sliding_window_causal","window":2147483648}]',
    "window_wraps": '[{"kind":"sliding_window_causal","window":18446744073709551615}]',
    "window_beyond_64_bits": '[{"kind":"sliding_window_causal","window":99999999999999999999}]',
    "window_string": '[{"kind":"sliding_window_causal","window":"4"}]',
    "half_width_negative": '[{"kind":"sliding_window_symmetric","half_width":-1}]',
    "padding_3_levels": '[{"kind":"key_padding","key_valid":[[[1]]]}]',
    "padding_ragged": '[{"kind":"key_padding","key_valid":[[1,1],[1]]}]',
    "padding_two": '[{"kind":"key_padding","key_valid":[[1,2]]}]',
    "padding_null": '[{"kind":"key_padding","key_valid":[[1,null]]}]',
    "padding_object": '[{"kind":"key_padding","key_valid":{}}]',
    "explicit_missing": '[{"kind":"explicit"}]',
    "explicit_1_level": '[{"kind":"explicit","allowed":[1,0]}]',
    "explicit_5_levels": '[{"kind":"explicit","allowed":[[[[[1]]]]]}]',
    "explicit_ragged_depth": '[{"kind":"explicit","allowed":[[1,0],1]}]',
    "explicit_ragged_deeper": '[{"kind":"explicit","allowed":[[1,[0]],[1,1]]}]',
    "explicit_empty": '[{"kind":"explicit","allowed":[]}]',
    "explicit_empty_rows": '[{"kind":"explicit","allowed":[[],[]]}]',
    "explicit_string": '[{"kind":"explicit","allowed":"all"}]',
    "additive_too_large": '[{"kind":"additive","add":[[1e39]]}]',
    "additive_overflow": '[{"kind":"additive","add":[[1e999]]}]',
    "additive_infinity_literal": '[{"kind":"additive","add":[[-Infinity]]}]',
    "additive_string": '[{"kind":"additive","add":[["0"]]}]',
    "additive_scalar": '[{"kind":"additive","add":0}]',
    "deep": '[{"kind":"explicit","allowed":' + "[" * 3000 + "]" * 3000 + "}]",
}


def tokenizer(model, **parts):
    return json.dumps({"model": model, **parts}, ensure_ascii=False, separators=(",", ":"))


def typed(kind, **options):
    return {"type": kind, **options}


def charsmap(rules):
    """Returns in base64 a table of replacements for SentencePiece's normalizer: a trie as a double array, which packs every
    node at the first offset where its children are free, then the replacements with a zero after each."""
    replacements, trie = b"", {}
    for key, text in rules.items():
        node = trie
        for byte in key.encode():
            node = node.setdefault(byte, {})
        node[0] = len(replacements)
        replacements += text.encode() + b"\0"
    units, bases, waiting = {0: 0}, set(), [(0, trie)]
    for place, node in waiting:
        base = next(b for b in range(1, 1 << 21) if b not in bases and not any(b ^ byte in units for byte in node))
        bases.add(base)
        units[place] |= (place ^ base) << 10 | (0x100 if 0 in node else 0)
        units.update({base ^ byte: byte if byte else 1 << 31 | child for byte, child in node.items()})
        waiting += [(base ^ byte, child) for byte, child in node.items() if byte]
    array = b"".join(struct.pack("<I", units.get(place, 0)) for place in range((max(units) | 0xFF) + 1))
    return base64.b64encode(struct.pack("<I", len(array)) + array + replacements).decode()


def precompiled(map_):
    return typed("Precompiled", precompiled_charsmap=map_)


LETTERS = {letter: i for i, letter in enumerate("?abcdestI'0123\u0120\u2581")}
BPE = typed("BPE", vocab={**LETTERS, "st": 30, "est": 31, "<0x41>": 32}, merges=["s t", ["e", "st"]])
PIECES = typed("WordPiece", vocab={**LETTERS, "##s": 30, "##t": 31}, unk_token="?", max_input_chars_per_word=9)
UNIGRAM = typed(
    "Unigram",
    unk_id=0,
    byte_fallback=True,
    vocab=[["<unk>", 0], ["\u2581", -2.5], ["a", -3], ["\u2581ca", -2.0122928619384766], ["a", -4], ["<0xCC>", 0]]
    + [["<0x%02X>" % byte, 0] for byte in range(0x80, 0xCC)],
)
RULES = {"e\u0301": "\u00e9", "\t": "", "\n": " ", "\u4e16": "TM", "s": "st", "\u0323": ""}
good_tokenizers = {
    "gpt2": tokenizer(
        BPE,
        added_tokens=[{"id": 40, "content": "<s>", "special": True}, {"id": 41, "content": "s>1", "lstrip": True}],
        pre_tokenizer=typed("ByteLevel", add_prefix_space=True),
        post_processor=typed("RobertaProcessing", cls=["<s>", 40], sep=["<s>", 40]),
        decoder=typed("ByteLevel"),
    ),
    "bert": tokenizer(
        PIECES,
        normalizer=typed("BertNormalizer"),
        pre_tokenizer=typed("BertPreTokenizer"),
        post_processor=typed(
            "TemplateProcessing",
            single=[{"SpecialToken": {"id": "C"}}, {"Sequence": {"id": "A"}}],
            special_tokens={"C": {"ids": [40], "tokens": ["C"]}},
        ),
        decoder=typed("WordPiece"),
    ),
    "llama2": tokenizer(
        {**BPE, "byte_fallback": True, "unk_token": "?", "fuse_unk": True},
        normalizer=typed(
            "Sequence",
            normalizers=[
                typed("NFKC"),
                typed("Prepend", prepend="\u2581"),
                typed("Replace", pattern={"String": " "}, content="\u2581"),
            ],
        ),
        decoder=typed(
            "Sequence",
            decoders=[typed("ByteFallback"), typed("Fuse"), typed("Strip", content=" ", start=1, stop=0)],
        ),
    ),
    "t5": tokenizer(
        UNIGRAM,
        normalizer=typed(
            "Sequence", normalizers=[precompiled(charsmap(RULES)), typed("Strip"), typed("Nmt"), typed("NFKD")]
        ),
        pre_tokenizer=typed(
            "Sequence", pretokenizers=[typed("WhitespaceSplit"), typed("Metaspace", add_prefix_space=True)]
        ),
        decoder=typed("Metaspace", prepend_scheme="always"),
    ),
    "unigram": tokenizer({**UNIGRAM, "unk_id": 2, "byte_fallback": False}),
    "unigram_old": tokenizer({"vocab": [["a", -1.5]]}),
    "splits": tokenizer(
        {**BPE, "ignore_merges": True},
        normalizer=typed("Strip"),
        pre_tokenizer=typed(
            "Sequence",
            pretokenizers=[
                typed("Split", pattern={"Regex": "\\s+(?!\\S)|\\p{N}{1,3}"}, behavior="MergedWithNext"),
                typed("Digits", individual_digits=True),
                typed("Punctuation"),
                typed("Metaspace", prepend_scheme="first"),
                typed("Whitespace"),
            ],
        ),
        decoder=typed("Metaspace"),
    ),
}
bad_tokenizers = {
    "no_model": "{}",
    "unk_id": tokenizer(typed("Unigram", vocab=[["a", -1.5]], unk_id=1)),
    "piece_without_score": tokenizer(typed("Unigram", vocab=[["a"]])),
    "score_overflow": '{"model":{"type":"Unigram","vocab":[["a",-1e999]]}}',
    "charsmap_cut": tokenizer(UNIGRAM, normalizer=precompiled(charsmap(RULES)[:64])),
    "charsmap_cycle": tokenizer(
        UNIGRAM,
        normalizer=precompiled(
            base64.b64encode(struct.pack("<I99I", 4 * 99, *[97 << 10 | 97 if i == 97 else 0 for i in range(99)])).decode()
        ),
    ),
    "merge_out_of_vocab": tokenizer({**BPE, "merges": ["x y"]}),
    "regex": tokenizer(BPE, pre_tokenizer=typed("Split", pattern={"Regex": "("}, behavior="Removed")),
    "id_negative": tokenizer({**BPE, "vocab": {"a": -1}, "merges": []}),
}


# SentencePiece models, in the wire format of protobuf.
def varint(value):
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def integer(field, value):
    return varint(field << 3) + varint(value)


def field(number, content):
    return varint(number << 3 | 2) + varint(len(content)) + content


def piece(text, score=-1.0, kind=1):
    return field(1, field(1, text.encode()) + varint(2 << 3 | 5) + struct.pack("<f", score) + integer(3, kind))


SENTENCE_PIECES = (
    piece("<unk>", 0, 2) + piece("<s>", 0, 3) + piece("</s>", 0, 3) + piece("\u2581") + piece("\u2581a", -2) + piece("a") + piece("f")
    + piece("ca", -3) + piece("c") + piece("caf", -4) + piece("<sep>", 0, 4) + piece("unused", 0, 5) + piece("[CLS]") + piece("[SEP]")
)
BYTE_PIECES = b"".join(piece(f"<0x{byte:02X}>", 0, 6) for byte in range(256))
good_sentencepieces = {
    "unigram": SENTENCE_PIECES + field(2, integer(3, 1)) + field(3, field(2, base64.b64decode(charsmap(RULES)))),
    "unigram_bytes": SENTENCE_PIECES + BYTE_PIECES + field(2, integer(3, 1) + integer(35, 1)) + field(3, integer(4, 0)),
    "bpe": SENTENCE_PIECES.replace(piece("<sep>", 0, 4), b"") + BYTE_PIECES + field(2, integer(3, 2) + integer(35, 1)),
    "suffix": SENTENCE_PIECES + field(2, integer(24, 1)) + field(3, integer(3, 1) + integer(5, 0)),
}
bad_sentencepieces = {
    "empty": b"",
    "cut": SENTENCE_PIECES[:-3],
    "length": SENTENCE_PIECES + varint(1 << 3 | 2) + varint(1 << 63),
    "wire_type": SENTENCE_PIECES + integer(1, 7),
    "group": SENTENCE_PIECES + varint(1 << 3 | 3),
    "varint": SENTENCE_PIECES + b"\xff" * 11,
    "equal_pieces": SENTENCE_PIECES + piece("a"),
    "kind": SENTENCE_PIECES + field(2, integer(3, 9)),
    "unknown_id": SENTENCE_PIECES + field(2, integer(40, 99)),
    "json": b'{"model":{}}',
}

# Tensors that a project can name; fuzz_project.cpp adds the same ones to a project without tensors.
NAMED = {
    "x": ("F32", [1, 2, 2], struct.pack("<4f", 0, 1, -0.5, 3e38)),
    "w": ("F32", [2, 2], struct.pack("<4f", 0, 1, -0.5, 3e38)),
    "b": ("F32", [2], struct.pack("<2f", 0, 1)),
    "add": ("F32", [2, 2], struct.pack("<4f", 1, 2, -float("inf"), 4)),
    "allowed": ("BOOL", [2, 2], bytes([1, 0, 1, 1])),
}
PROBLEM = {
    "dims": {"B": 1, "Tq": 2, "Tk": 2, "D": 2, "Dkv": 2, "H": 1, "Hkv": 1, "dk": 2, "dv": 2},
    "tensors": {"x": "x", "W_Q": "w", "W_K": "w", "W_V": "w", "W_O": "w", "b_Q": "b"},
    "mask": [{"kind": "causal"}, {"kind": "explicit", "tensor": "allowed"}, {"kind": "additive", "tensor": "add"}],
    "gains": [0.5],
    "temperature": 2,
    "tokens": ["one", "two"],
    "kv_tokens": [],
}
RECIPE = {"base": {**PROBLEM, "gains": [], "temperature": 1}, "gains": [0.5], "temperature": 2, "edits": {"W_O": "w"}}


def project(**parts):
    """Returns the JSON of a project with some parts changed; None removes a part."""
    whole = {"format": 1, "program": "0.1.0", "title": "one two", "recipe": RECIPE, "problem": PROBLEM, **parts}
    return json.dumps({key: part for key, part in whole.items() if part is not None}, separators=(",", ":"))


good_projects = {
    "base": project(unedited={"W_O": "w"}),
    "problem_alone": project(recipe=None),
    "other_numbers": project(recipe={"preset": "cat-sleeps", "sentence": "Cat sleeps", "H": 1, "mask": "causal"}),
    "unknown_preset": project(recipe={"preset": "of-tomorrow", "sentence": "?", "seed": 2**64 - 1}),
    "contradiction": project(recipe={**RECIPE, "identity_W_O": True, "Hkv": 3, "gains": [1, 2, 3]}),
    "waiting": project(recipe={**RECIPE, "edits": {"W_O": "w", "b_O": "b", "x_kv": "x"}, "extra_mask": []}),
    "unknown_fields": project(colour="blue"),
}
bad_projects = {
    "newer": project(format=2),
    "no_format": project(format=None),
    "nothing": project(recipe=None, problem=None),
    "extent_zero": project(problem={**PROBLEM, "dims": {**PROBLEM["dims"], "B": 0}}),
    "extent_huge": project(problem={**PROBLEM, "dims": {**PROBLEM["dims"], "H": 2**31}}),
    "other_dims": project(problem={**PROBLEM, "dims": {**PROBLEM["dims"], "dk": 1}}),
    "infinite_edit": project(recipe={**RECIPE, "edits": {"W_Q": "add"}}),
    "edit_of_a_stage": project(recipe={**RECIPE, "edits": {"scores": "w"}}),
    "no_such_tensor": project(recipe={**RECIPE, "edits": {"W_Q": "nowhere"}}),
    "mask_names_numbers": project(problem={**PROBLEM, "mask": [{"kind": "explicit", "tensor": "add"}]}),
    "temperature_zero": project(problem={**PROBLEM, "temperature": 0}),
    "gain_overflows": project(recipe={**RECIPE, "gains": [1e39]}),
    "token_count": project(problem={**PROBLEM, "tokens": ["one"]}),
    "no_json": "{",
}


def project_file(text):
    header, data = {"__metadata__": {"headscope.project": text}}, b""
    for name, (dtype, shape, numbers) in NAMED.items():
        header[name] = entry(dtype, shape, len(data), len(data) + len(numbers))
        data += numbers
    return safetensors(header, data)


FRONT = "---\nid: t\ntitle: T\nminutes: 1\ndifficulty: beginner\n---\n"
QUIZ = """
```quiz
question: Which?
choices:
- {text: a, why: b, right: true}
- {text: c, why: d}
- {text: e, why: f}
```
"""


def lesson(*parts):
    return FRONT + "## S\n\nSome *words* of **text** and `code`.\n\n" + "\n\n".join(parts) + "\n" + QUIZ


EXPRESSIONS = [
    "weights[0][sat, cat]", "sum(weights[0][1, :]) = 1.00", "1 + 2 * 3 ^ -4", "not (entropy(0) > 1 and H != 2)",
    "top(weights[0][1, :])", "L2.weights[7][to, Mary]", "difference(q, k)", 'done("quiz 1")', "norm(W_O[5, 1]):3",
]  # fmt: skip
FORMULAS = [
    r"\frac{Q K^{\top}}{\sqrt{d_k}}", r"\left( a_1^2 \right)", r"\begin{matrix} 1 & 2 \\ 3 & 4 \end{matrix}",
    r"\sum_{h} \text{head}_h W_O",
]  # fmt: skip
good_lessons = {
    "smallest": lesson(),
    "values": lesson(*("{{" + one + "}}" for one in EXPRESSIONS)),
    "formulas": lesson(*(f"```formula\n{one}\n```" for one in FORMULAS)),
    "blocks": lesson("> [!try] Words.\n> > More.", "- one\n- two\n  - three", "| a | b |\n|---|---|\n| 1 | 2 |",
                     "```python\nx = 1\n```"),
    "step": lesson("```step\nstage: weights\nhead: 1\npoint: weights[0][0, 0]\ngain: {1: 0.5}\n```",
                   "```gate\ntask: Do it.\nwhen: temperature > 1\n```"),
}
bad_lessons = {
    "empty": "",
    "no_end": FRONT + "## S\n\nThe value {{weights[0",
    "deep_brackets": lesson("{{" + "(" * 10000 + "}}"),
    "deep_minus": lesson("{{" + "-" * 10000 + "1}}"),
    "deep_quotations": lesson(">" * 10000 + " words"),
    "empty_fence": FRONT + "```## S\n",
    "deep_front": "---\nid: " + "[" * 10000 + "\n---\n",
    "bytes": lesson("Words").encode() + b"\xff\x00{{a\x00}}",
}
good_expressions = {str(n): one.split(" = ")[0].removesuffix(":3") for n, one in enumerate(EXPRESSIONS)}
bad_expressions = {"many_brackets": "(" * 10000, "no_end": "weights[0", "no_name": "1 + nothing[0]", "empty": ""}
good_formulas = {str(n): one for n, one in enumerate(FORMULAS)}
bad_formulas = {"many_braces": "{" * 10000, "no_end": r"\frac{1", "unknown": r"\nothing"}
# Properties of a text: none of these files is refused as a whole.
markdown = {
    "spans": "Some *words* of **text**, `code`, [a link](weights.md#head) and ![a picture](a.png).\n\n# Head\n\n### softmax",
    "lists": "- one\n- two\n  - three\n\n3. four\n\n> quoted\n> > twice\n\n> [!try] Words.",
    "table": "| a | b |\n|:--|--:|\n| {{1 + 2}} | `x` |\n\n---\n\n```python\nx = 1\n```\n\n    code",
    "deep": ">" * 10000 + " words",
    "odd": "<b>&amp;&#0;</b>\\* \\\n[a]: b\n[a]\n***a** b*\n".encode() + b"\xff\x00{{a\x00}}\r\n",
}


def adapter(*names, **keys):
    """The text of an adapter_config.json, and the names of an adapter's tensors below it."""
    config = {"peft_type": "LORA", "base_model_name_or_path": "org/base", "r": 2, "lora_alpha": 4} | keys
    return "\n".join([json.dumps(config), *names])


ATTENTION = "base_model.model.transformer.h.0.attn.c_attn"
PAIR = [ATTENTION + ".lora_A.weight", ATTENTION + ".lora_B.weight"]
good_adapters = {
    "plain": adapter(*PAIR),
    "default": adapter(ATTENTION + ".lora_A.default.weight", PAIR[1], use_rslora=True, alpha_pattern={"attn.c_attn": 3}),
    "classifier": adapter(*PAIR, "base_model.model.score.weight", modules_to_save=["score"]),
}
bad_adapters = {
    "empty": "",
    "no_pair": adapter(PAIR[0]),
    "no_tensors": adapter(),
    "dora": adapter(*PAIR, use_dora=True),
    "other": adapter(*PAIR, peft_type="IA3"),
    "table": adapter("base_model.model.transformer.wte.lora_embedding_A", "base_model.model.transformer.wte.lora_embedding_B"),
    "deep": "[" * 10000,
}
TOY = {"heads": 2, "embedding": "E", "norm": "none", "layers": 1, "block": {"W_Q": "M", "W_K": "M", "W_V": "M", "W_O": "M"}}
good_toys = {
    "matrices": json.dumps(TOY | {"unembedding": "U", "positions": "E"}),
    "heads": json.dumps({"embedding": "E", "norm": "layer", "blocks": [{"W_Q": "H", "W_K": "H", "W_V": "H", "W_O": "O", "norm1": "v"}]}),
    "axes": json.dumps(TOY | {"linear": True, "block": {"W_Q": {"tensor": "O", "axes": "H dk D"}, "W_K": {"tensor": "M", "rows": [0, 4]},
                                                      "W_V": "M", "W_O": "M"}}),
}  # fmt: skip
bad_toys = {
    "empty": "",
    "list": "[]",
    "no_embedding": json.dumps({"blocks": [{}]}),
    "no_norm": json.dumps(TOY | {"norm": None}),
    "many_layers": json.dumps(TOY | {"layers": 2**31 - 1}),
    "rows": json.dumps(TOY | {"block": TOY["block"] | {"W_Q": {"tensor": "M", "rows": [3, 9]}}}),
    "axes": json.dumps(TOY | {"block": TOY["block"] | {"W_Q": {"tensor": "M", "axes": "* * *"}}}),
    "lens": json.dumps({"layout": "transformer_lens"}),
}
PARAMS = {"dim": 4, "n_layers": 1, "n_heads": 2, "norm_eps": 1e-5, "vocab_size": -1}
good_params = {
    "llama": json.dumps(PARAMS),
    "mistral": json.dumps(PARAMS | {"head_dim": 2, "hidden_dim": 8, "n_kv_heads": 1, "sliding_window": 3, "vocab_size": 6}),
    "mixtral": json.dumps(PARAMS | {"moe": {"num_experts": 2, "num_experts_per_tok": 2}, "rope_theta": 1e6}),
    "scaled": json.dumps(PARAMS | {"use_scaled_rope": True, "ffn_dim_multiplier": 1.5, "multiple_of": 256}),
}
bad_params = {
    "empty": "",
    "no_dim": json.dumps({"n_layers": 1}),
    "vocab": json.dumps(PARAMS | {"vocab_size": 7}),
    "yarn": json.dumps(PARAMS | {"yarn": {"factor": 16}}),
    "biases": json.dumps(PARAMS | {"use_biases": True}),
}

# Each is read as lines, as JSON lines and as CSV.
prompts = {
    "lines": b"Tom had a dog.\r\n\n\tLucy ran.\nCaf\xc3\xa9\n\xff\n",
    "objects": '{"text": "Tom had a dog."}\n{"clean": [0, 300], "corrupted": "a", "answer": 5, "against": "Mary"}\n'
               '{"text": 1.5}\n[1]\n{\n',
    "cells": 'note,clean,corrupted,answer,against\r\n"a ""b"", c\n d",Tom sat,Lucy sat,Mary,John\r\n2,3\n"open',
}  # fmt: skip


def write(folder, prefix, files, suffix):
    for name, content in files.items():
        path = ROOT / folder / f"{prefix}_{name}.{suffix}"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


if __name__ == "__main__":
    for folder in ("safetensors", "mask", "tokenizer", "sentencepiece", "project", "lesson", "expression", "formula", "markdown", "adapter", "toy",
                   "params", "prompts"):
        (ROOT / folder).mkdir(parents=True, exist_ok=True)
        for old in (ROOT / folder).iterdir():
            old.unlink()
    write("safetensors", "good", good, "safetensors")
    write("safetensors", "bad", bad, "safetensors")
    write("mask", "good", good_masks, "json")
    write("mask", "bad", bad_masks, "json")
    write("tokenizer", "good", good_tokenizers, "json")
    write("tokenizer", "bad", bad_tokenizers, "json")
    write("sentencepiece", "good", good_sentencepieces, "model")
    write("sentencepiece", "bad", bad_sentencepieces, "model")
    write("lesson", "good", good_lessons, "md")
    write("lesson", "bad", bad_lessons, "md")
    write("expression", "good", good_expressions, "txt")
    write("expression", "bad", bad_expressions, "txt")
    write("formula", "good", good_formulas, "txt")
    write("formula", "bad", bad_formulas, "txt")
    write("markdown", "good", markdown, "md")
    write("adapter", "good", good_adapters, "txt")
    write("adapter", "bad", bad_adapters, "txt")
    write("toy", "good", good_toys, "json")
    write("toy", "bad", bad_toys, "json")
    write("params", "good", good_params, "json")
    write("params", "bad", bad_params, "json")
    write("prompts", "good", prompts, "txt")
    for prefix, projects in (("good", good_projects), ("bad", bad_projects)):
        write("project", prefix, projects, "json")
        write("project", prefix, {name: project_file(text) for name, text in projects.items()}, "headscope")
