"""Guests that are imported in any order: all record what their users expect, and bring nothing that nobody needs."""
import itertools
import subprocess
import sys
import tempfile

import pytest

IMPORTS = {"torch": "from dragon.vm import torch", "keras": "from dragon.vm import keras; keras.layers.Dense",
           "tensorflow": "from dragon.vm import tensorflow"}
SCRIPT = """
import numpy as np
from dragon.vm import keras, tensorflow as tf, torch

weight = torch.ones(2, requires_grad=True)
assert (weight * 2).requires_grad
with torch.no_grad():
    assert not (weight * 2).requires_grad

variable = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    y = tf.reduce_sum(variable * variable)
assert tape.gradient(y, variable).numpy().tolist() == [2.0, 4.0]
assert (weight * 2).requires_grad

dense = keras.layers.Dense(1)
loss = dense(torch.ones(1, 2) * weight).sum()
loss.backward()
assert weight.grad is not None and dense.kernel.grad is not None
print("recorded")
"""


def run(script):
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300,
                          cwd=tempfile.gettempdir())
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize("order", list(itertools.permutations(IMPORTS)), ids=" ".join)
def test_all_guests_record_whichever_came_first(order):
    assert run("\n".join(IMPORTS[name] for name in order) + SCRIPT) == ["recorded"]


@pytest.mark.parametrize("name", ["keras", "tensorflow"])
def test_nothing_is_recorded_outside_of_tapes(name):
    question = "from dragon.vm import tensorflow as tf; print((tf.Variable(1.0) * 2).requires_grad)"
    assert run(f"{IMPORTS[name]}\n{question}") == ["False"]


def test_keras_alone_needs_nothing_of_tensorflow():
    words = run("""
import sys
import numpy as np
from dragon.vm import keras
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])
model.compile("adam", "mse")
model.fit(np.ones((8, 4)), np.ones((8, 2)), verbose=0)
rows = keras.layers.TextVectorization(ragged=True, vocabulary=["a", "b"])(["a b", "a"])
print([name for name in sys.modules if name.startswith("dragon.vm.tensorflow")])
from dragon.vm import tensorflow as tf
print(tf.reduce_sum(rows, axis=1).numpy().tolist())
""")
    assert words == ["[]", "[5,", "2]"]
