"""Models whose variables are cut between processes: each holds its part, and the numbers are those of one process."""
import pathlib
import textwrap

import pytest

from harness import interpreter
from harness.ranks import HEAD, find_imports, run_ranks

COMMON = '''
import os
import numpy as np
from dragon.vm import keras, tensorflow as tf
distribution, layers = keras.distribution, keras.layers
RNG = np.random.default_rng(0)
X = RNG.normal(size=(37, 6)).astype("float32")
Y = (X.sum(1, keepdims=True) > 0).astype("float32")

def make(optimizer=None, **kwargs):
    keras.backend.reset_uids()
    keras.utils.set_random_seed(3)
    x = keras.Input((6,))
    made = layers.Dense(8, activation="tanh", kernel_regularizer="l2", kernel_constraint="max_norm", name="dense_a")(x)
    made = layers.Dense(4, name="dense_b")(layers.BatchNormalization(momentum=0.5)(made))
    model = keras.Model(x, layers.Dense(1, activation="sigmoid", name="last")(made))
    model.compile(optimizer or keras.optimizers.Adam(0.05), "binary_crossentropy",
                  metrics=["accuracy", keras.metrics.AUC(name="auc")], **kwargs)
    return model

def train(model, count=37):
    history = model.fit(X[:count], Y[:count], batch_size=8, epochs=2, shuffle=False, verbose=0,
                        validation_data=(X[:11], Y[:11])).history
    found = [history[name] for name in sorted(history)]
    found += [model.evaluate(X, Y, batch_size=8, verbose=0), *model.get_weights()]
    return found + [model.predict(X[:11], batch_size=4, verbose=0)]

OPTIMIZERS = (lambda: keras.optimizers.SGD(0.5, momentum=0.9, clipvalue=0.05),
              lambda: keras.optimizers.Adam(0.05, clipnorm=0.1, amsgrad=True),
              lambda: keras.optimizers.AdamW(0.05, use_ema=True, ema_overwrite_frequency=3, global_clipnorm=0.5),
              lambda: keras.optimizers.Lion(0.01, gradient_accumulation_steps=2),
              lambda: keras.optimizers.LossScaleOptimizer(keras.optimizers.Nadam(0.01), initial_scale=8.0))

def rule(shape=(1, 2), **kwargs):
    layouts = distribution.LayoutMap(distribution.DeviceMesh(shape, ["batch", "model"], distribution.list_devices()))
    layouts["dense.*kernel"] = (None, "model")
    layouts["dense.*bias"] = ("model",)
    return distribution.ModelParallel(layout_map=layouts, batch_dim_name="batch", **kwargs)

def same(one, other):
    wrong = [(a, b) for a, b in zip(one, other, strict=True) if not np.allclose(a, b, atol=1e-5)]
    assert not wrong, wrong

def refuses(call, kind, *texts):
    try:
        call()
    except kind as error:
        assert all(text in str(error) for text in texts), error
    else:
        raise AssertionError(texts)
'''
MEET = '''
distribution.initialize(f"127.0.0.1:{port}", size, rank)
'''
PROGRAM = HEAD + COMMON + "alone = [train(make(optimizer())) for optimizer in OPTIMIZERS]" + MEET
PLAIN = HEAD + COMMON + MEET


def test_the_numbers_of_one_process():
    run_ranks('''
    distribution.set_distribution(rule())
    for expected, optimizer in zip(alone, OPTIMIZERS):
        model = make(optimizer())
        assert model.weights[0].shape == (6, 8) and model.weights[0].data.shape == (6, 4)
        assert model.count_params() == 6 * 8 + 8 + 4 * 8 + 8 * 4 + 4 + 4 + 1
        same(expected, train(model))
    ''', 2, PROGRAM, 150)


@pytest.mark.parametrize("shape, columns", [((2, 2), 4), ((1, 4), 2)])
def test_meshes_of_four_processes(shape, columns):
    run_ranks(f'''
    rules = rule({shape})
    assert (rules.num_model_replicas, rules.data_shard_id) == ({shape[0]}, rank // {shape[1]})
    distribution.set_distribution(rules)
    for expected, optimizer in list(zip(alone, OPTIMIZERS))[1:3]:
        model = make(optimizer())
        assert model.weights[0].data.shape == (6, {columns})
        same(expected, train(model))
    ''', 4, PROGRAM.replace("in OPTIMIZERS]", "in OPTIMIZERS[:3]]"), 170)


def test_the_program_of_the_guide():
    page = pathlib.Path(__file__).parents[4].joinpath("docs", "guide", "several_processes.md").read_text("utf-8")
    program = page.split(":caption: parts.py\n")[1].split("```")[0].replace("localhost:2345", "127.0.0.1:{port}")
    before = """
import numpy as np
from dragon.vm import keras
sys.modules.update({"keras": keras, "keras.distribution": keras.distribution})
import os
os.environ["RANK"] = str(rank)
x, y = np.ones((64, 4), "float32"), np.ones((64, 2), "float32")
"""
    run_ranks(program.replace('"127', 'f"127') + "assert model.weights[0].data.shape == (4, 4)", 4, HEAD + before, 100)


def test_axes_of_both_kinds_and_blocks_of_devices():
    run_ranks('''
    mesh = distribution.DeviceMesh((2, 2), ["batch", "model"], ["cpu:0", "cpu:2", "cpu:1", "cpu:3"])
    layouts = distribution.LayoutMap(mesh)
    layouts["dense_a/kernel"] = ("model", "batch")
    layouts["dense_b/kernel"] = ("batch", None)
    distribution.set_distribution(distribution.ModelParallel(layout_map=layouts, batch_dim_name="batch"))
    model = make(OPTIMIZERS[1]())
    assert [tuple(weight.data.shape) for weight in model.weights[:8:6]] == [(3, 4), (4, 4)]
    same(alone[1], train(model))
    ''', 4, PROGRAM.replace("in OPTIMIZERS]", "in OPTIMIZERS[:2]]"), 170)
    run_ranks('''
    assert len(distribution.list_devices()) == 4
    distribution.set_distribution(rule((1, 4)))
    model = make(OPTIMIZERS[1]())
    assert model.weights[0].data.shape == (6, 4)
    same(alone[1], train(model))
    refuses(lambda: distribution.ModelParallel(layout_map=distribution.LayoutMap(
        distribution.DeviceMesh((1, 4), ["batch", "model"], ["cpu:0", "cpu:2", "cpu:1", "cpu:3"]))),
            NotImplementedError, "one block of it in each process")
    ''', 2, PROGRAM.replace("alone =", '''
tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0],
                                           [tf.config.LogicalDeviceConfiguration()] * 2)
alone =''').replace("in OPTIMIZERS]", "in OPTIMIZERS[:2]]"), 150)


LAYERS = '''
vector, image = RNG.normal(size=(6, 2)).astype("float32"), RNG.normal(size=(6, 5, 5, 2)).astype("float32")
line, words = RNG.normal(size=(6, 4, 2)).astype("float32"), RNG.integers(0, 4, (6, 3)).astype("int32")

class Raw(layers.Layer):
    def build(self, shape):
        self.w = self.add_weight(shape=(2,), initializer="ones", name="w")
    def call(self, x):
        return x * self.w + self.w[1] + 0.1 * keras.ops.sum(self.w * 2 - 1) + self.w ** 2

class Attention(layers.Layer):
    def __init__(self):
        super().__init__()
        self.inner = layers.MultiHeadAttention(2, 2)
    def call(self, x):
        return self.inner(x, x)

# Of parts with one row, whoever took the part for the whole would be told nothing.
CASES = ((Raw, vector), (lambda: layers.EinsumDense("abc,cd->abd", (None, 2), bias_axes="d"), line),
         (lambda: layers.Dense(2, lora_rank=2), vector), (lambda: layers.Conv2D(2, 2), image),
         (lambda: layers.Conv1DTranspose(2, 2), line), (lambda: layers.SeparableConv2D(2, 2), image),
         (lambda: layers.Embedding(4, 2), words), (layers.BatchNormalization, image),
         (layers.LayerNormalization, line), (lambda: layers.GroupNormalization(2), image),
         (lambda: layers.PReLU(alpha_initializer="ones"), vector), (lambda: layers.Bidirectional(layers.LSTM(2)), line),
         (lambda: layers.GRU(2, return_sequences=True), line), (Attention, line))

def build(case):
    keras.backend.reset_uids()
    keras.utils.set_random_seed(3)
    layer, x = CASES[case]
    i = keras.Input(x.shape[1:], dtype=str(x.dtype))
    model = keras.Model(i, layer()(i))
    model.compile(keras.optimizers.SGD(0.02, momentum=0.5), "mse")
    return model, x

def learn(model, x):
    y = np.ones_like(model.predict(x, verbose=0))
    losses = model.fit(x, y, batch_size=4, epochs=2, shuffle=False, verbose=0).history["loss"]
    return [losses, *model.get_weights(), model.predict(x, batch_size=4, verbose=0)]

expected, cuts = [], []
for case in range(len(CASES)):
    model, x = build(case)
    cuts.append({})
    for weight in model.weights:
        even = [axis for axis, size in enumerate(weight.shape) if size % 2 == 0]
        if even and "seed" not in weight.path:
            cuts[-1][weight.path] = tuple("model" if axis == even[-1] else None for axis in range(len(weight.shape)))
    expected.append(learn(model, x))
'''


def test_layers_read_the_whole():
    run_ranks('''
    for case, wanted in enumerate(expected):
        layouts = distribution.LayoutMap(distribution.DeviceMesh((1, 2), ["batch", "model"]))
        layouts.update(cuts[case])
        with distribution.ModelParallel(layout_map=layouts).scope():
            model, x = build(case)
            assert cuts[case] and sum(weight.shape != weight.data.shape for weight in model.weights) == len(cuts[case])
        same(wanted, learn(model, x))
    ''', 2, HEAD + COMMON + LAYERS + MEET, 150)


def test_each_process_holds_its_part_alone():
    run_ranks('''
    from dragon.core import config
    def held():
        return config.memory_stats()["current"]
    def wide():
        model = keras.Sequential([keras.Input((512,)), layers.Dense(1024, use_bias=False, name="dense")])
        model.compile(keras.optimizers.Adam(), "mse")
        model.optimizer.build(model.trainable_variables)
        return model
    x, y = np.ones((4, 512), "float32"), np.ones((4, 1024), "float32")
    all_bytes, before = 3 * 4 * 512 * 1024, held()  # of the kernel and of two moments
    whole = wide()
    assert 0 <= held() - before - all_bytes < 20_000, (held(), before)
    layouts = distribution.LayoutMap(distribution.DeviceMesh((1, 2), ["batch", "model"]))
    layouts[".*dense.*kernel"] = (None, "model")
    distribution.set_distribution(distribution.ModelParallel(layout_map=layouts))
    before = held()
    part = wide()
    assert part.weights[0].data.shape == (512, 512)
    assert 0 <= held() - before - all_bytes // 2 < 20_000, (held(), before)
    from dragon.vm.keras.core.workers import Workers
    plain, summed = Workers.sum, []
    Workers.sum = lambda self, value: summed.append(int(np.prod(value.shape))) or plain(self, value)
    part.fit(x, y, verbose=0)
    part.fit(x, y, verbose=0)
    assert summed and max(summed) <= 1, summed  # no process has another's part, so nobody adds up gradients of it
    part.predict(x, verbose=0)
    assert 0 <= held() - before - all_bytes // 2 < 100_000, (held(), before)
    ''', 2, PLAIN, 100)


def test_files_hold_the_whole(tmp_path):
    run_ranks(f'''
    os.chdir({str(tmp_path)!r})
    distribution.set_distribution(rule())
    model = make()
    model.fit(X, Y, batch_size=8, shuffle=False, verbose=0, callbacks=[keras.callbacks.ModelCheckpoint("each.keras")])
    model.save("model.keras")
    model.save_weights("model.weights.h5")
    assert sorted(os.listdir()) == ["each.keras", "model.keras", "model.weights.h5"], os.listdir()
    again, other = keras.models.load_model("model.keras"), make()
    other.load_weights("model.weights.h5")
    for found in (again, other):
        assert found.weights[0].data.shape == (6, 4)
        same(model.get_weights(), found.get_weights())
    other.set_weights(again.get_weights())
    same(again.optimizer.variables[2].numpy(), model.optimizer.variables[2].numpy())
    again.fit(X, Y, batch_size=8, shuffle=False, verbose=0)
    weights = again.get_weights()
    if rank == 0:
        np.savez("later.npz", *weights)
    ''', 2, PLAIN, 120)
    code = COMMON + '''
again = keras.models.load_model("model.keras")
again.fit(X, Y, batch_size=8, shuffle=False, verbose=0)
later = np.load("later.npz")
same([later[f"arr_{number}"] for number in range(len(again.weights))], again.get_weights())
'''
    done = interpreter.run(["-c", textwrap.dedent(code)], tmp_path, timeout=100, preload=find_imports(HEAD + COMMON))
    assert done.returncode == 0, done.stderr[-2000:]


def test_variables_by_themselves():
    run_ranks('''
    import copy, pickle
    distribution.set_distribution(rule())
    mesh = distribution.distribution().device_mesh
    values = np.arange(12, dtype="float32").reshape(3, 4) + 100 * rank  # those of the first process count
    v = keras.Variable(values, layout=(None, "model"), name="v")
    first = np.arange(12, dtype="float32").reshape(3, 4)
    assert v.shape == (3, 4) and v.ndim == 2 and len(v) == 3
    if rank:  # whoever prints may be alone
        assert "cut between processes" in repr(v) and "shape=(3, 4)" in str(v)
        part = copy.deepcopy(v)
        assert part.data.numpy().tolist() == first[:, 2:].tolist()
    assert v.numpy().tolist() == np.asarray(v).tolist() == first.tolist()
    assert (v + 1).numpy().tolist() == (first + 1).tolist() and v[1].numpy().tolist() == first[1].tolist()
    v.assign(first * 2)
    v.assign_add(np.ones((3, 4)))
    v.assign_sub(np.full((3, 4), 2.0))
    assert v.numpy().tolist() == (first * 2 - 1).tolist()
    assert v.data.numpy().tolist() == (first * 2 - 1)[:, 2 * rank:2 * rank + 2].tolist()
    again = pickle.loads(pickle.dumps(v))
    assert again.data.numpy().tolist() == (first * 2 - 1).tolist()
    refuses(lambda: v.assign(np.ones((3, 2))), ValueError, "(3, 4)", "(3, 2)")
    same([v.numpy()], [first * 2 - 1])
    whole = keras.Variable(values, name="whole")
    assert whole.data.shape == (3, 4) and whole.numpy().tolist() == first.tolist()
    counts = keras.Variable([1, 2], dtype="int32", layout=distribution.TensorLayout(("model",), mesh), trainable=False)
    assert counts.numpy().tolist() == [1, 2] and counts.data.shape == (1,)
    # A loop of one's own, in which all processes compute the same.
    with tf.GradientTape() as tape:
        loss = keras.ops.sum(v * v) + keras.ops.sum(v)
    gradient = tape.gradient(loss, v)
    assert gradient.numpy().tolist() == (2 * (first * 2 - 1) + 1)[:, 2 * rank:2 * rank + 2].tolist()
    before = v.numpy()
    keras.optimizers.SGD(0.5).apply([gradient], [v])
    same([v.numpy()], [before - 0.5 * (2 * before + 1)])
    half = keras.Variable(first, dtype="bfloat16", layout=(None, "model"))
    assert half.numpy().astype("float32").tolist() == first.tolist()
    ''', 2, PLAIN, 100)


def test_data_that_processes_have_of_their_own():
    run_ranks('''
    data = tf.data.Dataset.from_tensor_slices((X[:32], Y[:32])).batch(8)
    expected = make()
    losses = expected.fit(data, epochs=2, verbose=0).history["loss"]
    predicted = expected.predict(data, verbose=0)
    rules = rule((2, 2), auto_shard_dataset=False)
    shard = rules.data_shard_id
    part = data.map(lambda x, y: (x[shard * 4:shard * 4 + 4], y[shard * 4:shard * 4 + 4]))
    cut = rule((2, 2)).distribute_dataset(data)
    assert [np.asarray(x).tolist() for x, _ in cut] == [np.asarray(x).tolist() for x, _ in part]
    distribution.set_distribution(rules)
    model = make()
    same(losses, model.fit(part, epochs=2, verbose=0).history["loss"])
    same(predicted, model.predict(part, verbose=0))
    ''', 4, PLAIN, 120)


def test_what_overflows_in_one_process_steps_in_none():
    run_ranks('''
    distribution.set_distribution(rule())
    model = make(keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.1), initial_scale=8.0))
    before = model.get_weights()[0]
    bad = X[:8].copy()
    bad[0] = np.inf  # the first process's alone
    with np.errstate(all="ignore"):
        model.fit(bad, Y[:8], batch_size=8, verbose=0)
    assert float(model.optimizer.dynamic_scale) == 4.0
    same([before], [model.get_weights()[0]])
    ''', 2, PLAIN, 100)


def test_fewer_samples_than_processes():
    run_ranks('''
    distribution.set_distribution(rule((1, 4)))
    same(alone, train(make(), 9))
    ''', 4, HEAD + COMMON + "alone = train(make(), 9)" + MEET, 100)


def test_what_is_refused():
    run_ranks('''
    mesh = distribution.DeviceMesh((1, 2), ["batch", "model"])
    distribution.set_distribution(rule())
    layout = distribution.TensorLayout(("model", None), mesh)
    refuses(lambda: layers.Dense(5, name="dense").build((None, 3)), ValueError, "dense/kernel", "(3, 5)",
            "divisible by 2", "'model'")
    refuses(lambda: keras.Variable(np.ones(2), layout=("model", None)), ValueError, "a layout of 2 axes", "(2,)")
    refuses(lambda: keras.Variable(np.ones((2, 2)), layout=("model", "model")), ValueError, "each axis of the mesh")
    refuses(lambda: keras.Variable(np.ones((2, 2)), layout=("rows", None)), ValueError, "Invalid axis names")
    refuses(lambda: keras.Variable(np.ones((2, 2)), layout="model"), TypeError, "layout")
    refuses(lambda: distribution.distribute_tensor(np.ones((2, 2)), layout), NotImplementedError, "variables alone")
    class Mine(keras.Variable):
        pass
    refuses(lambda: Mine(np.ones((2, 2)), layout=layout), NotImplementedError, "the class Mine")
    for name in ("Lamb", "Muon", "Adafactor"):
        refuses(lambda: getattr(keras.optimizers, name)().build(make().trainable_variables), NotImplementedError, name,
                "'dense_a/kernel'", "cut between processes")
    refuses(lambda: distribution.ModelParallel(layout_map=distribution.LayoutMap(mesh), batch_dim_name="rows"),
            ValueError, "'batch', 'model'", "'rows'")
    refuses(lambda: type(make().weights[0])(1.0), TypeError, "keras.Variable")
    ''', 2, PLAIN, 100)
