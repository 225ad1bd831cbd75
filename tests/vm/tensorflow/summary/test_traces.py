"""Graphs of functions for TensorBoard: noted between `trace_on` and `trace_export`, and read by genuine TensorFlow."""
import glob

import pytest

from dragon.vm import tensorflow as tf
from harness import genuine


@pytest.fixture(autouse=True)
def nothing_is_on():
    yield
    tf.summary.trace_off()


def test_graphs_of_functions_that_were_called(tmp_path):
    @tf.function
    def before(x):
        return x - 1

    @tf.function
    def during(x):
        return tf.nn.relu(x @ x)
    before(tf.ones([2, 2]))
    writer = tf.summary.create_file_writer(str(tmp_path))
    tf.summary.trace_on(graph=True)
    during(tf.ones([2, 2]))
    during(tf.ones([2, 2]))
    with writer.as_default():
        tf.summary.trace_export("mine", step=7)
    before(tf.ones([2, 2]))
    writer.close()
    path, = glob.glob(str(tmp_path / "*"))
    event = [one for one in genuine.tf.compat.v1.train.summary_iterator(path) if one.summary.value][-1]
    value = event.summary.value[0]
    assert (event.step, value.tag, value.metadata.plugin_data.plugin_name) == (7, "mine", "graph_run_metadata_graph")
    read = genuine.tf.compat.v1.RunMetadata.FromString(genuine.tf.make_ndarray(value.tensor).item())
    assert [[node.op for node in one.pre_optimization_graph.node] for one in read.function_graphs] == [
        ["Placeholder", "BatchMatMulV2", "Relu", "Identity"]]


def test_profiles_beside_graphs(tmp_path):
    tf.summary.trace_on(graph=False, profiler=True, profiler_outdir=str(tmp_path))
    tf.ones([2]) + 1
    tf.summary.trace_export("profile", step=0)
    assert list(tmp_path.rglob("*.pb")) or list(tmp_path.rglob("*trace*"))


def test_wrong_uses(caplog):
    with pytest.raises(ValueError, match="expected tf.summary.trace_on before"):
        tf.summary.trace_export("x", step=0)
    with pytest.raises(ValueError, match="expected a folder"):
        tf.summary.trace_on(profiler=True)
    tf.summary.trace_on()
    tf.summary.trace_on()
    assert "Trace already enabled" in caplog.text
    tf.summary.trace_off()
    tf.summary.trace_off()
