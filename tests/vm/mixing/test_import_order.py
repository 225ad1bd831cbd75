"""Guests bring nothing that nobody needs."""
import tempfile

from harness import interpreter


def run(script):
    done = interpreter.run(["-c", script], tempfile.gettempdir(), timeout=300, preload="import numpy, dragon")
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


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
