"""A byte-level BPE tokenizer: learns its merges from text, encodes text, and writes tokenizer.json.

The pieces before merging are those of GPT-2's pattern for text of ASCII letters: a word with the blank before it, digits,
signs, and contractions such as 's. A text gets a blank at its beginning, so that a word is the same token at every
position."""

import collections
import json
import re

PIECES = re.compile(r"'s|'t|'re|'ve|'m|'ll|'d| ?[^\W\d_]+| ?\d+| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+")
BOS, EOS = 0, 1
SPECIAL = ["<s>", "</s>"]


def byte_letters():
    """The letter that stands for each byte in a byte-level vocabulary: a list of 256 characters."""
    shown = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    letters, hidden = {byte: chr(byte) for byte in shown}, 0
    for byte in range(256):
        if byte not in letters:
            letters[byte] = chr(256 + hidden)
            hidden += 1
    return [letters[byte] for byte in range(256)]


LETTERS = byte_letters()


def pieces(text):
    """The pieces of a text, each written in byte letters."""
    return ["".join(LETTERS[byte] for byte in piece.encode("utf-8")) for piece in PIECES.findall(" " + text.lstrip(" "))]


def merge(symbols, pair, joined):
    """The tuple of symbols with each occurrence of the pair joined, from the left."""
    result, i = [], 0
    while i < len(symbols):
        if i + 1 < len(symbols) and (symbols[i], symbols[i + 1]) == pair:
            result.append(joined)
            i += 2
        else:
            result.append(symbols[i])
            i += 1
    return tuple(result)


def learn_merges(counts, wanted):
    """The list of merges (pairs of symbols) for a vocabulary with that many merges; counts: Counter of pieces."""
    split = {piece: tuple(piece) for piece in counts}
    pairs, merges = collections.Counter(), []
    for piece, symbols in split.items():
        for pair in zip(symbols, symbols[1:]):
            pairs[pair] += counts[piece]
    while len(merges) < wanted and pairs:
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        if pairs[best] <= 0:
            break
        merges.append(best)
        joined = "".join(best)
        for piece, symbols in split.items():
            if joined not in piece:
                continue
            split[piece] = merge(symbols, best, joined)
            for pair in zip(symbols, symbols[1:]):
                pairs[pair] -= counts[piece]
            for pair in zip(split[piece], split[piece][1:]):
                pairs[pair] += counts[piece]
    return merges


class Tokenizer:
    """Encodes text with a list of merges. ids: 0 <s>, 1 </s>, then the 256 bytes, then the merges in their order."""

    def __init__(self, merges):
        self.merges = [tuple(pair) for pair in merges]
        names = SPECIAL + sorted(LETTERS) + ["".join(pair) for pair in self.merges]
        self.ids = {name: i for i, name in enumerate(names)}
        self.names = names
        self.rank = {pair: i for i, pair in enumerate(self.merges)}
        self.cache = {}

    def __len__(self):
        return len(self.names)

    def piece(self, text):
        """The ids of one piece."""
        if text not in self.cache:
            symbols = tuple(text)
            while len(symbols) > 1:
                pair = min(zip(symbols, symbols[1:]), key=lambda pair: self.rank.get(pair, len(self.merges)))
                if pair not in self.rank:
                    break
                symbols = merge(symbols, pair, "".join(pair))
            self.cache[text] = [self.ids[symbol] for symbol in symbols]
        return self.cache[text]

    def encode(self, text):
        """The ids of a text, without <s>."""
        return [i for piece in pieces(text) for i in self.piece(piece)]

    def decode(self, ids):
        """The text of ids; <s> and </s> are kept as they are."""
        bytes_of = {letter: byte for byte, letter in enumerate(LETTERS)}
        text = b""
        for i in ids:
            name = self.names[i]
            text += name.encode() if i < len(SPECIAL) else bytes(bytes_of[letter] for letter in name)
        return text.decode("utf-8", errors="replace")

    def save(self, path):
        """Writes tokenizer.json."""
        special = [{"id": i, "content": name, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
                    "special": True} for i, name in enumerate(SPECIAL)]
        level = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
        start = {"SpecialToken": {"id": "<s>", "type_id": 0}}
        content = {
            "version": "1.0", "truncation": None, "padding": None, "added_tokens": special, "normalizer": None,
            "pre_tokenizer": level,
            "post_processor": {"type": "TemplateProcessing",
                               "single": [start, {"Sequence": {"id": "A", "type_id": 0}}],
                               "pair": [start, {"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
                               "special_tokens": {"<s>": {"id": "<s>", "ids": [BOS], "tokens": ["<s>"]}}},
            "decoder": level,
            "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                      "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
                      "vocab": self.ids, "merges": [" ".join(pair) for pair in self.merges]}}
        with open(path, "w", encoding="utf-8") as file:
            json.dump(content, file, ensure_ascii=False, indent=0)
            file.write("\n")


def load(path):
    """The tokenizer of a tokenizer.json that save() wrote."""
    with open(path, encoding="utf-8") as file:
        return Tokenizer([pair.split(" ") for pair in json.load(file)["model"]["merges"]])


def learn(texts, size):
    """A tokenizer whose vocabulary has at most size tokens, learnt from an iterable of texts."""
    counts = collections.Counter(piece for text in texts for piece in pieces(text))
    return Tokenizer(learn_merges(counts, size - len(SPECIAL) - len(LETTERS)))
