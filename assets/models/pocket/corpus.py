"""The training text of pocket as token ids: which documents there are, and how they are packed into sequences.

Some documents are stories. The others are said two to four times: sequences of random tokens, and lists of words that
somebody reads again. Training starts with many short sequences of random tokens, whose first reading, which nobody can
predict, the loss leaves out; then more and more of the text is stories.
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
    texts = (stories.said_twice(rng) if i % 4 == 0 else stories.story(rng, fact_share=0.0)[0] for i in range(STORIES_FOR_TOKENIZER))
    return bpe.learn(texts, VOCABULARY)


def random_repeat(rng, longest, first_counts):
    """Random token ids said two to four times, as (ids, learnt): learnt is 0 for the first reading unless first_counts."""
    length = rng.randint(4, longest) if rng.random() < 0.3 else rng.randint(4, min(20, longest))
    ids = [rng.randrange(2, VOCABULARY) for _ in range(length)]
    times = rng.choice([2, 2, 3]) if length > 20 else rng.choice([2, 3, 4])
    return ids * times, [int(first_counts)] * length + [1] * (length * (times - 1))


def document(rng, tokenizer, part):
    """One document as (ids, learnt): learnt is 1 where the loss counts the prediction of that token.

    part: fractions of random sequences and of repeated texts among the documents; longest: the most tokens of a random
    sequence; first_counts: true if its first reading is learned; fact_share: see stories.story()."""
    kind = rng.random()
    if kind < part["shares"][0]:
        return random_repeat(rng, part["longest"], part["first_counts"])
    twice = kind < sum(part["shares"])
    text = stories.said_twice(rng) if twice else stories.story(rng, fact_share=part["fact_share"])[0]
    ids = tokenizer.encode(text)
    return ids, [1] * len(ids)


def sequence(rng, tokenizer, T, part):
    """T + 1 ids: documents, each between <s> and </s>; and for each id whether the loss counts it."""
    ids, learnt = [], []
    while len(ids) < T + 1:
        more, counted = document(rng, tokenizer, part)
        ids += [bpe.BOS] + more + [bpe.EOS]
        learnt += [0] + counted + [1]
    return ids[:T + 1], learnt[:T + 1]


def batch(tokenizer, step, B, T, **part):
    """The sequences of a step, drawn from the seed and the number of the step: ids and learnt, each (B, T + 1)."""
    rng = random.Random(SEED * 1000003 + step)
    rows = [sequence(rng, tokenizer, T, part) for _ in range(B)]
    return numpy.array([ids for ids, _ in rows]), numpy.array([learnt for _, learnt in rows], dtype=bool)
