#!/usr/bin/env python3
"""Trains pocket from nothing and writes config.json, model.safetensors and tokenizer.json.

    python3 assets/models/pocket/train.py

Writes its own stories (stories.py), learns a tokenizer from them, packs the text into sequences of token ids (corpus.py),
and trains the model of model.py. Everything is drawn from one seed, so a second run gives the same model up to the order in
which floating-point numbers are added. With --resume, a run that was stopped continues from its last save."""

import argparse
import math
import tempfile
import time
from pathlib import Path

import torch
from torch.nn import functional

import corpus
import model as pocket
import stories

STEPS = 5400
STORIES_FROM = 1900           # the step from which most of the text is stories
LONG_FROM, LONG = 3480, 2320  # the step from which sequences are long and the rate falls, slowly enough to need LONG steps
FALL_FROM, AGAIN_FROM = 3900, 4900   # the rate falls to 0 between these steps, and from AGAIN_RATE to 0 in the last ones
PEAK_RATE, LOW_RATE, AGAIN_RATE, WARM_UP = 2.5e-3, 2e-5, 1.2e-3, 100
WEIGHT_DECAY = 0.05


def part(step):
    """The contents of a step's batch: B sequences of T tokens, and the arguments of corpus.document()."""
    early = {"longest": 60, "first_counts": False, "fact_share": 0.0}
    if step < 600:
        return {"B": 16, "T": 64, "shares": (0.65, 0.15), **early, "longest": 16}
    if step < 1200:
        return {"B": 8, "T": 128, "shares": (0.5, 0.15), **early}
    if step < STORIES_FROM:
        return {"B": 8, "T": 128, "shares": (0.28, 0.14), **early}
    B, T = (4, 256) if step >= LONG_FROM else (8, 128)
    return {"B": B, "T": T, "shares": (0.2, 0.12), "longest": 60, "first_counts": True, "fact_share": stories.FACT_SHARE}


def rate(step, steps):
    """The learning rate: a rise, then PEAK_RATE, a slow fall like a cosine from LONG_FROM, and two straight falls to 0."""
    if step >= AGAIN_FROM:
        return AGAIN_RATE * (steps - step) / (steps - AGAIN_FROM)
    slow = 0.5 * (1 + math.cos(math.pi * max(0.0, (step - LONG_FROM) / LONG)))
    fall = min(1.0, (AGAIN_FROM - step) / (AGAIN_FROM - FALL_FROM))
    return min(1.0, (step + 1) / WARM_UP) * (LOW_RATE + slow * (PEAK_RATE - LOW_RATE)) * fall


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


def batches(tokenizer):
    """A function from a step to its batch: ids and learnt, each (B, T + 1)."""
    def batch(step):
        arrays = corpus.batch(tokenizer, step, **part(step))
        return tuple(torch.from_numpy(array) for array in arrays)
    return batch


def train(model, optimizer, batch, first, steps, after):
    """Takes the steps first to steps - 1. batch: step to (ids, learnt). after(step, loss) is called after each."""
    for step in range(first, steps):
        for group in optimizer.param_groups:
            group["lr"] = rate(step, steps)
        loss = loss_of(model, *batch(step))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        after(step, loss.item())


def main():
    here = Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description="Trains pocket and writes the model into a folder.")
    parser.add_argument("--out", type=Path, default=here, help="folder for the model (default: this one)")
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "pocket", help="folder for saves")
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--every", type=int, default=250, help="save after so many steps")
    parser.add_argument("--resume", action="store_true", help="go on from the last save")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(corpus.SEED)
    arguments.out.mkdir(parents=True, exist_ok=True)
    arguments.work.mkdir(parents=True, exist_ok=True)
    tokenizer = corpus.learn_tokenizer()
    tokenizer.save(arguments.out / "tokenizer.json")
    model = pocket.Pocket(pocket.CONFIG)
    optimizer = make_optimizer(model)
    first, state = 0, arguments.work / "state.pt"
    if arguments.resume:
        saved = torch.load(state)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        first = saved["steps"]
    recent, started = [], time.time()

    def after(step, loss):
        recent.append(loss)
        if (step + 1) % 50 == 0:
            seconds = time.time() - started
            print(f"step {step + 1} of {arguments.steps}  loss {sum(recent) / len(recent):.3f}  {seconds:.0f} s", flush=True)
            recent.clear()
        if (step + 1) % arguments.every == 0:
            model.save(arguments.out)
            torch.save({"steps": step + 1, "model": model.state_dict(), "optimizer": optimizer.state_dict()}, state)

    train(model, optimizer, batches(tokenizer), first, arguments.steps, after)
    model.save(arguments.out)


if __name__ == "__main__":
    main()
