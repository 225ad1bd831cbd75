"""TensorFlow's programs where there is a GPU: they run on it unasked, and give the CPU's numbers."""
import os

import numpy as np
import pytest

import dragon.vm.tensorflow as tf

GPU, CPU = (f"/job:localhost/replica:0/task:0/device:{kind}:0" for kind in ("GPU", "CPU"))
RNG = np.random.default_rng(0)


def floats(*shape):
    return RNG.standard_normal(shape).astype("float32")


def same(run, *arrays, rtol=1e-4, atol=1e-5):
    """Check that a function gives, unasked, on the GPU, what it gives on the CPU."""
    with tf.device("CPU:0"):
        wanted = run(*map(tf.constant, arrays))
        assert all(item.device == CPU for item in tf.nest.flatten(wanted))
    found = run(*map(tf.constant, arrays))
    for one, other in zip(tf.nest.flatten(found), tf.nest.flatten(wanted), strict=True):
        assert one.dtype is tf.int32 or one.device == GPU
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=rtol, atol=atol)


# --- where tensors are

def test_new_tensors():
    assert tf.constant([1.0, 2.0]).device == GPU and tf.constant(3.0).device == GPU
    assert tf.zeros((2, 3)).device == GPU and tf.eye(2).device == GPU and tf.linspace(0.0, 1.0, 3).device == GPU
    assert tf.convert_to_tensor(floats(3)).device == GPU and tf.constant([True]).device == GPU
    assert tf.constant([1, 2], tf.int64).device == GPU and tf.range(3, dtype=tf.int64).device == GPU
    assert tf.random.normal((3,)).device == GPU and tf.random.uniform((3,)).device == GPU
    assert tf.Variable([1.0]).device == GPU and tf.Variable(tf.zeros(2)).device == GPU


def test_shapes_and_texts_stay_on_the_host():
    assert tf.constant([1, 2]).device == CPU and tf.range(5).device == CPU and tf.zeros(3, tf.int32).device == CPU
    x = tf.zeros((2, 3))
    assert tf.shape(x).device == CPU and tf.size(x).device == CPU and tf.rank(x).device == CPU
    assert (tf.shape(x) * 2 + 1).device == CPU and (tf.range(3) < 2).device == CPU
    assert tf.constant("text").device == CPU and tf.strings.length("text").device == CPU
    assert tf.cast(tf.range(3), tf.float32).device == GPU
    assert tf.argmax(x, -1, output_type=tf.int32).device == GPU


def test_a_scope_holds_calls_on_the_host():
    with tf.device("CPU:0"):
        x = tf.constant([1.0, 2.0])
        assert x.device == CPU and (x + 1).device == CPU and tf.Variable([1.0]).device == CPU
        with tf.device("/GPU:0"):
            assert (x + 1).device == GPU and tf.zeros(2).device == GPU
        with tf.device(None):
            assert tf.zeros(2).device == GPU
        with tf.device(""):
            assert tf.zeros(2).device == CPU
    assert (x + 1).device == GPU


def test_operands_are_brought_together():
    with tf.device("CPU:0"):
        on_host = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    x = tf.constant([[1.0, 0.0], [0.0, 2.0]])
    for found in (x + on_host, on_host @ x, tf.concat([on_host, x], 0), tf.where(on_host > 2, x, on_host),
                  tf.gather(x, tf.constant([1, 0])), tf.einsum("ij,jk->ik", on_host, x), tf.stack([x, on_host])):
        assert found.device == GPU
    assert tf.reduce_sum(on_host).device == GPU
    with tf.device("CPU:0"):
        assert (x + on_host).device == CPU
        np.testing.assert_array_equal((x @ on_host).numpy(), [[1, 2], [6, 8]])
    assert tf.boolean_mask(x, on_host > 2).device == GPU


def test_identity_and_the_old_ways_move():
    x = tf.constant([1.0, 2.0])
    with tf.device("CPU:0"):
        host = tf.identity(x)
    assert host.device == CPU and tf.identity(host).device == GPU and tf.identity(x).device == GPU
    assert x.cpu().device == CPU and host.gpu().device == GPU and x.gpu(0).backing_device == GPU
    with pytest.raises(RuntimeError, match="GPU:7 unknown device."):
        x.gpu(7)
    assert x.numpy().tolist() == [1, 2] and float(x[1]) == 2 and x.device.endswith("GPU:0") and "GPU" in x.device


# --- names of devices

def test_names():
    for name in ("GPU:0", "/gpu:0", "/device:GPU:0", "gpu", GPU, "/GPU:*"):
        with tf.device(name):
            assert tf.zeros(1).device == GPU
    for name, kind, words in (
            ("nonsense", ValueError, "Unknown attribute 'nonsense' is encountered while parsing the device spec"),
            ("GPU:x", ValueError, "invalid literal for int"), (7, ValueError, "Expecting a string device name. Got"),
            ("/job:worker/replica:0/task:0/device:GPU:0", tf.errors.InvalidArgumentError, "unknown device."),
            ("/job:localhost/replica:0/task:1/device:GPU:0", tf.errors.InvalidArgumentError, "unknown device."),
            ("GPU:-1", tf.errors.InvalidArgumentError, "Malformed device specification")):
        with pytest.raises(kind, match=words), tf.device(name):
            tf.zeros(1)
    with pytest.raises(RuntimeError, match="does not support functions"):
        tf.device(lambda: None)


def test_a_missing_device():
    with tf.device("GPU:7"):
        assert tf.zeros(1).device == GPU  # softly, on what there is
    tf.config.set_soft_device_placement(False)
    try:
        with pytest.raises(tf.errors.InvalidArgumentError,
                           match=r"Could not satisfy device specification .*GPU:7.*types \[GPU, CPU\]"):
            with tf.device("GPU:7"):
                tf.zeros(1)
    finally:
        tf.config.set_soft_device_placement(True)


def test_what_the_program_is_told():
    gpus = tf.config.list_physical_devices("GPU")
    assert gpus[0].name == "/physical_device:GPU:0" and tf.config.list_logical_devices("GPU")[0].name == "/device:GPU:0"
    assert tf.test.is_gpu_available() and tf.test.gpu_device_name() == "/device:GPU:0" and tf.test.is_built_with_cuda()
    tf.config.experimental.set_memory_growth(gpus[0], True)
    assert set(tf.config.experimental.get_device_details(gpus[0])) == {"device_name", "compute_capability"}
    with pytest.raises(ValueError, match="Cannot set memory growth on non-GPU"):
        tf.config.experimental.set_memory_growth(tf.config.list_physical_devices("CPU")[0], True)
    with pytest.raises(ValueError, match="No matching devices found for 'GPU:7'"):
        tf.config.experimental.get_memory_info("GPU:7")
    with pytest.raises(ValueError, match="Failed parsing device name: 'foo'"):
        tf.config.experimental.get_memory_info("foo")


def test_memory_is_counted():
    tf.config.experimental.reset_memory_stats("GPU:0")
    before = tf.config.experimental.get_memory_info("GPU:0")
    x = tf.zeros((1 << 18,))
    info = tf.config.experimental.get_memory_info("GPU:0")
    assert info["current"] >= before["current"] + x.shape[0] * 4 and info["peak"] >= info["current"]


def test_hidden_devices():
    try:
        tf.config.set_visible_devices([], "GPU")
        assert not tf.config.list_logical_devices("GPU") and tf.config.get_visible_devices("GPU") == []
        assert tf.zeros(2).device == CPU and (tf.ones(2) + 1).device == CPU
    finally:
        tf.config.set_visible_devices(tf.config.list_physical_devices("GPU"), "GPU")
    assert tf.zeros(2).device == GPU


def test_processes_that_are_forked_stay_on_the_host():
    assert tf.zeros(1).device == GPU
    reader, writer = os.pipe()
    child = os.fork()
    if not child:  # which could not use the parent's device
        os.write(writer, str((tf.ones(2) + 1).device).encode())
        os._exit(0)
    os.close(writer)
    assert os.read(reader, 200).decode() == CPU
    os.close(reader)
    os.waitpid(child, 0)
    assert tf.zeros(1).device == GPU


# --- computing

def test_operators():
    same(lambda x, y: [x + y, x * 2, tf.exp(x), tf.reduce_mean(x, 0), tf.nn.softmax(x), tf.math.top_k(x, 2)[0],
                       tf.argsort(x), tf.transpose(x), tf.sort(x), tf.cumsum(x, 1), tf.one_hot(tf.argmax(x, 1), 5)],
         floats(3, 5), floats(3, 5))
    same(lambda x, w: [tf.nn.conv2d(x, w, 1, "SAME"), tf.nn.max_pool2d(x, 2, 2, "VALID"),
                       tf.image.resize(x, (3, 3)), tf.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]])],
         floats(2, 6, 6, 3), floats(3, 3, 3, 4))
    same(lambda x: [tf.linalg.inv(x), tf.linalg.det(x), tf.linalg.matvec(x, x[0]), tf.norm(x)],
         floats(3, 3) + 3 * np.eye(3, dtype="float32"))
    same(lambda x: [tf.math.segment_sum(x, [0, 0, 1]), tf.tensor_scatter_nd_update(x, [[0]], x[1:2]),
                    tf.gather_nd(x, [[0, 1], [2, 0]]), tf.reverse(x, [0]), tf.split(x, 2, 1)[1], tf.unique(x[:, 0])[0],
                    tf.clip_by_norm(x, 1.0), tf.repeat(x, 2, 0), tf.tile(x, [1, 2])], floats(3, 4))


def test_random_numbers_are_the_cpus():
    tf.random.set_seed(3)
    first = tf.random.normal((5,), seed=1)
    tf.random.set_seed(3)
    with tf.device("CPU:0"):
        second = tf.random.normal((5,), seed=1)
    assert first.device == GPU and second.device == CPU
    np.testing.assert_allclose(first.numpy(), second.numpy(), rtol=1e-5, atol=1e-5)
    same(lambda: tf.random.stateless_uniform((4,), (1, 2)))
    generator = tf.random.Generator.from_seed(5)
    numbers = generator.normal((3,)).numpy()
    with tf.device("CPU:0"):
        np.testing.assert_allclose(tf.random.Generator.from_seed(5).normal((3,)).numpy(), numbers, rtol=1e-5, atol=1e-5)


def test_variables():
    v = tf.Variable([1.0, 2.0])
    with tf.device("CPU:0"):
        value, held = tf.constant([3.0, 4.0]), tf.Variable([1.0, 2.0])
    v.assign(value)
    kept = v.read_value()
    v.assign_add(value)
    assert v.device == GPU and v.numpy().tolist() == [6, 8] and kept.numpy().tolist() == [3, 4]
    held.assign(v)
    kept = held.read_value()
    held.assign_sub(tf.constant([1.0, 1.0]))
    assert held.device == CPU and held.numpy().tolist() == [5, 7] and kept.numpy().tolist() == [6, 8]
    assert (held + v).device == GPU and tf.Variable(3).device == CPU
    v.scatter_nd_update([[0]], [9.0])
    assert v.numpy().tolist() == [9, 8] and v[:1].numpy().tolist() == [9]


def test_gradients_cross():
    with tf.device("CPU:0"):
        w = tf.Variable(floats(3, 2))
        x = tf.constant(floats(4, 3))
    b = tf.Variable(floats(2))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        loss = tf.reduce_sum(tf.tanh(x @ w + b) ** 2)
    assert loss.device == GPU
    of_w, of_b, of_x = tape.gradient(loss, [w, b, x])
    with tf.device("CPU:0"), tf.GradientTape() as tape:
        c = tf.Variable(b.numpy())
        loss = tf.reduce_sum(tf.tanh(x @ w + c) ** 2)
    for found, wanted in zip((of_w, of_b), tape.gradient(loss, [w, c])):
        np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-4, atol=1e-5)
    assert of_x.shape == x.shape
    with tf.GradientTape() as tape:
        y = b * 2
    with tf.device("CPU:0"):
        seed = tf.constant([1.0, 3.0])
    np.testing.assert_allclose(tape.gradient(y, b, output_gradients=seed).numpy(), [2, 6])


def test_gradients_of_ones_own_cross():
    @tf.custom_gradient
    def doubled(x):
        return x * 2, lambda dy: dy * 3
    with tf.device("CPU:0"):
        x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = doubled(x)
    assert y.device == GPU and tape.gradient(y, x).numpy().tolist() == [3, 3]
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_sum(x ** 3)
        first = inner.gradient(y, x)
        z = x * tf.constant([2.0, 1.0])
    assert tape.gradient(first, x).numpy().tolist() == [6, 12]
    assert tape.jacobian(z, x).numpy().tolist() == [[2, 0], [0, 1]]


def test_functions():
    @tf.function
    def g(x):
        with tf.device("CPU:0"):
            y = x * 2
        return y + 1, tf.shape(x)[0]
    x = tf.constant([1.0, 2.0])
    for _ in range(2):
        y, size = g(x)
        assert y.device == GPU and y.numpy().tolist() == [3, 5] and int(size) == 2
    with tf.device("CPU:0"):
        host = tf.constant([1.0, 2.0])
        assert g(host)[0].device == CPU and g(host)[0].numpy().tolist() == [3, 5]
    assert g(host)[0].numpy().tolist() == [3, 5] and g(x)[0].device == GPU


def test_functions_with_loops_and_state():
    v = tf.Variable([0.0, 0.0])

    @tf.function
    def step(x, n):
        for _ in tf.range(n):
            v.assign_add(x)
        if tf.reduce_sum(v) > 100:
            v.assign(tf.zeros_like(v))
        return tf.reduce_sum(v)
    x = tf.constant([1.0, 2.0])
    assert [float(step(x, tf.constant(3))) for _ in range(3)] == [9, 18, 27]
    assert float(step(x, tf.constant(100))) == 0 and v.device == GPU


def test_an_optimizer_of_ones_own():
    def train():
        tf.random.set_seed(1)
        w, b = tf.Variable(tf.ones((3, 2)) * 0.1), tf.Variable(tf.zeros(2))
        optimizer = tf.keras.optimizers.Adam(0.1)
        x = tf.constant(np.arange(12, dtype="float32").reshape(4, 3) / 10)
        y = tf.constant([0, 1, 1, 0])

        @tf.function
        def step():
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, x @ w + b))
            optimizer.apply_gradients(zip(tape.gradient(loss, [w, b]), [w, b]))
            return loss
        losses = [float(step()) for _ in range(4)]
        return losses, [v.device for v in optimizer.variables if v.dtype == "float32" and v.ndim]
    with tf.device("CPU:0"):
        wanted, places = train()
        assert set(places) == {CPU}
    found, places = train()
    assert set(places) == {GPU}
    np.testing.assert_allclose(found, wanted, rtol=1e-4)


# --- data

def test_datasets_stay_on_the_host():
    x = floats(10, 3)
    data = tf.data.Dataset.from_tensor_slices((x, np.arange(10))).shuffle(10, seed=1).map(
        lambda a, b: (a * 2, b), num_parallel_calls=2).batch(4).prefetch(2)
    count = 0
    for a, b in data:
        assert a.device == CPU and b.device == CPU
        np.testing.assert_allclose((a + 1).numpy(), x[b.numpy()] * 2 + 1, rtol=1e-6)
        assert (a + 1).device == GPU
        count += len(b)
    assert count == 10


@pytest.mark.parametrize("way", ["copy_to_device", "prefetch_to_device"])
def test_datasets_on_the_device(way):
    moved = tf.data.Dataset.range(5).map(lambda i: tf.cast(i, tf.float32)).batch(2).apply(
        getattr(tf.data.experimental, way)("/gpu:0"))
    parts = list(moved)
    assert all(part.device == GPU for part in parts)
    assert np.concatenate([part.numpy() for part in parts]).tolist() == [0, 1, 2, 3, 4]


# --- saving

def test_checkpoints(tmp_path):
    v = tf.Variable([1.0, 2.0])
    tf.train.Checkpoint(v=v).save(str(tmp_path / "there"))
    v.assign([0.0, 0.0])
    path = tf.train.latest_checkpoint(str(tmp_path))
    tf.train.Checkpoint(v=v).restore(path).assert_consumed()
    assert v.numpy().tolist() == [1, 2] and v.device == GPU
    with tf.device("CPU:0"):
        other = tf.Variable([0.0, 0.0])
    tf.train.Checkpoint(v=other).restore(path)
    assert other.numpy().tolist() == [1, 2] and other.device == CPU


def test_saved_model(tmp_path):
    class Scale(tf.Module):
        def __init__(self):
            self.w = tf.Variable([2.0, 3.0])

        @tf.function(input_signature=[tf.TensorSpec([None, 2])])
        def __call__(self, x):
            return x * self.w
    tf.saved_model.save(Scale(), str(tmp_path))
    assert os.path.exists(tmp_path / "saved_model.pb")
    again = tf.saved_model.load(str(tmp_path))
    found = again(tf.constant([[1.0, 1.0]]))
    assert found.device == GPU and found.numpy().tolist() == [[2, 3]] and again.w.device == GPU


# --- strategies

@pytest.mark.parametrize("make", [lambda: tf.distribute.OneDeviceStrategy("/gpu:0"), tf.distribute.MirroredStrategy])
def test_strategies(make):
    strategy = make()
    with strategy.scope():
        v = tf.Variable([1.0, 2.0])
    found = strategy.run(lambda: v * 2)
    assert v.device == GPU and found.device == GPU and strategy.extended.worker_devices == (GPU,)
    total = strategy.reduce("SUM", found, axis=None)
    assert total.numpy().tolist() == [2, 4] and strategy.num_replicas_in_sync == 1


def test_one_device_strategy_on_the_host():
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    with strategy.scope():
        v = tf.Variable([1.0, 2.0])
    assert v.device == CPU and strategy.run(lambda: tf.zeros(2) + v).device == CPU
