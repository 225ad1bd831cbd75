"""Names beside genuine ones: convolutions of any batches, cells in wrappers, sequences, clusters, graphs in files."""
import warnings

import numpy as np
import pytest

from dragon.vm import keras, tensorflow as ours
from harness import genuine
from harness.expressions import check, evaluate
from harness.subresults import each

IMAGES = """
x = tf.reshape(tf.range(2 * 4 * 4 * 2.), [2, 4, 4, 2])
f = tf.reshape(tf.range(2 * 2 * 2 * 3.), [2, 2, 2, 3])
"""
CONVOLUTIONS = """
tf.conv(x, f, [1, 1, 1, 1], "SAME")
tf.conv(x, f, [1, 2, 2, 1], "VALID")
tf.conv(x, f, [1, 2, 2, 1], "EXPLICIT", [0, 0, 1, 1, 0, 2, 0, 0])
tf.conv(x, f, [1, 2, 2, 1], "EXPLICIT")
tf.conv(x, f, [1, 2, 2, 1], "SAME", [0, 0, 1, 1, 0, 2, 0, 0])
tf.conv(tf.stack([x, x]), f, [1, 1, 1, 1], "SAME", batch_dims=2)
tf.conv(x[0], f, [1, 1, 1, 1], "SAME", batch_dims=0)
tf.conv(x, f, [1, 1, 1, 1], "VALID", dilations=[1, 2, 2, 1])
tf.conv(x[:, 0], f[0], [1, 1, 1], "VALID")
tf.conv(tf.ones([1, 3, 3, 3, 2]), tf.ones([2, 2, 2, 2, 3]), [1, 1, 1, 1, 1], "VALID")
tf.conv(tf.cast(x, tf.int32), tf.cast(f, tf.int32), [1, 1, 1, 1], "VALID")
tf.conv(x, f, [1, 1, 1, 1], "BLA")
tf.conv(x, f, [1, 1, 1, 1], "SAME", data_format="NHWC")
tf.conv(x, f, [2, 1, 1, 1], "SAME")
tf.conv(x, f, [1], "SAME")
tf.nn.with_space_to_batch(x, [2, 2], "SAME", lambda c, n, p: tf.nn.conv2d(c, f, 1, p), filter_shape=[2, 2])
tf.nn.with_space_to_batch(x, [2, 2], "SAME", lambda c, n, p: tf.nn.conv2d(c, f, 1, p))
tf.nn.with_space_to_batch(x, [2, 2], "VALID", lambda c, n, p: tf.nn.conv2d(c, f, 1, p))
tf.nn.with_space_to_batch(x, [1, 1], "VALID", lambda c, n, p: tf.nn.conv2d(c, f, 1, p))
tf.nn.with_space_to_batch(x, [1, 2], "VALID", lambda c, n, p: tf.nn.conv2d(c, f, 1, p))
tf.nn.with_space_to_batch(x, [0, 2], "VALID", lambda c, n, p: c)
tf.nn.with_space_to_batch(x, [2], "VALID", lambda c, n, p: c, spatial_dims=[2])
tf.nn.with_space_to_batch(x, [2], "VALID", lambda c, n, p: c, spatial_dims=[0])
tf.nn.with_space_to_batch(x, [[2]], "VALID", lambda c, n, p: c)
tf.nn.with_space_to_batch(x, [2, 2], "X", lambda c, n, p: c)
tf.nn.with_space_to_batch(tf.transpose(x, [0, 3, 1, 2]), [2, 2], "VALID", lambda c, n, p: c, data_format="NCHW")
"""
EXPRESSIONS = """
tf.random.experimental.index_shuffle(tf.range(4), [5, 9], 3)
tf.random.experimental.index_shuffle(tf.range(4), [5, 9, 3], 3)
tf.random.experimental.index_shuffle(5, [5, 9], 3)
tf.random.experimental.index_shuffle(-1, [5, 9], 3)
tf.random.experimental.index_shuffle(tf.constant(1, tf.int64), [5, 9], 10 ** 12)
tf.random.experimental.index_shuffle(np.uint64(1), [5, 9], 10 ** 12)
tf.random.experimental.index_shuffle(1., [5, 9], 3)
tf.random.experimental.index_shuffle([[1]], [5, 9], 3)
tf.random_index_shuffle(1, [5, 9, 1], 3)
tf.random_index_shuffle([1, 2], [5, 9, 1], [3], rounds=6)
tf.random_index_shuffle([1, 2], [[5, 9, 1], [-4, 8, 2]], [3, 100000], rounds=6)
tf.random_index_shuffle(index=0, seed=[5, 9, 1], max_index=0)
tf.random_index_shuffle(tf.constant([7, 2]), [-5, 9, 2 ** 31 - 1], tf.constant([70000, 3]))
tf.math.sobol_sample(3, 5)
tf.math.sobol_sample(2, 3, 4, tf.float64)
tf.math.sobol_sample(0, 5)
tf.math.sobol_sample(21201, 5)
tf.math.sobol_sample(1, 0)
tf.math.sobol_sample(1, 1, -1)
tf.math.sobol_sample(1.5, 1)
tf.math.sobol_sample(1, 2, dtype=tf.int32)
tf.math.sobol_sample(1, 2, 2 ** 31 - 2)
tf.math.sobol_sample(21200, 2)[:, -3:]
tf.math.sobol_sample(tf.constant(2), tf.constant(2), 1000000)
tf.constant_initializer(3)([2], tf.int32)
tf.constant_initializer([1, 2, 3])([2])
tf.constant_initializer([1, 2])([2, 2])
tf.constant_initializer([1, 2, 3, 4])([2, 2])
tf.constant_initializer(3, True)([3], partition_shape=[1], partition_offset=[0])
tf.constant_initializer(3)([3], partition_shape=[1], partition_offset=[0])
tf.constant_initializer(3)([3], foo=1)
tf.constant_initializer([3]).get_config()
repr(tf.IndexedSlicesSpec([3, 2], tf.float32, tf.int64, tf.int32, [2]))
repr(tf.type_spec_from_value(tf.IndexedSlices(tf.ones([2, 2]), tf.constant([0, 1]), tf.constant([3, 2]))))
tf.IndexedSlicesSpec([3, 2]).is_compatible_with(tf.IndexedSlices(tf.ones([2, 2]), tf.range(2), tf.fill(2, 2)))
tf.IndexedSlicesSpec([3, 2], tf.float32, tf.int32, tf.int32).is_compatible_with(tf.IndexedSlicesSpec([3, 2]))
tf.RaggedTensor([1, 2], None)
tf.RaggedTensor([1, 2], None, True)
tf.RaggedTensor(tf.constant([1, 2]), [1], True)
tf.RaggedTensor(tf.range(5), tf.experimental.RowPartition.from_row_lengths([2, 0, 3]), True).row_lengths()
tf.experimental.RowPartition([0, 2], internal=True)
tf.distribute.StrategyExtended(3)
tf.RegisterGradient(3)
tf.no_gradient(3)
tf.RegisterGradient("Add")(lambda op, grad: grad)
[(one.name, one.size, one.min, one.max, one.is_integer, one.is_numeric, one.as_datatype_enum) for one in \
(tf.experimental.int4, tf.experimental.uint4, tf.experimental.int2, tf.experimental.uint2)]
[(one.name, one.size, one.is_floating) for one in (tf.experimental.float8_e4m3b11fnuz, tf.experimental.float4_e2m1fn)]
tf.experimental.int4.limits
tf.io.write_graph(3, "x", "y")
tf.test.assert_equal_graph_def(3, 4)
tf.load_library("nowhere.so")
tf.load_op_library("nowhere.so")
tf.experimental.register_filesystem_plugin("nowhere.so")
tf.distribute.MultiWorkerMirroredStrategy().num_replicas_in_sync
tf.config.experimental_connect_to_host()
tf.nest.flatten(tf.ragged.constant([[[1]], [[2, 3], []]]), expand_composites=True)
tf.nest.flatten(tf.sparse.from_dense([[1, 0], [0, 2]]), expand_composites=True)
tf.nest.map_structure(lambda x: x + x, tf.ragged.constant([[1], [2, 3], []]), expand_composites=True).values
tf.nest.map_structure(lambda x: x, tf.sparse.from_dense([[1, 0], [0, 2]]), expand_composites=True).values
[tf.is_tensor(x) for x in (tf.ragged.constant([[1]]), tf.sparse.from_dense([[1]]), tf.linalg.LinearOperatorDiag([1.]))]
tf.linalg.solve(tf.eye(3, batch_shape=[2]), tf.ones([2, 3]))
tf.linalg.solve(tf.eye(3, batch_shape=[3]), tf.ones([3, 3]))
tf.linalg.solve(tf.eye(3, batch_shape=[2]), tf.ones([1, 3, 1]))
tf.linalg.solve(tf.eye(3, batch_shape=[2]), tf.ones([2, 3, 1]))
tf.linalg.solve(tf.eye(3), tf.ones([2, 3, 1]))
"""


@each("text", CONVOLUTIONS.strip().split("\n"))
def test_convolutions(text):
    check(f"{IMAGES}\nreturn {text}")


@each("text", EXPRESSIONS.strip().split("\n"))
def test_expression(text):
    if "write_graph" in text or "StrategyExtended" in text:
        with pytest.raises(TypeError):
            raise evaluate(text, ours)
    else:
        check(text)


def test_places_of_a_permutation_are_all_there_once():
    for last in (1, 2, 300, 65536):
        places = ours.random.experimental.index_shuffle(ours.range(last + 1), [last, 7], last).numpy()
        assert sorted(places) == list(range(last + 1))


def test_other_axes_are_transformed_by_operators_too():
    x = ours.complex(ours.reshape(ours.range(12.0), [3, 4]), ours.ones([3, 4]))  # genuine kernels are on TPUs alone
    assert np.allclose(ours.fftnd(x, [2, 4], [0, 1]), np.fft.fft2(x.numpy(), (2, 4)))
    assert np.allclose(ours.ifftnd(input=x, fft_length=[3], axes=[0]), np.fft.ifft(x.numpy(), axis=0))
    real = ours.math.real(x)
    made = ours.rfftnd(real, [3, 4], [0, 1], Tcomplex=ours.complex128)
    assert made.dtype == ours.complex128 and np.allclose(made, np.fft.rfft2(real.numpy()))
    assert np.allclose(ours.irfftnd(made, [3, 4], [0, 1]), real, atol=1e-5)
    with pytest.raises(TypeError, match="Tcomplex"):
        ours.rfftnd(real, [3, 4], [0, 1], ours.float32)


@pytest.mark.parametrize("padding, explicit", [("SAME", ()), ("VALID", ()), ("EXPLICIT", [0, 0, 1, 0, 2, 1, 0, 0])])
def test_gradients_of_convolutions_by_name(padding, explicit):
    x = ours.reshape(ours.range(2 * 5 * 4 * 2.0), [2, 5, 4, 2])  # of which genuine kernels are on GPUs alone
    kernel = ours.reshape(ours.range(2 * 3 * 2 * 3.0), [2, 3, 2, 3])
    pads = padding if not explicit else [explicit[place:place + 2] for place in range(0, 8, 2)]
    with ours.GradientTape(persistent=True) as tape:
        tape.watch([x, kernel])
        made = ours.nn.conv2d(x, kernel, [1, 2, 1, 1], pads)
    slope = ours.sin(ours.reshape(ours.range(float(made.numpy().size)), made.shape))
    for function, source in ((ours.conv2d_backprop_input_v2, x), (ours.conv2d_backprop_filter_v2, kernel)):
        found = function(x, kernel, slope, [1, 2, 1, 1], padding, explicit_paddings=explicit)
        assert np.allclose(found, tape.gradient(made, source, slope), atol=1e-4)


def make_cells(tf):
    class Double(tf.keras.layers.Layer):
        state_size = output_size = 3

        def call(self, inputs, states):
            return inputs * 2, states
    return Double


def test_cells_in_wrappers():
    for tf in (ours, genuine.tf):
        kind, x = make_cells(tf), tf.ones([2, 3])
        made, state = tf.nn.RNNCellResidualWrapper(kind())(x, x)
        assert made.numpy().tolist() == [[3] * 3] * 2 and state.numpy().tolist() == [[1] * 3] * 2
        assert tf.nn.RNNCellResidualWrapper(kind(), lambda i, o: o * 10)(x, x)[0].numpy().tolist() == [[20] * 3] * 2
        placed = tf.nn.RNNCellDeviceWrapper(kind(), "/cpu:0")
        assert placed(x, x)[0].numpy().tolist() == [[2] * 3] * 2 and placed.state_size == 3
        dropped = tf.nn.RNNCellDropoutWrapper(kind(), 1, 0.5, 0.5, seed=3)
        made, state = dropped(x, x)
        assert set(made.numpy().ravel()) <= {0, 4} and set(state.numpy().ravel()) <= {0, 2}
        same = tf.nn.RNNCellDropoutWrapper(kind(), 0.5, variational_recurrent=True, dtype=tf.float32,
                                           input_size=tf.TensorShape([3]))
        assert np.array_equal(same(x, x)[0], same(x, x)[0])
        for wrong in (dict(input_keep_prob=1.5), dict(variational_recurrent=True),
                      dict(input_keep_prob=0.5, variational_recurrent=True, dtype=tf.float32)):
            with pytest.raises(ValueError):
                tf.nn.RNNCellDropoutWrapper(kind(), **wrong)
        with pytest.raises(TypeError):
            tf.nn.RNNCellDropoutWrapper(kind(), dropout_state_filter_visitor=3)


def test_wrapped_cells_run_in_layers_and_come_back_from_their_configurations():
    cell = keras.layers.LSTMCell(3)
    wrapped = ours.nn.RNNCellResidualWrapper(cell)
    made = keras.layers.RNN(wrapped)(ours.ones([2, 4, 3]))
    outputs = keras.layers.RNN(cell, return_sequences=True)(ours.ones([2, 4, 3]))
    assert np.allclose(made, outputs[:, -1] + 1)
    again = type(wrapped).from_config(wrapped.get_config())
    assert again.cell.units == 3 and type(again.cell) is keras.layers.LSTMCell
    dropped = ours.nn.RNNCellDropoutWrapper(cell, 0.5, seed=4)
    config = type(dropped).from_config(dropped.get_config()).get_config()
    assert (config["input_keep_prob"], config["seed"]) == (0.5, 4)
    assert [one.shape[-1] for one in dropped.get_initial_state(batch_size=2, dtype=ours.float64)] == [3, 3]
    with pytest.raises(TypeError, match="state_size|call|output_size"):
        ours.nn.RNNCellResidualWrapper(3)


def test_states_are_dropped_where_a_function_says_so():
    cell = keras.layers.LSTMCell(50)
    wrapped = ours.nn.RNNCellDropoutWrapper(cell, state_keep_prob=0.5, seed=1,
                                            dropout_state_filter_visitor=lambda state: [True, False])
    state = [ours.ones([1, 50]), ours.ones([1, 50])]
    _, (hidden, carried) = wrapped(ours.ones([1, 3]), state)
    _, (plain, same) = cell(ours.ones([1, 3]), state)
    assert np.array_equal(carried, same)
    kept = hidden.numpy() != 0
    assert 5 < kept.sum() < 45 and np.allclose(hidden.numpy()[kept], 2 * plain.numpy()[kept])


CLUSTERS = """
c.SerializeToString() and tf.train.ClusterDef.FromString(c.SerializeToString()) == c
str(c)
[dict(c.job[0].tasks), c.job[0].tasks[7], len(c.job[0].tasks)]
str(tf.train.ClusterSpec({"worker": ["a:1", "b:2"], "ps": {3: "c"}}).as_cluster_def())
tf.train.ClusterSpec(c).as_dict()
tf.train.JobDef(tasks={"a": "b"})
tf.train.JobDef(tasks={1: 3})
str(tf.train.ServerDef(cluster=c, job_name="worker", task_index=1, protocol="grpc", port=3))
"""


@pytest.mark.parametrize("text", CLUSTERS.strip().split("\n"))
def test_clusters_as_messages(text):
    check("c = tf.train.ClusterDef(job=[tf.train.JobDef(name='worker', tasks={0: 'a:1', 1: 'b:2'}), "
          f"tf.train.JobDef(name='ps', tasks={{3: 'c'}})])\nreturn {text}")


def test_messages_are_the_same_bytes_on_both_sides():
    made = ours.train.ServerDef(cluster=ours.train.ClusterSpec({"a": {5: "x"}}).as_cluster_def(), port=7, task_index=2)
    assert genuine.tf.train.ServerDef.FromString(made.SerializeToString()).SerializeToString() == (
        made.SerializeToString())
    config = ours.test.benchmark_config().SerializeToString()
    assert config == genuine.tf.test.benchmark_config().SerializeToString()


def test_graphs_go_into_files(tmp_path):
    graph = ours.function(lambda x: x + 1).get_concrete_function(ours.TensorSpec([2])).graph
    path = ours.io.write_graph(graph, str(tmp_path / "folder"), "graph.pbtxt")
    assert 'op: "Placeholder"' in open(path, encoding="utf-8").read()
    path = ours.io.write_graph(graph.as_graph_def(), tmp_path, "graph.pb", as_text=False)
    read = genuine.tf.compat.v1.GraphDef.FromString(open(path, "rb").read())
    assert [node.op for node in read.node] == [node.op for node in graph.as_graph_def().node]
    from google.protobuf import text_format
    text = open(tmp_path / "folder" / "graph.pbtxt", encoding="utf-8").read()
    assert text_format.Parse(text, genuine.tf.compat.v1.GraphDef()) == read
    ours.test.assert_equal_graph_def(graph.as_graph_def(), graph.as_graph_def())
    other = ours.function(lambda x: x * 2).get_concrete_function(ours.TensorSpec([2])).graph.as_graph_def()
    for one, two in ((graph.as_graph_def(), other), (other, graph.as_graph_def())):
        with pytest.raises(AssertionError):
            ours.test.assert_equal_graph_def(one, two)


def test_one_process_says_what_it_does_not_do(monkeypatch):
    cluster = ours.train.ClusterSpec({"worker": ["a:1", "b:2"]})
    monkeypatch.setenv("TF_CONFIG", '{"cluster": {"worker": ["a:1", "b:2"]}, "task": {"type": "worker", "index": 0}}')
    for call in (lambda: ours.config.experimental_connect_to_cluster(cluster),
                 lambda: ours.config.experimental_connect_to_host("a:1")):
        with pytest.raises(NotImplementedError, match="expected work"):
            call()
    monkeypatch.setenv("TF_CONFIG", '{"cluster": {"worker": ["a:1"]}}')
    strategy = ours.distribute.MultiWorkerMirroredStrategy()
    assert strategy.num_replicas_in_sync == 1 and ours.distribute.StrategyExtended(strategy) is strategy.extended


def test_gradients_are_registered_once():
    assert ours.RegisterGradient("Of a test")(len) is len and ours.no_gradient("Of another test") is None
    for name in ("Of a test", "Of another test"):
        with pytest.raises(KeyError, match="Registering two gradient with name"):
            ours.no_gradient(name)


def test_strict_mode_makes_warnings_errors():
    with warnings.catch_warnings():
        ours.experimental.enable_strict_mode()
        with pytest.raises(DeprecationWarning):
            warnings.warn_explicit("old", DeprecationWarning, "x.py", 1, module="dragon.vm.tensorflow.x")
        warnings.simplefilter("error", append=True)
        assert warnings.filters[0][2] is DeprecationWarning


def test_dtypes_known_by_name_say_so():
    for name in ("int4", "uint4", "int2", "uint2", "float8_e4m3b11fnuz", "float4_e2m1fn"):
        dtype = getattr(ours.experimental, name)
        assert ours.as_dtype(name) is dtype and ours.TensorSpec([1], dtype).dtype == dtype
        with pytest.raises(TypeError, match=f"got dtype {name}, expected one that tensors have"):
            ours.cast([1.0], dtype)


def test_where_calls_run_is_logged_once(caplog):
    ours.debugging.set_log_device_placement(True)
    try:
        assert ours.debugging.get_log_device_placement() is True
        assert "each runs on the device of its operands" in caplog.text and "CPU:0" in caplog.text
    finally:
        ours.debugging.set_log_device_placement(False)
    assert ours.debugging.get_log_device_placement() is False
