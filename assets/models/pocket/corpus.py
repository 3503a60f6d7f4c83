"""The training text of pocket as token ids: which documents there are, and how they are packed into sequences.

About seven in ten tokens are stories. The rest is said two or three times: sequences of random tokens, and lists of words
that somebody reads again. The loss leaves out the first reading of a random sequence, which nobody can predict.
"""

import hashlib
import random
from pathlib import Path

import numpy

import stories
import tokenizer as bpe

SEED = 20261
SOURCES = ["words.py", "plots.py", "stories.py", "tokenizer.py", "corpus.py"]
VOCABULARY = 1536
STORIES_FOR_TOKENIZER = 6000
RANDOM_SHARE, TWICE_SHARE = 0.27, 0.13   # of the documents


def text_folder(work):
    """The folder below work that holds the training text of these sources; other sources have another folder."""
    here = Path(__file__).resolve().parent
    digest = hashlib.sha256(b"".join((here / name).read_bytes() for name in SOURCES))
    folder = Path(work) / digest.hexdigest()[:12]
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def learn_tokenizer(path):
    """The tokenizer, learnt from stories and saved at path; read from there when it exists."""
    if not path.exists():
        rng = random.Random(SEED)
        texts = (stories.said_twice(rng) if i % 4 == 0 else stories.story(rng)[0] for i in range(STORIES_FOR_TOKENIZER))
        bpe.learn(texts, VOCABULARY).save(path)
    return bpe.load(path)


def random_repeat(rng):
    """Random token ids said two or three times, as (ids, learnt): learnt is 0 for the first reading."""
    length = rng.randint(4, 60) if rng.random() < 0.5 else rng.randint(4, 25)
    ids = [rng.randrange(2, VOCABULARY) for _ in range(length)]
    times = 3 if rng.random() < 0.3 else 2
    return ids * times, [0] * length + [1] * (length * (times - 1))


def document(rng, tokenizer):
    """One document as (ids, learnt): learnt is 1 where the loss counts the prediction of that token."""
    kind = rng.random()
    if kind < RANDOM_SHARE:
        return random_repeat(rng)
    text = stories.said_twice(rng) if kind < RANDOM_SHARE + TWICE_SHARE else stories.story(rng)[0]
    ids = tokenizer.encode(text)
    return ids, [1] * len(ids)


def sequence(rng, tokenizer, T):
    """T + 1 ids that start with <s>, with </s> after each document, and for each whether the loss counts it."""
    ids, learnt = [bpe.BOS], [0]
    while len(ids) < T + 1:
        more, counted = document(rng, tokenizer)
        ids += more + [bpe.EOS]
        learnt += counted + [1]
    return ids[:T + 1], learnt[:T + 1]


def sequences(path, tokenizer, seed, T, rows):
    """The ids and the loss mask of so many sequences, each (rows, T + 1), kept at path; fewer rows are the first of more."""
    if path.exists():
        kept = numpy.load(path)
        if len(kept["ids"]) >= rows:
            return kept["ids"][:rows], kept["learnt"][:rows]
    rng = random.Random(seed)
    ids = numpy.empty((rows, T + 1), dtype=numpy.int16)
    learnt = numpy.empty((rows, T + 1), dtype=bool)
    for row in range(rows):
        ids[row], learnt[row] = sequence(rng, tokenizer, T)
    numpy.savez(path, ids=ids, learnt=learnt)
    return ids, learnt
