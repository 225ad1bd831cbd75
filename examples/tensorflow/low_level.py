"""TensorFlow without Keras: variables, a tf.Module, gradients of gradients, a checkpoint, control flow."""
import os
import tempfile

import tensorflow as tf


class Line(tf.Module):
    """y = w x + b."""

    def __init__(self, name=None):
        super().__init__(name=name)
        self.w = tf.Variable(5.0, name="w")
        self.b = tf.Variable(0.0, name="b")

    @tf.function
    def __call__(self, x):
        return self.w * x + self.b


x = tf.linspace(-2.0, 2.0, 101)
y = 3.0 * x + 2.0 + tf.sin(x * 40) * 0.1
model = Line("line")
print([variable.name for variable in model.trainable_variables], model(tf.constant([1.0, 2.0])).numpy())
checkpoint = tf.train.Checkpoint(model=model, step=tf.Variable(0, dtype=tf.int64))
manager = tf.train.CheckpointManager(checkpoint, os.path.join(tempfile.mkdtemp(), "points"), max_to_keep=2)
for epoch in range(30):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(y - model(x)))
    dw, db = tape.gradient(loss, [model.w, model.b])
    model.w.assign_sub(0.1 * dw)
    model.b.assign_sub(0.1 * db)
    checkpoint.step.assign_add(1)
    if epoch % 10 == 9:
        manager.save()
        print(f"epoch {epoch} loss {loss:.4f} w {model.w.numpy():.3f} b {model.b.numpy():.3f}")
model.w.assign(0.0)
checkpoint.restore(manager.latest_checkpoint)
print(f"restored w {model.w.numpy():.3f} at step {checkpoint.step.numpy()}, kept {len(manager.checkpoints)}")

z = tf.Variable(2.0)
with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        cube = z ** 3
    first = inner.gradient(cube, z)
second = outer.gradient(first, z)
print("derivatives", first.numpy(), second.numpy())

with tf.GradientTape(persistent=True) as tape:
    point = tf.constant([1.0, 2.0])
    tape.watch(point)
    squares = point ** 2
print("jacobian", tape.jacobian(squares, point).numpy().tolist())


@tf.custom_gradient
def clipped(x):
    """The identity, with a gradient of at most one."""
    return tf.identity(x), lambda dy: tf.clip_by_value(dy, -1.0, 1.0)


with tf.GradientTape() as tape:
    tape.watch(point)
    total = tf.reduce_sum(clipped(point) * [0.5, 9.0])
print("clipped", tape.gradient(total, point).numpy().tolist())
collatz = tf.while_loop(lambda n, steps: n > 1, lambda n, steps: (
    tf.cond(n % 2 == 0, lambda: n // 2, lambda: 3 * n + 1), steps + 1), (tf.constant(27), tf.constant(0)))
print("collatz", collatz[1].numpy())
print("scan", tf.scan(lambda total, n: total + n, tf.range(6)).numpy().tolist(),
      tf.map_fn(lambda n: n * n, tf.range(4)).numpy().tolist())
