"""A trigram and a unigram model of a text, which pocket is compared with."""

import numpy

import tokenizer as bpe


class Trigram:
    """An interpolated Kneser-Ney model of three tokens (discount 0.75), and the unigram model of the same text."""

    discount = 0.75

    def __init__(self, texts, V):
        """texts: pairs of ids and learnt, each (B, T + 1); only tokens that training learns from are counted."""
        self.V = V
        found = []
        for ids, learnt in texts:
            ids, T = numpy.pad(ids, ((0, 0), (1, 0)), constant_values=bpe.EOS), ids.shape[1] - 1
            found.append([ids[:, k:T + k][learnt[:, 1:]] for k in range(3)])
        a, b, c = (numpy.concatenate(column) for column in zip(*found))
        self.unigram = numpy.bincount(c, minlength=V) + 1.0
        self.unigram /= self.unigram.sum()
        self.three = numpy.unique((a * V + b) * V + c, return_counts=True)
        after = self.three[0] % (V * V)
        self.two = numpy.unique(after, return_counts=True)
        self.one = numpy.bincount(self.two[0] % V, minlength=V).astype(float)
        self.contexts = [self.sums(*self.three), self.sums(*self.two)]

    def sums(self, keys, counts):
        """For each context (key without its last token): the sum of its counts and how many tokens follow it."""
        contexts, start = numpy.unique(keys // self.V, return_index=True)
        return contexts, numpy.add.reduceat(counts, start), numpy.diff(numpy.append(start, len(keys)))

    @staticmethod
    def look(keys, values, wanted):
        """values at wanted keys, 0 where a key is missing."""
        at = numpy.minimum(numpy.searchsorted(keys, wanted), len(keys) - 1)
        return numpy.where(keys[at] == wanted, values[at], 0)

    def level(self, counted, contexts, key, lower):
        """One interpolation: discounted counts of key, the rest from the lower model."""
        count = self.look(*counted, key)
        total, kinds = (self.look(contexts[0], values, key // self.V) for values in contexts[1:])
        safe = numpy.maximum(total, 1)
        mixed = numpy.maximum(count - self.discount, 0) / safe + self.discount * kinds / safe * lower
        return numpy.where(total > 0, mixed, lower)

    def log(self, text):
        """Natural logs of the probability of each token of a text after its first: an array (T - 1)."""
        text = numpy.array(text, dtype=numpy.int64)
        c, b, a = text[1:], text[:-1], numpy.concatenate([[bpe.EOS], text[:-2]])
        total = self.one.sum()
        lower = (numpy.maximum(self.one[c] - self.discount, 0) + self.discount * (self.one > 0).sum() / self.V) / total
        lower = self.level(self.two, self.contexts[1], b * self.V + c, lower)
        return numpy.log(self.level(self.three, self.contexts[0], (a * self.V + b) * self.V + c, lower))
