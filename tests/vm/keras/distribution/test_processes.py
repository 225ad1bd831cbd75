"""`keras.distribution` over two processes: the numbers of one."""
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
X = RNG.normal(size=(37, 5)).astype("float32")
Y = (X.sum(1, keepdims=True) > 0).astype("float32")

def make(optimizer=None, **kwargs):
    keras.utils.set_random_seed(3)
    model = keras.Sequential([keras.Input((5,)), layers.Dense(8, activation="tanh", kernel_regularizer="l2"),
                              layers.BatchNormalization(momentum=0.5), layers.Dense(1, activation="sigmoid")])
    model.compile(optimizer or keras.optimizers.SGD(0.5), "binary_crossentropy",
                  metrics=["accuracy", keras.metrics.AUC(name="auc")], **kwargs)
    return model

def train(model):
    history = model.fit(X, Y, batch_size=8, epochs=2, shuffle=False, verbose=0,
                        validation_data=(X[:11], Y[:11])).history
    found = [history[name] for name in sorted(history)]
    found += [model.evaluate(X, Y, batch_size=8, verbose=0), *model.get_weights()]
    return found + [model.predict(X[:11], batch_size=4, verbose=0)]

OPTIMIZERS = (lambda: keras.optimizers.SGD(0.5, momentum=0.9),
              lambda: keras.optimizers.AdamW(0.05, use_ema=True, global_clipnorm=0.5))
'''
PROGRAM = HEAD + COMMON + '''
alone = [train(make(optimizer())) for optimizer in OPTIMIZERS]
distribution.initialize(f"127.0.0.1:{port}", size, rank)

def same(one, other):
    wrong = [(a, b) for a, b in zip(one, other, strict=True) if not np.allclose(a, b, atol=1e-5)]
    assert not wrong, wrong
'''


def test_the_numbers_of_one_process():
    run_ranks('''
    assert distribution.list_devices() == ["cpu:0", "cpu:1"] and distribution.get_device_count() == 2
    mesh = distribution.DeviceMesh((2, 1), ("batch", "model"))
    layouts = distribution.LayoutMap(mesh)
    layouts[".*kernel"] = (None, "model")
    rules = (distribution.DataParallel(), distribution.ModelParallel(layout_map=layouts))
    for rule in rules:
        assert (rule.num_processes, rule.process_id, rule.data_shard_id) == (2, rank, rank)
        assert rule.num_model_replicas == 2
        for expected, optimizer in list(zip(alone, OPTIMIZERS))[:2 if rule is rules[0] else 1]:
            with rule.scope():
                model = make(optimizer())
            same(expected, train(model))
    ''', 2, PROGRAM, 170)


def test_data_that_each_process_has_of_its_own():
    run_ranks('''
    rule = distribution.DataParallel(auto_shard_dataset=False)
    data = tf.data.Dataset.from_tensor_slices((X[:32], Y[:32])).batch(8)
    part = data.map(lambda x, y: (x[rank * 4:rank * 4 + 4], y[rank * 4:rank * 4 + 4]))
    expected = make()
    losses = expected.fit(data, epochs=2, verbose=0).history["loss"]
    with rule.scope():
        model = make()
    same(losses, model.fit(part, epochs=2, verbose=0).history["loss"])
    cut = distribution.DataParallel().distribute_dataset(data)
    assert [np.asarray(x).tolist() for x, _ in cut] == [np.asarray(x).tolist() for x, _ in part]
    for wrong, text in ((tf.data.Dataset.range(6), "batch size of the input dataset is unknown"),
                        (tf.data.Dataset.range(6).batch(3, drop_remainder=True), "must be divisible")):
        try:
            list(distribution.DataParallel().distribute_dataset(wrong))
        except ValueError as error:
            assert text in str(error), error
        else:
            raise AssertionError(text)
    ''', 2, PROGRAM.replace("alone =", "alone = None and"), 120)


def test_files_are_written_once_and_read_by_any_number(tmp_path):
    run_ranks(f'''
    os.chdir({str(tmp_path)!r})
    distribution.set_distribution(distribution.DataParallel())
    model = make(keras.optimizers.Adam(0.05))
    model.fit(X, Y, batch_size=8, verbose=0, callbacks=[keras.callbacks.ModelCheckpoint("each.keras")])
    if rank:
        open("writes", "w").close()
    model.save("model.keras")
    model.save_weights("model.weights.h5")
    assert sorted(os.listdir()) == ["each.keras", "model.keras", "model.weights.h5", "writes"], os.listdir()
    again = keras.models.load_model("model.keras")
    other = make()
    other.load_weights("model.weights.h5")
    for found in (again, other):
        same(model.get_weights(), found.get_weights())
    np.savez(f"rank{{rank}}.npz", *model.get_weights())
    model.fit(X, Y, batch_size=8, shuffle=False, verbose=0)
    np.savez(f"later{{rank}}.npz", *model.get_weights())
    ''', 2, PROGRAM.replace("alone =", "alone = None and"), 120)
    code = COMMON + '''
again = keras.models.load_model("model.keras")
weights = [np.load(f"rank{rank}.npz") for rank in range(2)]
for number, own in enumerate(again.get_weights()):
    assert all(np.allclose(own, found[f"arr_{number}"], atol=1e-6) for found in weights)
again.fit(X, Y, batch_size=8, shuffle=False, verbose=0)
later = np.load("later0.npz")
assert all(np.allclose(own, later[f"arr_{number}"], atol=2e-5) for number, own in enumerate(again.get_weights()))
'''
    done = interpreter.run(["-c", textwrap.dedent(code)], tmp_path, timeout=100, preload=find_imports(HEAD + COMMON))
    assert done.returncode == 0, done.stderr[-2000:]


def test_training_goes_on_from_the_backup_of_the_first_process(tmp_path):
    run_ranks(f"""
    folder = os.path.join({str(tmp_path)!r}, "backup" if rank == 0 else "elsewhere")
    class Stop(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            if epoch == 2:
                raise KeyboardInterrupt
    def fit(model, epochs, *callbacks):
        return model.fit(X, Y, batch_size=8, epochs=epochs, shuffle=False, verbose=0, callbacks=callbacks).history
    expected = make()
    losses = fit(expected, 4)["loss"]
    rule = distribution.DataParallel()
    with rule.scope():
        first, second = make(), make()
    try:
        fit(first, 4, keras.callbacks.BackupAndRestore(folder), Stop())
    except KeyboardInterrupt:
        pass
    second.set_weights([weight * 0 for weight in second.get_weights()])
    same(losses[2:], fit(second, 4, keras.callbacks.BackupAndRestore(folder))["loss"])
    same(expected.get_weights(), second.get_weights())
    assert not os.path.exists(folder)
    """, 2, PROGRAM)


def test_what_is_refused():
    run_ranks('''
    mesh = distribution.DeviceMesh((1, 2), ("batch", "model"))
    for make_rule, kind, text in (
            (lambda: distribution.DataParallel(devices=["cpu:0"]), ValueError, "devices of all 2 processes"),
            (lambda: distribution.initialize(f"127.0.0.1:{port}", 2, rank), RuntimeError, "second call"),
            (lambda: distribution.distribute_tensor(np.ones((2, 2)), distribution.TensorLayout(("model", None), mesh)),
             NotImplementedError, "whole in each")):
        try:
            make_rule()
        except kind as error:
            assert text in str(error), error
        else:
            raise AssertionError(text)
    ''', 2, PROGRAM.replace("alone =", "alone = None and"), 100)


@pytest.mark.parametrize("arguments, text", [
    (("a:1,b:2,c:3", 2, 0), "expected as many addresses"), (("a:1", 2, 2), "between 0 and"),
    (("a:1", 0, 0), "addresses"),
    (("a:1", 2, None), "the number of this one"), ((None, 2, 0), "the address of the first"),
    (("a", 2, 0), "expected a host and a port")])
def test_what_initialize_must_be_told(arguments, text):
    from dragon.vm import keras
    with pytest.raises(ValueError, match=text):
        keras.distribution.initialize(*arguments)
