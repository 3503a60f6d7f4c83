#!/usr/bin/python3
"""write_sentencepiece.py: makes tests/data/tokenizers/sentencepiece with Google's SentencePiece (Debian: python3-sentencepiece).

Trains small models on the texts of the lessons, writes the tokenizers of tests/data/tokenizers that SentencePiece could have
made as models, field by field (the wire format of sentencepiece_model.proto), and records in cases.json which ids and pieces
SentencePiece itself gives for every text of texts.json.
"""
import base64
import json
import pathlib
import struct
import tempfile

import sentencepiece

TESTS = pathlib.Path(__file__).resolve().parents[1]
TOKENIZERS = TESTS / "data/tokenizers"
OUT = TOKENIZERS / "sentencepiece"
LESSONS = TESTS.parent / "assets/lessons"

MORE_TEXTS = [
    "Grüße aus Köln, schöne Äpfel und Öl!", "Die Katze schläft auf der Matte.", "Aufmerksamkeitsgewichte", "ß ẞ ſ ŉ",
    "Straße  und\u3000Weg", "weighted sum of values", "the attention of a head", " leading", "trailing ", "  both  sides  ",
    "a  b   c    d", "▁", "▁▁", "a▁b", " ▁ ", "\t", "\ttab", "tab\t", "\u3000", "\u00a0", "a\u00a0", "\u00a0a", "ﬁne ﬂow",
    "Ｆｕｌｌｗｉｄｔｈ １２３", "①②③", "½ of ⅔", "㍿ 株式会社", "東京タワーは高い。", "中文分词测试", "한국어 문장입니다.", "ประเทศไทย",
    "हिन्दी पाठ", "العربية من اليمين", "שלום עולם", "👨‍👩‍👧‍👦 family", "🇩🇪🇫🇷", "❤️", "e\u0301te\u0301", "a\u0308o\u0308u\u0308", "Ä\u0301",
    "\u0001", "\u0001a\u0002b", "a\u007fb", "\u200b", "\u200ba\u200b", "\ufeffBOM", "a\ufeffb", "\u0085", "a\u2028b", "\ufffd",
    "0", "00", "7,", "1,2,3,", "1999, 2000, 2001", "x^2 + y^2 = z^2", "``quoted'' text", "''", "<unk>", "<s>", "</s>", "<pad>",
    "<0x41>", "a<0x0A>b", "<", ">", "Q K^T / sqrt(d_k)", "q" * 60, "ab" * 40, "The the THE tHe", "\U00010348\U0001f9ff",
    "\ue000", "e" + "\u0301" * 8, "mixed 中文 und Deutsch, русский!", "a\n", "\na", "a\r\nb", "don’t “quote”", "…", "–—‑",
]

# Replacements of characters: Unicode's compatibility forms and blanks, as few as the tests need.
RULES = {
    "\t": " ", "\n": " ", "\r": " ", "\u3000": " ", "\u00a0": " ", "\u200b": " ", "\ufeff": " ", "\u0001": "", "\u0002": "", "\u007f": "",
    "ﬁ": "fi", "ﬂ": "fl", "①": "1", "②": "2", "½": "1⁄2", "…": "...", "㍿": "株式会社", "e\u0301": "é", "a\u0308": "ä", "o\u0308": "ö",
    "u\u0308": "ü", **{chr(0xFF01 + i): chr(0x21 + i) for i in range(94)},
}


def varint(value):
    value &= (1 << 64) - 1
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def integer(field, value):
    return varint(field << 3) + varint(value)


def data(field, value):
    return varint(field << 3 | 2) + varint(len(value)) + value


def number(field, value):
    return varint(field << 3 | 5) + struct.pack("<f", value)


NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)


def model(pieces, kind, unknown, byte_fallback=False, charsmap=b"", adds_blank=True, removes_blanks=True, unknown_piece="<unk>"):
    """The bytes of a model: pieces are (text, score, type)."""
    out = b"".join(data(1, data(1, text.encode()) + number(2, score) + (integer(3, kind_of) if kind_of != NORMAL else b""))
                   for text, score, kind_of in pieces)
    trainer = integer(3, kind) + integer(35, byte_fallback) + integer(40, unknown) + data(45, unknown_piece.encode())
    normalizer = data(1, b"by hand") + data(2, charsmap) + integer(3, adds_blank) + integer(4, removes_blanks) + integer(5, 1)
    return out + data(2, trainer) + data(3, normalizer)


def type_of(text, special, unknown, more=()):
    if text == unknown:
        return UNKNOWN
    if len(text) == 6 and text.startswith("<0x"):
        return BYTE
    return CONTROL if text in special else USER_DEFINED if text in more else NORMAL


def golden_bpe(name, unknown, adds_blank):
    """A byte-pair tokenizer: the earlier a piece's merge, the higher its score."""
    tokenizer = json.loads((TOKENIZERS / name / "tokenizer.json").read_text())
    vocab, merges = tokenizer["model"]["vocab"], tokenizer["model"]["merges"]
    special = {token["content"] for token in tokenizer["added_tokens"] if token["special"]}
    more = {token["content"] for token in tokenizer["added_tokens"] if not token["special"]}
    scores = {}
    for rank, merge in enumerate(merges):
        left, right = merge.split(" ") if isinstance(merge, str) else merge
        scores.setdefault(left + right, float(-rank))
    pieces = [(text, scores.get(text, float(-len(merges))), type_of(text, special, unknown, more))
              for text, _ in sorted(vocab.items(), key=lambda item: item[1])]
    return model(pieces, 2, vocab[unknown], True, b"", adds_blank, False, unknown)


def golden_t5():
    tokenizer = json.loads((TOKENIZERS / "t5_like/tokenizer.json").read_text())
    charsmap = next(step["precompiled_charsmap"] for step in [tokenizer["normalizer"], *tokenizer["normalizer"].get("normalizers", [])]
                    if "precompiled_charsmap" in step)
    vocab = tokenizer["model"]["vocab"]
    special = {token["content"] for token in tokenizer["added_tokens"] if token["special"]}
    pieces = [(text, score, type_of(text, special, "<unk>")) for text, score in vocab if not text.startswith("<extra_id_")]
    return model(pieces, 1, tokenizer["model"]["unk_id"], False, base64.b64decode(charsmap)), len(vocab) - len(pieces)


def train(name, languages, **options):
    with tempfile.TemporaryDirectory() as folder:
        rules = pathlib.Path(folder) / "rules.tsv"
        rules.write_text("".join("%s\t%s\n" % (" ".join("%X" % ord(c) for c in key), " ".join("%X" % ord(c) for c in value))
                                 for key, value in RULES.items()))
        text = pathlib.Path(folder) / "texts"
        files = [path for path in sorted(LESSONS.glob("*.md")) if path.name.endswith(".de.md") == (languages == "de") or languages == "both"]
        text.write_text("\n".join(path.read_text() for path in files))
        if options.pop("rules", False):
            options["normalization_rule_tsv"] = str(rules)
        else:
            options["normalization_rule_name"] = "identity"
        sentencepiece.SentencePieceTrainer.train(input=str(text), model_prefix=str(pathlib.Path(folder) / name), minloglevel=2,
                                                 num_threads=1, max_sentence_length=100000, **options)
        (OUT / (name + ".model")).write_bytes((pathlib.Path(folder) / (name + ".model")).read_bytes())


def main():
    OUT.mkdir(exist_ok=True)
    texts = json.loads((TOKENIZERS / "strings.json").read_text()) + MORE_TEXTS
    train("unigram", "both", model_type="unigram", vocab_size=500, character_coverage=0.999, rules=True, pad_id=0, eos_id=1, unk_id=2, bos_id=-1)
    train("unigram_fairseq", "both", model_type="unigram", vocab_size=450, character_coverage=0.999, rules=True)
    train("unigram_bytes", "both", model_type="unigram", vocab_size=600, character_coverage=0.99, byte_fallback=True, pad_id=3,
          user_defined_symbols=["<sep>", "ch"], remove_extra_whitespaces=False)
    train("bpe", "both", model_type="bpe", vocab_size=400, character_coverage=0.999, rules=True)
    train("bpe_bytes", "both", model_type="bpe", vocab_size=700, character_coverage=0.99, byte_fallback=True, split_digits=True,
          remove_extra_whitespaces=False)
    train("suffix", "en", model_type="unigram", vocab_size=250, character_coverage=0.99, rules=True, treat_whitespace_as_suffix=True)
    train("source", "en", model_type="unigram", vocab_size=300, character_coverage=0.99, rules=True)
    train("target", "de", model_type="unigram", vocab_size=300, character_coverage=0.99, rules=True)
    (OUT / "llama2_like.model").write_bytes(golden_bpe("llama2_like", "<unk>", True))
    (OUT / "gemma_like.model").write_bytes(golden_bpe("gemma_like", "<unk>", False))
    t5, extra = golden_t5()
    (OUT / "t5_like.model").write_bytes(t5)
    cases = {"t5_extra_ids": extra, "texts": texts, "ids": {}, "pieces": {}}
    for path in sorted(OUT.glob("*.model")):
        processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
        cases["ids"][path.stem] = [processor.encode(text) for text in texts]
        if path.stem in ("source", "target"):
            cases["pieces"][path.stem] = [processor.encode(text, out_type=str) for text in texts]
    (OUT / "cases.json").write_text(json.dumps(cases, separators=(",", ":")).replace("]],", "]],\n") + "\n")


main()
