"""The training text of pocket as token ids: which documents there are, and how they are packed into sequences.

Some documents are stories. The others are said two to four times: sequences of random tokens, and lists of words that
somebody reads again. The loss leaves out the first reading of a random sequence, which nobody can predict. Training starts
with many short sequences of random tokens, and goes on with more stories.
"""

import random

import numpy

import stories
import tokenizer as bpe

SEED = 20261
VOCABULARY = 1536
STORIES_FOR_TOKENIZER = 6000


def learn_tokenizer():
    """The tokenizer, learnt from stories and lists."""
    rng = random.Random(SEED)
    texts = (stories.said_twice(rng) if i % 4 == 0 else stories.story(rng)[0] for i in range(STORIES_FOR_TOKENIZER))
    return bpe.learn(texts, VOCABULARY)


def random_repeat(rng, longest):
    """Random token ids said two to four times, as (ids, learnt): learnt is 0 for the first reading."""
    length = rng.randint(4, longest) if rng.random() < 0.3 else rng.randint(4, min(20, longest))
    ids = [rng.randrange(2, VOCABULARY) for _ in range(length)]
    times = rng.choice([2, 2, 3]) if length > 20 else rng.choice([2, 3, 4])
    return ids * times, [0] * length + [1] * (length * (times - 1))


def document(rng, tokenizer, shares, longest):
    """One document as (ids, learnt): learnt is 1 where the loss counts the prediction of that token.

    shares: of random sequences and of texts said twice among the documents. longest: the most tokens of a random sequence.
    """
    kind = rng.random()
    if kind < shares[0]:
        return random_repeat(rng, longest)
    text = stories.said_twice(rng) if kind < sum(shares) else stories.story(rng)[0]
    ids = tokenizer.encode(text)
    return ids, [1] * len(ids)


def sequence(rng, tokenizer, T, shares, longest):
    """T + 1 ids: documents, each between <s> and </s>; and for each id whether the loss counts it."""
    ids, learnt = [], []
    while len(ids) < T + 1:
        more, counted = document(rng, tokenizer, shares, longest)
        ids += [bpe.BOS] + more + [bpe.EOS]
        learnt += [0] + counted + [1]
    return ids[:T + 1], learnt[:T + 1]


def batch(tokenizer, step, B, T, shares, longest):
    """The sequences of a step, drawn from the seed and the number of the step: ids and learnt, each (B, T + 1)."""
    rng = random.Random(SEED * 1000003 + step)
    rows = [sequence(rng, tokenizer, T, shares, longest) for _ in range(B)]
    return numpy.array([ids for ids, _ in rows]), numpy.array([learnt for _, learnt in rows], dtype=bool)
