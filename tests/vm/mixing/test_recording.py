"""Whose tensors they are decides whether calls are recorded, in whichever order the doors were opened."""
import itertools
import tempfile

import pytest

from harness import interpreter

IMPORTS = {"torch": "from dragon.vm import torch", "keras": "from dragon.vm import keras; keras.layers.Dense",
           "tf": "from dragon.vm import tensorflow as tf", "dragon": "import dragon"}
NUMBERS = """
import contextlib, gc, threading
import numpy as np
from dragon import _C


def elsewhere(function):
    "Return what a function returns in another thread."
    answers = []
    thread = threading.Thread(target=lambda: answers.append(function()))
    thread.start()
    thread.join()
    return answers[0]


def raising(scope):
    "Leave a scope by an exception."
    with contextlib.suppress(KeyError), scope:
        raise KeyError
"""
ALONE = {
    "torch": """
w = torch.ones(2, requires_grad=True)
with torch.no_grad():
    off = (w * 2).requires_grad
    with torch.enable_grad():
        inner = (w * 2).requires_grad
raising(torch.no_grad())
raising(torch.set_grad_enabled(False))
answers = dict(plain=(w * 2).requires_grad, thread=elsewhere(lambda: torch.sin(w).requires_grad), off=off, inner=inner,
               slice=w[0].requires_grad, enabled=torch.is_grad_enabled(), grad=torch.func.grad(lambda x: (x * x).sum())(
                   torch.ones(2)).tolist() == [2.0, 2.0],
               vmap=torch.vmap(lambda x: x * w)(torch.ones(3, 2)).requires_grad)
expected = dict(plain=True, thread=True, off=False, inner=True, slice=True, enabled=True, grad=True, vmap=True)
""",
    "tf": """
v = tf.Variable([1.0, 2.0])
with tf.GradientTape(persistent=True) as tape:
    taped = v * v
    with tape.stop_recording():
        stopped = v * v
raising(tf.GradientTape())
with tf.GradientTape() as later:
    after = taped * v
answers = dict(plain=(v * 2).requires_grad, thread=elsewhere(lambda: tf.sin(v).requires_grad),
               slice=v[0].requires_grad, taped=taped.requires_grad, stopped=stopped.requires_grad,
               behind=(taped * 2).requires_grad, pool=tf.nn.max_pool1d(
                   tf.reshape(taped, (1, 2, 1)), 2, 1, "VALID").requires_grad,
               function=tf.function(lambda: v * 2)().requires_grad,
               gradient=tape.gradient(taped, v).numpy().tolist() == [2.0, 4.0],
               floor=later.gradient(after, v).numpy().tolist() == [1.0, 4.0])
expected = dict(plain=False, thread=False, slice=False, taped=True, stopped=False, behind=False, pool=False,
                function=False, gradient=True, floor=True)
""",
    "keras": """
layer = keras.layers.Dense(1)
x = np.ones((2, 3), "float32")
y = layer(x)
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2), keras.layers.Dense(1)])
model.compile("sgd", "mse")
before = model.get_weights()[0]
model.fit(x, np.zeros((2, 1)), verbose=0)
answers = dict(plain=y.requires_grad, ops=keras.ops.sum(layer.kernel).requires_grad,
               thread=elsewhere(lambda: layer(x).requires_grad), predict=model(x).requires_grad,
               fit=not np.array_equal(before, model.get_weights()[0]))
expected = dict(plain=False, ops=False, thread=False, predict=False, fit=True)
""",
    "dragon": """
w = dragon.tensor([1.0, 2.0], requires_grad=True)
with dragon.no_grad():
    off = (w * 2).requires_grad
with dragon.GradientTape() as tape:
    pass
raising(dragon.no_grad())
answers = dict(plain=(w * 2).requires_grad, thread=elsewhere(lambda: (w * 2).requires_grad), off=off,
               enabled=dragon.is_grad_enabled(), function=dragon.function(lambda: w * 2)().requires_grad)
expected = dict(plain=True, thread=True, off=False, enabled=True, function=True)
""",
}
TOGETHER = """
w, x = torch.ones(3, requires_grad=True), torch.ones(2, 3)
v, t = tf.Variable([1.0, 2.0, 3.0]), tf.constant([1.0, 1.0, 1.0])
dense = keras.layers.Dense(2)
flat = keras.layers.Flatten()
dense(x)

answers, expected = {}, {}


def ask(name, value, wanted):
    assert name not in answers, f"asked twice: {name}"
    answers[name], expected[name] = value.requires_grad, wanted


ask("layer", dense(x), True)
ask("layer of its own", dense(tf.ones((2, 3))), False)
ask("layers", dense(flat(x)), True)
ask("model", keras.Sequential([keras.layers.Flatten(), dense])(x), True)
ask("layer of a list", dense(keras.layers.Concatenate()([x[:, :1], x[:, 1:]])), True)
ask("layer of keywords", keras.layers.Add()([dense(inputs=x), np.ones((2, 2))]), True)
ask("thread", elsewhere(lambda: dense(x)), True)
ask("loss", keras.ops.mean(keras.ops.square(dense(x * w))), True)
ask("torch's sum", torch.sum(dense.kernel), True)
ask("torch's product", x @ dense.kernel, True)
ask("variable's product", v * torch.ones(3), True)
ask("torch's tensor in TensorFlow", tf.matmul(x, dense.kernel), True)
ask("history in TensorFlow", tf.exp(tf.sin(tf.convert_to_tensor(w * 2))), True)
ask("TensorFlow's", tf.sin(v * 2), False)

for face, scope in (("torch", torch.no_grad), ("torch", torch.inference_mode), ("dragon", dragon.no_grad)):
    with scope():
        ask(f"layer in {face}.{scope.__name__}", dense(x), False)
        ask(f"TensorFlow's in {face}.{scope.__name__}", v * 2, False)
with torch.enable_grad():
    ask("TensorFlow's in enable_grad", v * 2, True)
    ask("Keras's in enable_grad", dense(tf.ones((2, 3))), True)
raising(torch.enable_grad())
raising(tf.GradientTape())
with torch.no_grad(), contextlib.suppress(ValueError):
    dense(torch.ones(2, 5))
with contextlib.suppress(ValueError):
    dense(torch.ones(2, 5))
ask("after all scopes", v * 2, False)
ask("torch's after all scopes", w * 2, True)

with tf.GradientTape() as tape:
    hidden = torch.sin(w)
    loss = tf.reduce_sum(tf.convert_to_tensor(hidden) * v)
ask("torch's within a tape", hidden, True)
ask("behind a tape, of torch's", tf.sin(loss), True)
dw, dv = tape.gradient(loss, [w, v])
assert np.allclose(dw.numpy(), v.numpy() * np.cos(1)) and np.allclose(dv.numpy(), np.sin(1))

outside = torch.sin(w)
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(tf.convert_to_tensor(outside) * t)
assert np.allclose(tape.gradient(loss, w).numpy(), np.cos(1))

with tf.GradientTape() as tape:
    tape.watch(t)
    taped = t * v
ask("behind a tape", taped * 2, False)
function = tf.function(lambda a: a * v)
ask("function", function(t), False)
with tf.GradientTape() as tape:
    y = function(t)
assert tape.gradient(y, v).numpy().tolist() == [1.0, 1.0, 1.0]
ask("function after a tape", function(t), False)
ask("function of torch's", tf.function(lambda a: dense(a))(x), True)
ask("compiled", torch.compile(lambda a: dense(a) * 2)(x), True)
ask("vmap", torch.vmap(lambda a: a * w)(x), True)
assert torch.func.grad(lambda a: dense(a).sum())(x).shape == (2, 3)


class Handing(keras.layers.Layer):
    def build(self, shape):
        self.weight = self.add_weight(shape=(2,), initializer="ones")

    def call(self, inputs):
        return self.weight


handing = Handing()
handing([torch.ones(2)])
ask("a weight that was handed out", handing.weight * 2, False)

loss = (dense(x * w) ** 2).mean()
(dw,) = torch.autograd.grad(loss, w, create_graph=True)
ask("create_graph", dw, True)
loss.backward()
assert w.grad is not None and dense.kernel.grad is not None
step = torch.utils.checkpoint.checkpoint(lambda a: dense(a), x * w, use_reentrant=False)
step.sum().backward()
ask("after a backward pass", v * 2, False)
"""
CHECK = """
wrong = {name: (answers[name], wanted) for name, wanted in expected.items() if answers[name] is not wanted}
assert not wrong, wrong
print("answered", len(expected))
"""


def run(*parts):
    done = interpreter.run(["-c", "\n".join([*parts, CHECK])], tempfile.gettempdir(), timeout=300,
                           preload="import numpy, dragon")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("answered")


@pytest.mark.parametrize("name", IMPORTS)
def test_alone(name):
    run(IMPORTS[name], NUMBERS, ALONE[name])


@pytest.mark.parametrize("order", list(itertools.permutations(("torch", "keras", "tf"))), ids=" ".join)
def test_together(order):
    """Each as it is alone, and mixed."""
    run("import dragon", *(IMPORTS[name] for name in order), NUMBERS, TOGETHER)


@pytest.mark.parametrize("order", list(itertools.permutations(IMPORTS, 2)), ids=" ".join)
def test_each_as_if_it_were_alone(order):
    run(*(IMPORTS[name] for name in order), NUMBERS, ALONE[order[0]], CHECK, ALONE[order[1]])
