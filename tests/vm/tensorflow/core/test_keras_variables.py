"""Variables of Keras in functions of TensorFlow: operands, sources of tapes, parts of checkpoints."""

from dragon.vm import keras
from dragon.vm import tensorflow as tf
from harness.subresults import each

CALLS = ["tf.math.l2_normalize(v, axis=1)", "tf.reduce_sum(v, 0)", "tf.matmul(v, v)", "v + tf.ones([2, 2])",
         "tf.ones([2, 2]) * v", "tf.concat([v, tf.ones([1, 2])], 0)", "tf.stack([v, v])", "tf.gather(v, [1, 0])",
         "tf.where([True, False], v, 0.)", "tf.cast(v, tf.int32)", "tf.transpose(v)", "tf.exp(v)", "tf.norm(v)",
         "tf.identity(v)", "tf.zeros_like(v)", "tf.einsum('ij,jk->ik', v, v)", "tf.linalg.inv(v)", "tf.argmax(v, 1)",
         "tf.clip_by_value(v, 0., 2.)", "tf.clip_by_norm(v, 1.)", "tf.pad(v, [[1, 0], [0, 0]])", "tf.tile(v, [1, 2])",
         "tf.one_hot(tf.cast(v[0], tf.int32), 3)", "tf.maximum(v, 2.)", "tf.pow(v, 2.)", "tf.split(v, 2)[0]",
         "tf.tensor_scatter_nd_update(v, [[0]], [[9., 9.]])", "tf.Variable(v)", "tf.constant(1.) - v", "2. / v"]
NUMBERS = [[1.5, -2.0], [3.0, 4.0]]


@each("text", CALLS)
def test_calls(text):
    found = eval(text, {"tf": tf, "v": keras.Variable(NUMBERS)})
    wanted = eval(text, {"tf": tf, "v": tf.constant(NUMBERS)})
    assert found.dtype == wanted.dtype and found.numpy().tolist() == wanted.numpy().tolist()


def test_tape_and_checkpoint(tmp_path):
    v, w = keras.Variable(NUMBERS), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(v * v) * w
    dv, dw = tape.gradient(y, [v, w])
    assert dv.numpy().tolist() == [[6.0, -8.0], [12.0, 16.0]] and float(dw) == 31.25
    path = tf.train.Checkpoint(v=v).write(str(tmp_path / "c"))
    v.assign([[0.0, 0.0], [0.0, 0.0]])
    tf.train.Checkpoint(v=v).read(path).assert_consumed()
    assert v.numpy().tolist() == NUMBERS


def test_checkpoint_of_a_model(tmp_path):
    def make():
        model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4), keras.layers.BatchNormalization(),
                                  keras.layers.Dense(2)])
        model.compile(keras.optimizers.Adam(0.01), "mse")
        return model
    x, y = tf.ones([8, 3]), tf.ones([8, 2])
    source, target = make(), make()
    source.fit(x, y, epochs=2, verbose=0)
    target.fit(x, y, epochs=1, verbose=0)
    path = tf.train.Checkpoint(model=source, optimizer=source.optimizer).save(str(tmp_path / "c"))
    tf.train.Checkpoint(model=target, optimizer=target.optimizer).restore(path).assert_consumed()
    for mine, theirs in zip(source.weights, target.weights):
        assert mine.numpy().tolist() == theirs.numpy().tolist()
    assert int(target.optimizer.iterations) == 2
    assert source.fit(x, y, verbose=0).history == target.fit(x, y, verbose=0).history


def test_checkpoint_before_the_model_is_built(tmp_path):
    class Net(keras.Model):
        def __init__(self):
            super().__init__()
            self.hidden, self.last = keras.layers.Dense(4, activation="relu"), keras.layers.Dense(1)

        def call(self, x):
            return self.last(self.hidden(x))

    def step(model, optimizer):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(tf.ones([2, 3])) - 1.0) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        return float(loss)
    model, optimizer = Net(), keras.optimizers.Adam(0.1)
    for _ in range(3):
        step(model, optimizer)
    path = tf.train.Checkpoint(model=model, optimizer=optimizer).save(str(tmp_path / "c"))
    again, restored = Net(), keras.optimizers.Adam(0.1)
    status = tf.train.Checkpoint(model=again, optimizer=restored).restore(path)
    assert [step(again, restored) for _ in range(3)] == [step(model, optimizer) for _ in range(3)]
    status.assert_consumed()
    assert int(restored.iterations) == 6
