"""Epochs of Keras's `fit` beside genuine Keras on each of its backends, interleaved in one run.

    python benchmarks/keras_fit.py [--nets mlp,cnn,lstm,transformer] [--rounds 5] [--sides dragon,tensorflow,jax,torch]
                                   [--python genuine/bin/python]
    python -m dragon run benchmarks/keras_fit.py --profile mlp      # which operators an epoch's time goes to

Every side runs in a process of its own with two threads, or OMP_NUM_THREADS; while one measures, the others wait. The
weights and the data are the same. `--python` names an interpreter that has genuine Keras and its backends, where this
one has not. Told are the median time of an epoch after the first, what the first epoch took beyond it, what importing
Keras took, and the peak of the process's memory.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

SIDES = ("dragon", "tensorflow", "jax", "torch")


def make_mlp(keras, numpy):
    """Return a perceptron for flat images, its data and the size of its batches."""
    layers = keras.layers
    model = keras.Sequential([keras.Input((784,)), layers.Dense(512, activation="relu"), layers.Dropout(0.0),
                              layers.Dense(512, activation="relu"), layers.Dense(10)])
    return model, numpy.standard_normal((12800, 784), "float32"), numpy.integers(0, 10, 12800), 128


def make_cnn(keras, numpy):
    """Return a convolutional net with norms for 28 x 28 images, its data and the size of its batches."""
    layers = keras.layers
    model = keras.Sequential([
        keras.Input((28, 28, 1)),
        layers.Conv2D(32, 3, use_bias=False), layers.BatchNormalization(), layers.ReLU(), layers.MaxPooling2D(),
        layers.Conv2D(64, 3, use_bias=False), layers.BatchNormalization(), layers.ReLU(), layers.MaxPooling2D(),
        layers.Flatten(), layers.Dense(10)])
    return model, numpy.standard_normal((2560, 28, 28, 1), "float32"), numpy.integers(0, 10, 2560), 64


def make_lstm(keras, numpy):
    """Return a classifier of sequences with two LSTM layers, its data and the size of its batches."""
    layers = keras.layers
    model = keras.Sequential([keras.Input((48,), dtype="int32"), layers.Embedding(1000, 64),
                              layers.LSTM(128, return_sequences=True), layers.LSTM(128), layers.Dense(10)])
    return model, numpy.integers(0, 1000, (1280, 48)), numpy.integers(0, 10, 1280), 64


def make_transformer(keras, numpy):
    """Return a small transformer encoder, its data and the size of its batches."""
    layers = keras.layers
    inputs = keras.Input((64,), dtype="int32")
    x = layers.Embedding(1000, 128)(inputs)
    for _ in range(2):
        x = layers.LayerNormalization()(x + layers.MultiHeadAttention(4, 32)(x, x))
        hidden = layers.Dense(512, activation="gelu")(x)
        x = layers.LayerNormalization()(x + layers.Dense(128)(hidden))
    model = keras.Model(inputs, layers.Dense(10)(layers.GlobalAveragePooling1D()(x)))
    return model, numpy.integers(0, 1000, (640, 64)), numpy.integers(0, 10, 640), 32


NETS = {"mlp": make_mlp, "cnn": make_cnn, "lstm": make_lstm, "transformer": make_transformer}


def make_epoch(keras, net):
    """Return a function that trains a net for an epoch, and gives its seconds and its loss."""
    import numpy
    model, x, y, batch = NETS[net](keras, numpy.random.default_rng(0))
    generator = numpy.random.default_rng(1)
    model.set_weights([value if value.ndim < 2 else (generator.standard_normal(value.shape) * 0.05).astype(value.dtype)
                       for value in model.get_weights()])
    model.compile(keras.optimizers.Adam(1e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                  metrics=["accuracy"])

    def epoch():
        start = time.perf_counter()
        loss = model.fit(x, y, batch_size=batch, epochs=1, verbose=0, shuffle=False).history["loss"][0]
        return time.perf_counter() - start, loss
    return epoch


def tell_operators(net):
    """Print which operators an epoch's time goes to, under `dragon run`."""
    import keras

    from dragon.core.profile import profile
    epoch = make_epoch(keras, net)
    for _ in range(2):  # graphs are made
        epoch()
    with profile() as found:
        epoch()
    print(found.table())


def work(net):
    """Answer each line on the standard input with the time of an epoch."""
    import resource
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    start = time.perf_counter()
    import keras
    keras.Sequential, keras.layers.Dense, keras.optimizers.Adam  # what is loaded late belongs to the import
    imported = time.perf_counter() - start
    epoch = make_epoch(keras, net)
    first, loss = epoch()
    losses = [loss] + [epoch()[1] for _ in range(2)]
    print(json.dumps({"imported": imported, "first": first, "losses": losses}), flush=True)
    for _ in sys.stdin:
        seconds, _ = epoch()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps({"time": seconds, "peak": peak - before}), flush=True)


def start(side, net, python):
    """Start a worker of a side."""
    threads = os.environ.get("OMP_NUM_THREADS", "2")
    environment = {**os.environ, "OMP_NUM_THREADS": threads, "TF_NUM_INTRAOP_THREADS": threads,
                   "TF_CPP_MIN_LOG_LEVEL": "3", "KERAS_BACKEND": "tensorflow" if side == "dragon" else side}
    line = [sys.executable, "-m", "dragon", "run"] if side == "dragon" else [python]
    return subprocess.Popen([*line, os.path.abspath(__file__), "--worker", net], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment)


def read(worker, side):
    """Return a worker's next answer."""
    for line in worker.stdout:
        if line.startswith("{"):
            return json.loads(line)
    raise SystemExit(f"the worker of {side} ended with status {worker.wait()}")


def measure(net, sides, rounds, python):
    """Return {side: what it told first} and {side: its answers}."""
    workers, first = {}, {}
    for side in sides:  # one after the other, so that each has the machine for itself in its first epoch
        workers[side] = start(side, net, python)
        first[side] = read(workers[side], side)
    answers = {side: [] for side in sides}
    for number in range(rounds):
        for side in sides[::1 if number % 2 else -1]:
            workers[side].stdin.write("go\n")
            workers[side].stdin.flush()
            answers[side].append(read(workers[side], side))
    for worker in workers.values():
        worker.stdin.close()
        worker.wait(60)
    return first, answers


def main():
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nets", default=",".join(NETS))
    parser.add_argument("--sides", default=",".join(SIDES))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--profile", metavar="NET")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.profile:
        return tell_operators(options.profile)
    if options.worker:
        return work(options.worker)
    sides = options.sides.split(",")
    print("| net | side | epoch ms | Dragon / it | first epoch beyond it ms | import ms | peak MiB | losses |")
    print("|---|---|---|---|---|---|---|---|")
    best = []
    for net in options.nets.split(","):
        first, answers = measure(net, sides, options.rounds, options.python)
        times = {side: [answer["time"] for answer in found] for side, found in answers.items()}
        ratios = {}
        for side in sides:
            middle = statistics.median(times[side])
            ratios[side] = statistics.median(a / b for a, b in zip(times[sides[0]], times[side]))
            peak = max(answer["peak"] for answer in answers[side])
            losses = " ".join(f"{loss:.4f}" for loss in first[side]["losses"])
            beyond = (first[side]["first"] - middle) * 1e3
            print(f"| {net} | {side} | {middle * 1e3:.0f} | {ratios[side]:.2f} | {beyond:.0f} "
                  f"| {first[side]['imported'] * 1e3:.0f} | {peak:.0f} | {losses} |", flush=True)
        best.append(max(ratio for side, ratio in ratios.items() if side != sides[0]) if len(sides) > 1 else 1.0)
    print(f"\nGeometric mean of {sides[0]} / fastest other: {statistics.geometric_mean(best):.2f}")


if __name__ == "__main__":
    main()
