#!/usr/bin/env python3
"""Trains pocket from nothing and writes config.json, model.safetensors and tokenizer.json.

    python3 assets/models/pocket/train.py

It writes its own stories (stories.py), learns a tokenizer from them, packs the text into sequences of token ids, and
trains the model of model.py. Everything is drawn from the seed, so a second run gives the same model up to the order in
which floating-point numbers are added.

Two thirds of the tokens are stories. The rest is said twice or three times: sequences of random tokens, and lists of words
that somebody reads again. The loss leaves out the first reading of a random sequence, which nobody can predict.
"""

import argparse
import hashlib
import math
import random
import tempfile
import time
from pathlib import Path

import numpy
import torch
from torch.nn import functional

import model as pocket
import stories
import tokenizer as bpe

SEED = 20261
SOURCES = ["words.py", "plots.py", "stories.py", "tokenizer.py", "train.py"]
VOCABULARY = pocket.CONFIG["vocab_size"]
STORIES_FOR_TOKENIZER = 6000
BATCH_TOKENS = 2048
STEPS = 6000
PHASES = [(0.75, 128), (1.0, 256)]   # until this share of the steps, sequences of this length
RANDOM_SHARE, TWICE_SHARE = 0.27, 0.13   # of the documents
PEAK_RATE, LAST_RATE, WARM_UP = 3e-3, 1e-4, 200
WEIGHT_DECAY = 0.05


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


def corpus(path, tokenizer, seed, T, rows):
    """The ids and the loss mask of so many sequences, each (rows, T + 1), kept at path."""
    if path.exists():
        kept = numpy.load(path)
        if kept["ids"].shape == (rows, T + 1):
            return kept["ids"], kept["learnt"]
    rng = random.Random(seed)
    ids = numpy.empty((rows, T + 1), dtype=numpy.int16)
    learnt = numpy.empty((rows, T + 1), dtype=bool)
    for row in range(rows):
        ids[row], learnt[row] = sequence(rng, tokenizer, T)
    numpy.savez(path, ids=ids, learnt=learnt)
    return ids, learnt


def phases(steps):
    """For each phase: its first step, its last step + 1, T, and the sequences in a batch."""
    start, plan = 0, []
    for share, T in PHASES:
        end = round(steps * share)
        plan.append((start, end, T, BATCH_TOKENS // T))
        start = end
    return plan


def rate(step, steps):
    """The learning rate: a rise over WARM_UP steps, then half a cosine from PEAK_RATE to LAST_RATE."""
    if step < WARM_UP:
        return PEAK_RATE * (step + 1) / WARM_UP
    done = (step - WARM_UP) / max(1, steps - WARM_UP)
    return LAST_RATE + 0.5 * (PEAK_RATE - LAST_RATE) * (1 + math.cos(math.pi * done))


def loss_of(model, ids, learnt):
    """The mean cross-entropy in nats over the tokens that count; ids and learnt (B, T + 1)."""
    logits = model(ids[:, :-1])
    targets = ids[:, 1:].masked_fill(~learnt[:, 1:], -100)
    return functional.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1))


def make_optimizer(model):
    """AdamW, with weight decay on the matrices of the layers."""
    decayed = [p for name, p in model.named_parameters() if p.dim() == 2 and "embed" not in name]
    others = [p for name, p in model.named_parameters() if p.dim() != 2 or "embed" in name]
    return torch.optim.AdamW([{"params": decayed, "weight_decay": WEIGHT_DECAY}, {"params": others, "weight_decay": 0.0}],
                             lr=PEAK_RATE, betas=(0.9, 0.98), foreach=True)


def train(model, batches, steps, report, stop=None):
    """Trains in place. batches: step to (ids, learnt). report(step, loss, seconds) after each step."""
    optimizer = make_optimizer(model)
    started = time.time()
    for step in range(min(steps, stop or steps)):
        for group in optimizer.param_groups:
            group["lr"] = rate(step, steps)
        loss = loss_of(model, *batches(step))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        report(step, loss.item(), time.time() - started)


def make_batches(work, tokenizer, steps):
    """Writes the training text and returns a function from a step to its batch (ids, learnt), each (B, T + 1)."""
    plan, data = phases(steps), []
    for number, (start, end, T, B) in enumerate(plan):
        data.append(corpus(work / f"corpus-{T}.npz", tokenizer, SEED + 1 + number, T, (end - start) * B))

    def batch(step):
        number = next(i for i, phase in enumerate(plan) if step < phase[1])
        start, _, _, B = plan[number]
        rows = slice((step - start) * B, (step - start + 1) * B)
        return tuple(torch.from_numpy(array[rows].astype(kind)) for array, kind in zip(data[number], (numpy.int64, bool)))

    return batch


def main():
    here = Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description="Trains pocket and writes the model into a folder.")
    parser.add_argument("--out", type=Path, default=here, help="folder for the model (default: this one)")
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "pocket", help="folder for the text")
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--stop", type=int, help="stop after so many steps of the plan")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--every", type=int, default=250, help="save after so many steps")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(SEED)
    arguments.out.mkdir(parents=True, exist_ok=True)
    work = text_folder(arguments.work)
    tokenizer = learn_tokenizer(work / "tokenizer.json")
    tokenizer.save(arguments.out / "tokenizer.json")
    batches = make_batches(work, tokenizer, arguments.steps)
    model = pocket.Pocket(dict(pocket.CONFIG, vocab_size=len(tokenizer)))
    recent = []

    def report(step, loss, seconds):
        recent.append(loss)
        if (step + 1) % 50 == 0:
            print(f"step {step + 1} of {arguments.steps}  loss {sum(recent) / len(recent):.3f}  {seconds:.0f} s", flush=True)
            recent.clear()
        if (step + 1) % arguments.every == 0:
            model.save(arguments.out)

    train(model, batches, arguments.steps, report, arguments.stop)
    model.save(arguments.out)


if __name__ == "__main__":
    main()
