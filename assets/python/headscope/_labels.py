"""Tokens as people read them."""

from __future__ import annotations

from typing import Dict, List, Sequence


def _letters() -> Dict[str, int]:
    """Returns the byte of each letter of a byte-level vocabulary (GPT-2): printable bytes are themselves, others follow
    from 256 on."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters = {chr(byte): byte for byte in printable}
    for byte in range(256):
        if byte not in printable:
            letters[chr(256 + len(letters) - len(printable))] = byte
    return letters


_BYTES = _letters()


def _decoded(token: str) -> str:
    try:
        return bytes(_BYTES[letter] for letter in token).decode()
    except (KeyError, UnicodeDecodeError):
        return token


def labels(tokens: Sequence[str]) -> List[str]:
    """Returns tokens without the marks of a vocabulary: Ġcat and ▁cat are cat, a line end is ⏎, a blank ␣."""
    byte_level = any("Ġ" in token or "Ċ" in token for token in tokens)
    read = []
    for token in tokens:
        text = (_decoded(token) if byte_level else token).replace("▁", " ")
        text = text.replace("\n", "⏎").replace("\t", "⇥")
        read.append(text.strip() or "␣")
    return read
