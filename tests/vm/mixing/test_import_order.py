"""Guests bring nothing that nobody needs."""
import subprocess
import sys
import tempfile


def run(script):
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300,
                          cwd=tempfile.gettempdir())
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
