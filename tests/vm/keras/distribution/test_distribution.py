"""`keras.distribution`: one device is trained on, descriptions of more are as genuine Keras has them."""
import numpy as np
import pytest

from dragon.vm import keras
from harness import genuine

distribution = keras.distribution
CPU = ["cpu:0"]


@pytest.fixture(autouse=True)
def no_rules_afterwards():
    yield
    distribution.set_distribution(None)


def rules():
    """Return rules for one device of each kind."""
    mesh = distribution.DeviceMesh((1, 1), ("batch", "model"), CPU)
    layouts = distribution.LayoutMap(mesh)
    layouts[".*dense.*kernel"] = (None, "model")
    return [distribution.DataParallel(devices=CPU), distribution.ModelParallel(layout_map=layouts)]


def trained():
    """Return the losses of a small model."""
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, activation="tanh"), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    x = np.random.RandomState(0).rand(16, 4).astype("float32")
    return model.fit(x, x.sum(1), epochs=2, batch_size=8, verbose=0).history["loss"]


def test_one_device_trains_as_without_rules():
    alone = trained()
    for rule in rules():
        with rule.scope():
            assert distribution.distribution() is rule
            assert trained() == alone
        assert distribution.distribution() is None


@pytest.fixture
def four():
    """Have the CPU be four devices."""
    from dragon.vm import tensorflow as tf
    cpu, cut = tf.config.list_physical_devices("CPU")[0], tf.config.LogicalDeviceConfiguration
    tf.config.set_logical_device_configuration(cpu, [cut() for _ in range(4)])
    yield
    tf.config.set_logical_device_configuration(cpu, [cut()])


def test_devices_that_share_memory_train_as_one(four):
    alone = trained()
    assert distribution.list_devices() == [f"cpu:{number}" for number in range(4)]
    distribution.set_distribution(distribution.DataParallel())
    assert distribution.distribution().num_model_replicas == 4 and trained() == alone
    mesh = distribution.DeviceMesh((2, 2), ("batch", "model"))
    layouts = distribution.LayoutMap(mesh)
    layouts[".*dense.*kernel"] = (None, "model")
    with distribution.ModelParallel(layout_map=layouts).scope():
        assert trained() == alone
    layout = distribution.TensorLayout(("batch", None), mesh)
    assert distribution.distribute_tensor(keras.ops.ones((4, 3)), layout).numpy().sum() == 12
    with pytest.raises(ValueError, match="divisible by 2"):
        distribution.distribute_tensor(keras.ops.ones((3, 3)), layout)
    with pytest.raises(ValueError, match="expected at most 1"):
        distribution.distribute_tensor(keras.ops.ones((4,)), layout)


def test_names_are_those_of_genuine_keras():
    for family in ("distribution", "distillation", "export"):
        expected = [name for name in dir(getattr(genuine.keras, family)) if not name.startswith("_")]
        assert [name for name in expected if not hasattr(getattr(keras, family), name)] == []


CASES = {
    "no shape": lambda d: d.DeviceMesh((), ()),
    "lengths": lambda d: d.DeviceMesh((1,), ("a", "b"), CPU),
    "count": lambda d: d.DeviceMesh((2,), ("a",), CPU),
    "axes": lambda d: d.TensorLayout(("x",), d.DeviceMesh((1,), ("a",), CPU)),
    "no map": lambda d: d.ModelParallel(),
    "wrong map": lambda d: d.ModelParallel(layout_map={}),
    "wrong mesh": lambda d: d.DataParallel(device_mesh="mesh"),
}


@pytest.mark.parametrize("name", CASES)
def test_errors(name):
    with pytest.raises(ValueError) as expected:
        CASES[name](genuine.keras.distribution)
    with pytest.raises(ValueError) as found:
        CASES[name](distribution)
    assert str(found.value).split(".")[0] == str(expected.value).split(".")[0]


def described(d):
    """Return what eight devices' descriptions say."""
    mesh = d.DeviceMesh((2, 4), ["batch", "model"], [f"gpu:{number}" for number in range(8)])
    layouts = d.LayoutMap(mesh)
    layouts["dense.*kernel"], layouts["dense.*bias"] = (None, "model"), d.TensorLayout(("model",))
    rule = d.ModelParallel(layout_map=layouts)
    return [repr(mesh), repr(layouts["dense_1/kernel"]), repr(layouts["dense_1/bias"]), layouts["conv/kernel"],
            len(layouts), list(layouts), repr(rule), rule.num_model_replicas, repr(rule.get_data_layout((2, 3))),
            repr(rule.get_tensor_layout("dense/bias")), rule.batch_dim_name, mesh.devices.tolist()]


def test_descriptions():
    assert described(distribution) == described(genuine.keras.distribution)


def test_devices_that_are_not_there_are_named():
    mesh = distribution.DeviceMesh((2,), ("batch",), ["cpu:0", "cpu:1"])
    rule, layout = distribution.DataParallel(mesh), distribution.TensorLayout(("batch",), mesh)
    for act in (lambda: distribution.set_distribution(rule), lambda: rule.scope().__enter__(),
                lambda: distribution.distribute_tensor(keras.ops.ones((2,)), layout)):
        with pytest.raises(ValueError, match="There is no such device. Received: 'cpu:1'"):
            act()
    with pytest.raises(ValueError, match="as many addresses as processes"):
        distribution.initialize("a:1,b:1,c:1", 2, 0)
    distribution.initialize()
    assert distribution.list_devices("cpu") == CPU and distribution.get_device_count("cpu") == 1


def test_tensors_lie_where_they_should():
    layout = distribution.TensorLayout(("batch", None), distribution.DeviceMesh((1,), ("batch",), CPU))
    placed = distribution.distribute_tensor(keras.ops.ones((2, 3)), layout)
    np.testing.assert_array_equal(placed.numpy(), np.ones((2, 3)))
    symbol = keras.Input((3,))
    assert distribution.distribute_tensor(symbol, layout) is symbol
