#!/usr/bin/env python3
"""Trains the head of the lesson "Where the numbers come from", and prints its parameters as edits for the lesson.

Two people each say sentences of the form determiner, noun, verb, adverb, over and over, and take turns word by word:
"The a cat dog sat ran down away". The head predicts the class of the next word, for which it has to read the previous
word. The vectors of the words are those of the preset first-lesson. 48 parameters are trained, by plain gradient
descent: rows 4 to 7 of W_Q and W_K (the position columns of x) and rows 0 to 3 of W_V (the class columns), columns 0 to
3 of each. Everything else is 0, and W_O is the identity. Only numpy is needed:

    python3 assets/lessons/train_small_head.py
"""
import itertools

import numpy

SEED, LENGTH, RATE, STEPS = 1, 8, 1.0, 400
SAVED = [0, 60, 400]
# Noun, verb, determiner, adverb.
CLASSES = numpy.array([[1, 0.1, 0.2, 0], [0.1, 1, 0, 0.2], [0, 0, 1, 0.1], [0, 0.3, 0, 1]])
SENTENCE = numpy.array([2, 0, 1, 3])  # determiner, noun, verb, adverb
POSITIONS = numpy.array([[f(w * t) for w in (1.6, 0.5) for f in (numpy.sin, numpy.cos)] for t in range(LENGTH)])
SCALE = numpy.sqrt(8)  # dk is 8, although only four columns are used


def softmax(scores):
    powers = numpy.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def exercises():
    """The class columns (16, LENGTH, 4) and the class of every word. Each person may begin at any of the four words."""
    starts = numpy.array(list(itertools.product(range(4), repeat=2)))
    words = numpy.arange(LENGTH)
    classes = SENTENCE[(starts[:, words % 2] + words // 2) % 4]
    return CLASSES[classes], classes


def loss_and_slopes(W_Q, W_K, W_V, x, classes, mask):
    """The mean cross-entropy of rows 1 to LENGTH - 2, in nats, and its slope for every parameter."""
    q, k, v = POSITIONS @ W_Q, POSITIONS @ W_K, x @ W_V
    weights = softmax(q @ k.T / SCALE + mask)
    logits = weights @ v
    predicted = softmax(logits)
    rows = numpy.arange(1, LENGTH - 1)
    right = numpy.eye(4)[classes[:, rows + 1]]
    count = right.shape[0] * right.shape[1]
    loss = -numpy.log((predicted[:, rows] * right).sum(-1)).sum() / count
    d_logits = numpy.zeros_like(logits)
    d_logits[:, rows] = (predicted[:, rows] - right) / count
    d_v = weights.T @ d_logits
    d_weights = (d_logits @ v.transpose(0, 2, 1)).sum(0)
    d_scores = weights * (d_weights - (d_weights * weights).sum(-1, keepdims=True)) / SCALE
    return loss, (POSITIONS.T @ (d_scores @ k), POSITIONS.T @ (d_scores.T @ q), (x.transpose(0, 2, 1) @ d_v).sum(0))


def train(masked):
    """Returns the saved parameters, rounded to two decimals, with their loss, by step."""
    x, classes = exercises()
    mask = numpy.triu(numpy.full((LENGTH, LENGTH), -1e9), 1) if masked else numpy.zeros((LENGTH, LENGTH))
    draw = numpy.random.RandomState(SEED)
    parameters = [draw.normal(0, 0.5, (4, 4)) for _ in range(3)]
    saved = {}
    for step in range(STEPS + 1):
        loss, slopes = loss_and_slopes(*parameters, x, classes, mask)
        if step in SAVED:
            saved[step] = ([numpy.round(one, 2) for one in parameters], loss)
        parameters = [one - RATE * slope for one, slope in zip(parameters, slopes)]
    return saved


def as_edits(parameters):
    entries = []
    for name, first, matrix in zip(("W_Q", "W_K", "W_V"), (4, 4, 0), parameters):
        entries += [f'"{name}[{first + row}, {column}]": {value + 0:g}'
                    for row, values in enumerate(matrix) for column, value in enumerate(values)]  # fmt: skip
    return ", ".join(entries)


def main():
    for masked in (True, False):
        for step, (parameters, loss) in train(masked).items():
            print(f"step {step}, {'causal mask' if masked else 'no mask'}, loss {loss:.3f}")
            print(as_edits(parameters), "\n")


if __name__ == "__main__":
    main()
