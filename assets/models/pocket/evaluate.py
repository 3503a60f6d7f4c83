#!/usr/bin/env python3
"""Measures pocket and prints the evidence as Markdown tables.

    python3 assets/models/pocket/evaluate.py

The weights are the float16 numbers of model.safetensors. Held-out stories come from seeds that training does not use.
Names: A (T, T) are the weights of one head on one text, row i the query, column j the key, both from 0; T tokens.
"""

import argparse
import random
import re
from pathlib import Path

import numpy
import torch

import corpus
import model as pocket
import stories
import tokenizer as bpe
import train
import words
from trigram import Trigram

HELD_OUT_SEED = 770077
STORIES, NAME_STORIES = 200, 60
PROBE_ROWS, PROBE_LENGTH = 8, 50
SINK = 0.3
FORMS = {"she": "she", "her": "she", "hers": "she", "he": "he", "him": "he", "his": "he"}


def table(head, rows):
    """Prints a Markdown table; numbers with three decimals."""
    show = lambda cell: f"{cell:.3f}" if isinstance(cell, float) else str(cell)
    print("| " + " | ".join(head) + " |")
    print("|" + " --- |" * len(head))
    for row in rows:
        print("| " + " | ".join(map(show, row)) + " |")
    print()


def batches(texts, size=25):
    """Lists of ids in groups of like length, each group as (indices, ids (B, T), lengths); the rest is filled with </s>."""
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    for start in range(0, len(order), size):
        indices = order[start:start + size]
        lengths = [len(texts[i]) for i in indices]
        ids = torch.full((len(indices), max(lengths)), bpe.EOS)
        for row, i in enumerate(indices):
            ids[row, :lengths[row]] = torch.tensor(texts[i])
        yield indices, ids, lengths


def attention(model, texts):
    """The weights of every text in order: a list of arrays (L, H, T, T)."""
    found = [None] * len(texts)
    for indices, ids, lengths in batches(texts):
        kept = []
        model(ids, kept=kept)
        layers = torch.stack(kept, dim=1).numpy()
        for row, (i, T) in enumerate(zip(indices, lengths)):
            found[i] = layers[row, :, :, :T, :T].copy()
    return found


def log_probabilities(model, texts, gains=None):
    """For every text in order: an array (T - 1, V), row i the log-probabilities of token i + 1."""
    found = [None] * len(texts)
    for indices, ids, lengths in batches(texts):
        logs = model(ids, gains=gains).log_softmax(-1).numpy()
        for row, (i, T) in enumerate(zip(indices, lengths)):
            found[i] = logs[row, :T - 1].copy()
    return found


def without(model, *heads):
    """Head gains (L, H) that ablate the heads, each (layer, head)."""
    gains = torch.ones(model.config["num_hidden_layers"], model.config["num_attention_heads"])
    for layer, head in heads:
        gains[layer, head] = 0.0
    return gains


def label(head):
    return f"{head[0]}.{head[1]}"


def all_heads(model):
    return [(l, h) for l in range(model.config["num_hidden_layers"]) for h in range(model.config["num_attention_heads"])]


def held_out(tokenizer, count, two_genders=False):
    """Held-out stories as lists of ids that start with <s>, and for each the names by pronoun {she: id, he: id} or None."""
    rng = random.Random(HELD_OUT_SEED + two_genders)
    texts, people = [], []
    while len(texts) < count:
        text, pair = stories.story(rng, two_genders)
        ids = [bpe.BOS] + tokenizer.encode(text)
        if len(ids) <= 256:
            texts.append(ids)
            people.append({person["gender"]: person["name"] for person in pair} if two_genders else None)
    return texts, people


def name_positions(tokenizer, ids, name):
    """Where a token of ids spells the name, with or without the blank before it."""
    spelled = {tokenizer.ids.get("Ġ" + name), tokenizer.ids.get(name)}
    return [i for i, token in enumerate(ids) if token in spelled]


# Losses


def story_losses(model, tokenizer):
    """Prints the loss on held-out stories of pocket, and of a trigram and a unigram model of its training text."""
    texts, _ = held_out(tokenizer, STORIES)
    texts = [ids + [bpe.EOS] for ids in texts]
    trigram = Trigram((corpus.batch(tokenizer, step, **train.part(step)) for step in range(train.STEPS)),
                      len(tokenizer))
    losses = {"pocket": mean_loss(log_probabilities(model, texts), texts),
              "trigram": -float(numpy.concatenate([trigram.log(ids) for ids in texts]).mean()),
              "unigram": -float(numpy.concatenate([numpy.log(trigram.unigram[ids[1:]]) for ids in texts]).mean())}
    print(f"## Loss on {STORIES} held-out stories ({sum(len(ids) - 1 for ids in texts)} tokens)\n")
    table(("model", "loss (nats a token)", "perplexity"), [(name, loss, float(numpy.exp(loss))) for name, loss in losses.items()])


def mean_loss(logs, texts, counted=None):
    """The mean of -log p over the tokens after the first; counted: for each text the positions to take instead."""
    values = []
    for number, (log, ids) in enumerate(zip(logs, texts)):
        at = numpy.arange(1, len(ids)) if counted is None else numpy.array(counted[number], dtype=int)
        values.append(-log[at - 1, numpy.array(ids)[at]])
    return float(numpy.concatenate(values).mean())


# Scores of each head


def same_token_earlier(ids):
    """P (T, T): 1 where key j < query i has the same token."""
    ids = numpy.array(ids)
    return numpy.tril(ids[:, None] == ids[None, :], -1).astype(float)


def after_same_token(ids):
    """P (T, T): 1 where the key follows an earlier token that is the same as the query's."""
    P = same_token_earlier(ids)
    return numpy.pad(P, ((0, 0), (1, 0)))[:, :-1]


def text_scores(A, ids):
    """The scores of all heads on one text: A (L, H, T, T) to a dict of arrays (L, H)."""
    T = A.shape[-1]
    i = numpy.arange(1, T)
    everything = A.sum((-1, -2))
    over = lambda P: (A * P).sum((-1, -2)) / everything
    logs = numpy.log(numpy.maximum(A, 1e-30))
    return {"previous": A[..., i, i - 1].mean(-1), "first": A[..., i, 0].mean(-1),
            "self": A[..., numpy.arange(T), numpy.arange(T)].mean(-1), "entropy": -(A * logs).sum(-1).mean(-1),
            "confidence": A.max(-1).mean(-1), "distance": over(abs(numpy.arange(T)[:, None] - numpy.arange(T)[None, :])),
            "duplicate": over(same_token_earlier(ids)), "induction": over(after_same_token(ids)),
            "sink": (A[..., 0].sum(-1) / T > SINK).astype(float)}


def probe_texts(V, seed=1):
    """Random tokens said twice after <s>: PROBE_ROWS lists of 1 + 2 S ids."""
    rng = random.Random(seed)
    halves = [[rng.randrange(2, V) for _ in range(PROBE_LENGTH)] for _ in range(PROBE_ROWS)]
    return [[bpe.BOS] + half + half for half in halves]


def probe_scores(model, V):
    """Means over the second reading: a dict of arrays (L, H)."""
    A = numpy.stack(attention(model, probe_texts(V)))
    S = PROBE_LENGTH
    i = numpy.arange(S + 1, 2 * S + 1)
    back = lambda d: A[..., i, i - d].mean((0, -1))
    return {"probe previous": back(1), "probe duplicate": back(S), "probe induction": back(S - 1)}


def copying(model):
    """OV copying of each head (L, H): the real part of the sum of eigenvalues over the sum of their sizes."""
    E = model.model.embed_tokens.weight.double()
    H, D = model.config["num_attention_heads"], model.config["hidden_size"]
    found = []
    for layer in model.model.layers:
        V = layer.self_attn.v_proj.weight.double().view(H, D // H, D)
        O = layer.self_attn.o_proj.weight.double().view(D, H, D // H).permute(1, 0, 2)
        values = torch.linalg.eigvals(V @ (E.T @ E) @ O)
        found.append((values.sum(-1).real / values.abs().sum(-1)).numpy())
    return numpy.array(found)


def head_scores(model, tokenizer):
    """All scores of all heads: a dict of arrays (L, H)."""
    texts, _ = held_out(tokenizer, STORIES)
    each = [text_scores(A, ids) for A, ids in zip(attention(model, texts), texts)]
    scores = {name: numpy.mean([found[name] for found in each], axis=0) for name in each[0]}
    scores.update(probe_scores(model, len(tokenizer)))
    scores["copying"] = copying(model)
    return scores


def best(scores, name):
    """The head with the largest score, and the score."""
    at = numpy.unravel_index(scores[name].argmax(), scores[name].shape)
    return (int(at[0]), int(at[1])), float(scores[name][at])


def print_kinds(scores):
    """Prints for each kind of head the best three."""
    rows = []
    for kind in ("probe previous", "probe induction", "probe duplicate", "previous", "first", "self", "sink", "copying"):
        ranked = numpy.argsort(-scores[kind], axis=None)[:3]
        heads = [tuple(map(int, numpy.unravel_index(at, scores[kind].shape))) for at in ranked]
        rows.append((kind, *(f"{label(head)} {scores[kind][head]:.3f}" for head in heads)))
    print("## The best heads of each kind\n")
    table(("score", "first", "second", "third"), rows)


def print_heads(model, scores):
    print(f"## Every head\n\nMeans over {STORIES} held-out stories; probe: random tokens said twice.\n")
    names = list(scores)
    table(("head", *names), [(label(head), *(float(scores[name][head]) for name in names)) for head in all_heads(model)])


# Pronouns and verbs


def pronoun_rows(tokenizer, ids, names, forms):
    """The rows of these pronouns after both names were said: pairs of (row, the positions of the right name before it)."""
    at = {gender: name_positions(tokenizer, ids, name) for gender, name in names.items()}
    rows = []
    for i, token in enumerate(ids):
        form = tokenizer.names[token].replace("Ġ", "").lower()
        gender = FORMS[form] if form in forms else None
        if gender and all(positions and positions[0] < i for positions in at.values()):
            rows.append((i, [j for j in at[gender] if j < i]))
    return rows


def subject_texts(tokenizer, count):
    """Sentences whose verb follows a place: lists of ids that end with the verb, and the position of the subject."""
    rng = random.Random(HELD_OUT_SEED + 2)
    lists, texts, subjects = words.lists(), [], []
    beasts = [animal for animal in words.animals() if len(tokenizer.encode(animal)) == 1]
    while len(texts) < count:
        adjective = lambda: rng.choice(["", "", rng.choice(lists["adj"]) + " "])
        animal, verb = rng.choice(beasts), rng.choice(["sat", "slept", "was", "ran", "looked", "walked"])
        where = rng.choice(["that lived in", "near", "behind"]) + f" the {adjective()}{rng.choice(lists['place'])}"
        where += rng.choice(["", f" near the {adjective()}{rng.choice(lists['place'])}"])
        before = rng.choice(["", "In the morning ", "Then ", "One day "])
        text = f"{before}{'the' if before else 'The'} {adjective()}{animal} {where} {verb}"
        ids = [bpe.BOS] + tokenizer.encode(text)
        texts.append(ids)
        subjects.append([(len(ids) - 1, [ids.index(tokenizer.encode(animal)[0])])])
    return texts, subjects


def reference_scores(weights, rows):
    """Fraction of rows whose largest weight is on a right key: accuracy (L, H), chance, the best fixed offset and its
    accuracy.

    weights: of attention(). rows: for each text a list of (row, right keys). Chance is the fraction of keys that are
    right."""
    hits, chance, offsets, count = 0, 0.0, numpy.zeros(64), 0
    for A, wanted in zip(weights, rows):
        for i, right in wanted:
            hits = hits + numpy.isin(A[:, :, i, :i + 1].argmax(-1), right)
            chance += len(right) / (i + 1)
            for j in right:
                if i - j < len(offsets):
                    offsets[i - j] += 1
            count += 1
    offset = int(offsets.argmax())
    return hits / count, chance / count, offset, float(offsets[offset] / count), count


def nearest_name(tokenizer, texts, people, rows):
    """Fraction of rows for which the nearest earlier name is the right one."""
    hits = [max(max(position for position in name_positions(tokenizer, ids, name) if position < i)
                for name in names.values()) in right
            for ids, names, wanted in zip(texts, people, rows) for i, right in wanted]
    return float(numpy.mean(hits))


def reference_row(name, measured, nearest="-"):
    """One line of the table of print_references(), and the best head."""
    accuracy, chance, offset, share, count = measured
    ranked = sorted(numpy.ndindex(accuracy.shape), key=lambda head: -accuracy[head])
    heads = ", ".join(f"{label(head)} {accuracy[head]:.3f}" for head in ranked[:3])
    return (name, count, heads, chance, f"{share:.3f} ({offset} back)", nearest), ranked[0]


def print_references(model, tokenizer):
    """Prints which heads read back to a name or a subject, and returns the best heads for her and for his."""
    texts, people = held_out(tokenizer, STORIES, two_genders=True)
    weights, lines, found = attention(model, texts), [], []
    for forms in (("her",), ("his",), ("him",), ("she",), ("he",), tuple(FORMS)):
        rows = [pronoun_rows(tokenizer, ids, names, forms) for ids, names in zip(texts, people)]
        if any(rows):
            name = "any pronoun" if len(forms) > 1 else forms[0]
            line, head = reference_row(name, reference_scores(weights, rows), nearest_name(tokenizer, texts, people, rows))
            lines.append(line)
            found += [head] if name in ("her", "his") else []
    sentences, rows = subject_texts(tokenizer, STORIES)
    lines.append(reference_row("verb, to its subject", reference_scores(attention(model, sentences), rows))[0])
    print(f"## From pronouns to names, from verbs to subjects\n\nThe pronouns of {STORIES} held-out stories with one woman and one "
          f"man, and the last words of {STORIES} sentences such as \"{tokenizer.decode(sentences[0][1:]).strip()}\". Right: the "
          "largest weight of the row is on the name or the subject.\n")
    table(("from", "rows", "best heads: share of right rows", "a key at random", "best fixed distance", "the nearest name"), lines)
    return sorted(set(found))


# Ablated heads


def second_readings(tokenizer, count=100):
    """Texts that somebody reads twice: ids, and the positions of tokens that an earlier run of three tokens foretells."""
    rng = random.Random(HELD_OUT_SEED + 3)
    texts, counted = [], []
    while len(texts) < count:
        ids = [bpe.BOS] + tokenizer.encode(stories.said_twice(rng))
        seen, at = {}, []
        for i in range(3, len(ids)):
            key = tuple(ids[i - 3:i])
            if seen.get(key) == ids[i]:
                at.append(i)
            seen[key] = ids[i]
        if at and len(ids) <= 256:
            texts.append(ids)
            counted.append(at)
    return texts, counted


def print_ablation(model, tokenizer, heads):
    """Prints the losses with each of the named heads ablated. heads: pairs of (name, list of heads)."""
    probe = probe_texts(len(tokenizer), seed=2)
    second = [list(range(PROBE_LENGTH + 2, 2 * PROBE_LENGTH + 1))] * len(probe)
    twice, again = second_readings(tokenizer)
    told, _ = held_out(tokenizer, STORIES)
    losses = lambda gains: [mean_loss(log_probabilities(model, texts, gains), texts, counted)
                            for texts, counted in ((probe, second), (twice, again), (told, None))]
    whole = losses(None)
    rows = [("none", *whole)]
    for name, chosen in heads:
        changed = losses(without(model, *chosen))
        rows.append((name, *(f"{value:.3f} ({value - base:+.3f})" for value, base in zip(changed, whole))))
    print("## Loss with heads switched off\n\nIn brackets the change. Random tokens and texts said twice: only tokens of the "
          "second reading count.\n")
    table(("switched off", "random tokens said twice", "texts said twice", "held-out stories"), rows)


def name_cases(tokenizer, texts, people):
    """Where the next token is one of the two names and both were said: tuples (text, row, right id, other id)."""
    cases = []
    for number, (ids, names) in enumerate(zip(texts, people)):
        spelled = [tokenizer.ids.get("Ġ" + name) for name in names.values()]
        if None in spelled:
            continue
        first = [ids.index(token) if token in ids else len(ids) for token in spelled]
        for i in range(max(first) + 1, len(ids)):
            if ids[i] in spelled:
                cases.append((number, i - 1, ids[i], spelled[1 - spelled.index(ids[i])]))
    return cases


def name_numbers(logs, cases):
    """Mean probability of the right name, mean of the other, and how often the right one has the larger."""
    right = numpy.exp([logs[number][row, token] for number, row, token, _ in cases])
    other = numpy.exp([logs[number][row, token] for number, row, _, token in cases])
    return float(right.mean()), float(other.mean()), float((right > other).mean())


def print_names(model, tokenizer):
    """Prints which heads carry names, and returns the one without which the right name loses most to the other.

    Heads that every word needs (the loss of all tokens rises by 0.1 without them) are printed, but not returned.
    """
    texts, people = held_out(tokenizer, NAME_STORIES, two_genders=True)
    cases = name_cases(tokenizer, texts, people)

    def measured(gains):
        logs = log_probabilities(model, texts, gains)
        right, other, ahead = name_numbers(logs, cases)
        return right, other, right / (right + other), ahead, mean_loss(logs, texts)

    whole = measured(None)
    changed = {head: measured(without(model, head)) for head in all_heads(model)}
    ranked = sorted(changed, key=lambda head: changed[head][2])
    print(f"## Heads that carry names\n\n{len(cases)} places in {NAME_STORIES} held-out stories where the next word is one of two names "
          "that were said before. Share: the probability of the right name over that of both.\n")
    table(("switched off", "probability of the right name", "of the other name", "share", "right name ahead", "loss of all tokens"),
          [("none", *whole)] + [(label(head), *changed[head]) for head in ranked[:6]])
    return next(head for head in ranked if changed[head][4] < whole[4] + 0.1)


def print_example(model, tokenizer, prompt, heads):
    """Prints the three likeliest next words of a prompt, whole and without each of the heads."""
    ids = torch.tensor([[bpe.BOS] + tokenizer.encode(prompt)])
    rows = []
    for name, gains in [("none", None)] + [(label(head), without(model, head)) for head in heads]:
        chances, tokens = model(ids, gains=gains)[0, -1].softmax(-1).topk(3)
        rows.append((name, *(f"{tokenizer.decode([token]).strip()} {chance:.3f}"
                             for token, chance in zip(tokens.tolist(), chances.tolist()))))
    print(f"\"{prompt} ...\"\n")
    table(("switched off", "first", "second", "third"), rows)


# Continuations


def continuation(model, tokenizer, prompt, length=24, temperature=0.0, seed=1, gains=None):
    """The prompt with what the model adds: the likeliest token each time, or one drawn at a temperature."""
    torch.manual_seed(seed)
    ids = [bpe.BOS] + tokenizer.encode(prompt)
    for _ in range(length):
        logits = model(torch.tensor([ids]), gains=gains)[0, -1]
        token = int(logits.argmax()) if temperature == 0 else int(torch.multinomial((logits / temperature).softmax(-1), 1))
        if token == bpe.EOS:
            break
        ids.append(token)
    return tokenizer.decode(ids[1:]).strip()


PROMPTS = ["The cat sat down and", "The animal didn't cross the street because it was too", "One day Anna went to the market with Tom.",
           "Mary had a letter for John. She gave", "The dogs near the house", "\"Where is my hat, Ben?\" asked Lucy.",
           "He bought a lamp, a rope and a bell. He said it again: a lamp,"]


def print_continuations(model, tokenizer):
    print("## How it goes on\n")
    table(("start", "the likeliest words", "drawn at temperature 0.8"),
          [(prompt, *(re.sub(r"\s+", " ", continuation(model, tokenizer, prompt, temperature=t)[len(prompt):]) for t in (0.0, 0.8)))
           for prompt in PROMPTS])


def main():
    here = Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description="Prints what pocket has learnt, as Markdown.")
    parser.add_argument("--model", type=Path, default=here, help="folder of the model (default: this one)")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.set_grad_enabled(False)
    model, tokenizer = pocket.load(arguments.model), bpe.load(arguments.model / "tokenizer.json")
    story_losses(model, tokenizer)
    scores = head_scores(model, tokenizer)
    print_kinds(scores)
    print_heads(model, scores)
    inducer, previous = best(scores, "probe induction")[0], best(scores, "probe previous")[0]
    pronouns = print_references(model, tokenizer)
    resting = best(scores, "first")[0]
    namer = print_names(model, tokenizer)
    inducers = [head for head in all_heads(model) if scores["probe induction"][head] > 0.3]
    kinds = {}
    for kind, head in [("induction", inducer), ("previous token", previous), ("first token", resting), ("names", namer),
                       *(("pronouns", head) for head in pronouns)]:
        kinds.setdefault(head, []).append(kind)
    print_ablation(model, tokenizer, [(f"{label(head)} ({', '.join(names)})", [head]) for head, names in kinds.items()]
                   + [("all with probe induction above 0.3: " + ", ".join(map(label, inducers)), inducers)])
    print_example(model, tokenizer, "When Mary and John went to the shop, John gave a book to", sorted({namer, inducer, *pronouns}))
    print_continuations(model, tokenizer)


if __name__ == "__main__":
    main()
