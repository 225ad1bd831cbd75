"""Times recurrent layers and attention: one fused operator, the same under a mask, the loop over time, the other door.

    python benchmarks/keras_recurrent.py [--steps 50] [--batch 32] [--features 64] [--units 128]
"""
import argparse
import time

import numpy as np

import dragon.vm.keras as keras
import dragon.vm.tensorflow as tf
import dragon.vm.torch as torch

KINDS = {"SimpleRNN": "RNN", "LSTM": "LSTM", "GRU": "GRU"}


def best(function, times=15):
    """Return the least time of a few calls, in milliseconds."""
    for _ in range(3):
        function()
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        function()
        taken.append(time.perf_counter() - start)
    return min(taken) * 1e3


def of_keras(layer, *inputs, **options):
    """Return the times of a call, and of a call with its gradients."""
    layer(*inputs)

    def step():
        with tf.GradientTape() as tape:
            total = tf.reduce_sum(layer(*inputs, **options))
        tape.gradient(total, layer.trainable_variables)
    return best(lambda: layer(*inputs, **options)), best(step)


def of_torch(module, call):
    """Return the times of a call without a tape, and of a call with its gradients."""
    def forward():
        with torch.no_grad():
            call()

    def step():
        module.zero_grad()
        call().sum().backward()
    return best(forward), best(step)


def show(name, taken):
    """Print the times of one way."""
    print(f"{name:32s} forward {taken[0]:7.2f} ms, with gradients {taken[1]:7.2f} ms")


def main():
    """Time all layers all ways."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, usual in (("steps", 50), ("batch", 32), ("features", 64), ("units", 128)):
        parser.add_argument(f"--{name}", type=int, default=usual)
    sizes = parser.parse_args()
    generator = np.random.default_rng(0)
    array = generator.standard_normal((sizes.batch, sizes.steps, sizes.features)).astype("float32")
    x, mask = tf.constant(array), tf.constant(generator.random((sizes.batch, sizes.steps)) > 0.3)
    for name, other in KINDS.items():
        for way, options in (("", {}), (" under a mask", {"mask": mask})):
            layer = getattr(keras.layers, name)(sizes.units, return_sequences=True)
            show(name + way, of_keras(layer, x, **options))
            layer.use_cudnn = False
            show(f"{name}{way}, loop", of_keras(layer, x, **options))
        module = getattr(torch.nn, other)(sizes.features, sizes.units, batch_first=True)
        show(f"torch.nn.{other}", of_torch(module, lambda module=module: module(torch.tensor(array))[0]))
    show("MultiHeadAttention", of_keras(keras.layers.MultiHeadAttention(8, sizes.features // 8), x, x))
    module = torch.nn.MultiheadAttention(sizes.features, 8, batch_first=True)
    given = torch.tensor(array)
    show("torch.nn.MultiheadAttention", of_torch(module, lambda: module(given, given, given, need_weights=False)[0]))


if __name__ == "__main__":
    main()
