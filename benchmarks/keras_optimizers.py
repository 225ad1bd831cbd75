"""Updates of many variables: optimizers of the guest Keras in a graph, beside the guest PyTorch's compiled ones.

    python benchmarks/keras_optimizers.py [--variables 100] [--sizes 10,64x64,256x256] [--rounds 7] [--genuine]

With `--genuine`, genuine Keras on TensorFlow under `tf.function` is a third column. All sides run in one process, in
turns; a figure is the best round. Set OMP_NUM_THREADS to the cores that are free.
"""
import argparse
import time

import numpy as np

ROWS = [("Adam", {}), ("AdamW", {}), ("SGD", {}), ("SGD", {"momentum": 0.9}), ("RMSprop", {})]


def keras_step(name, options, values, grads):
    """Return a captured step of the guest Keras."""
    import dragon
    from dragon.vm.keras import Variable, ops, optimizers
    variables = [Variable(value, name=f"v{index}") for index, value in enumerate(values)]
    optimizer = getattr(optimizers, name)(1e-3, **options)
    optimizer.build(variables)
    grads = [ops.convert_to_tensor(gradient) for gradient in grads]
    step = dragon.function(lambda *grads: optimizer.apply(list(grads), variables))
    return lambda: step(*grads)


def torch_step(name, options, values, grads):
    """Return a compiled step of the guest PyTorch."""
    from dragon.vm import torch
    parameters = [torch.nn.Parameter(torch.from_numpy(value.copy())) for value in values]
    for parameter, gradient in zip(parameters, grads):
        parameter.grad = torch.from_numpy(gradient)
    return torch.compile(getattr(torch.optim, name)(parameters, lr=1e-3, **options).step)


def genuine_step(name, options, values, grads):
    """Return a step of genuine Keras under `tf.function`."""
    import keras
    import tensorflow
    variables = [keras.Variable(value, name=f"v{index}") for index, value in enumerate(values)]
    optimizer = getattr(keras.optimizers, name)(1e-3, **options)
    optimizer.build(variables)
    grads = [tensorflow.constant(gradient) for gradient in grads]
    step = tensorflow.function(lambda *grads: optimizer.apply(list(grads), variables))
    return lambda: step(*grads)


def measure(steps, rounds, seconds=0.05):
    """Return the best time of each step, in microseconds."""
    for step in steps:
        for _ in range(5):
            step()
    best = [float("inf")] * len(steps)
    for _ in range(rounds):
        for place, step in enumerate(steps):
            start, count = time.perf_counter(), 0
            while time.perf_counter() - start < seconds:
                step()
                count += 1
            best[place] = min(best[place], (time.perf_counter() - start) / count * 1e6)
    return best


def main():
    """Print a row for each size and optimizer."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--variables", type=int, default=100)
    parser.add_argument("--sizes", default="10,64x64,256x256")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--genuine", action="store_true")
    options = parser.parse_args()
    makers = [keras_step, torch_step, *([genuine_step] if options.genuine else [])]
    print("size", "optimizer", *(f"{make.__name__} us" for make in makers), "keras/torch", sep="\t")
    for size in options.sizes.split(","):
        shape = tuple(map(int, size.split("x")))
        for name, arguments in ROWS:
            values, grads = (np.random.default_rng(seed).normal(size=(options.variables, *shape)).astype("float32")
                             for seed in (0, 1))
            best = measure([make(name, arguments, list(values), list(grads)) for make in makers], options.rounds)
            told = "+".join([name, *arguments])
            print(size, told, *(f"{value:.0f}" for value in best), f"{best[0] / best[1]:.2f}", sep="\t", flush=True)


if __name__ == "__main__":
    main()
