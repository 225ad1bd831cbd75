"""Train a small network on scikit-learn's digits: 1,797 pictures of 8 x 8 pixels, ten classes.

    python examples/digits.py [--epochs 20] [--seed 0]
"""
import argparse
import sys
import time

import numpy as np
from sklearn.datasets import load_digits

import dragon

HELD_OUT = 360
BATCH = 32


def load(rng):
    """Return pictures and labels to learn from, and those held out."""
    digits = load_digits()
    order = rng.permutation(len(digits.target))
    pictures = (digits.data[order] / 16.0).astype(np.float32)
    labels = digits.target[order].astype(np.int64)
    return pictures[:-HELD_OUT], labels[:-HELD_OUT], pictures[-HELD_OUT:], labels[-HELD_OUT:]


def make_model():
    """Return a network of three dense layers."""
    nn = dragon.nn
    return nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))


def measure_accuracy(model, pictures, labels):
    """Return the share of pictures whose highest score is that of their label."""
    with dragon.no_grad():
        scores = model(dragon.tensor(pictures))
    return float((np.asarray(scores).argmax(1) == labels).mean())


def show(epoch, epochs, done, loss):
    """Draw the progress bar: one line, drawn over itself on a terminal."""
    bar = "#" * int(30 * done) + "." * (30 - int(30 * done))
    end = "\n" if done >= 1 else ""
    if end or sys.stdout.isatty():
        print(f"\repoch {epoch + 1:2}/{epochs} [{bar}] {done:4.0%}  loss {loss:.4f}", end=end, flush=True)


def train(model, pictures, labels, epochs, rng):
    """Run Adam over the pictures in random order."""
    optimizer = dragon.optimizers.Adam(model.parameters(), lr=2e-3)
    for epoch in range(epochs):
        order, total = rng.permutation(len(labels)), 0.0
        for start in range(0, len(order), BATCH):
            batch = order[start:start + BATCH]
            scores = model(dragon.tensor(pictures[batch]))
            loss = dragon.ops.cross_entropy(scores, dragon.tensor(labels[batch]))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
            seen = start + len(batch)
            show(epoch, epochs, seen / len(order), total / seen)


def main():
    """Parse the arguments, train, tell the accuracy."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    rng = np.random.default_rng(args.seed)
    pictures, labels, held_pictures, held_labels = load(rng)
    dragon.manual_seed(args.seed)
    model = make_model()
    start = time.perf_counter()
    train(model, pictures, labels, args.epochs, rng)
    seconds = time.perf_counter() - start
    accuracy = measure_accuracy(model, held_pictures, held_labels)
    print(f"accuracy on {HELD_OUT} pictures never trained on: {accuracy:.1%}, after {seconds:.1f} s of training")


if __name__ == "__main__":
    main()
