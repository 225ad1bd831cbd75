"""Distances of sequences, rankings, coordinators and graphs by name."""
import threading

import numpy as np
import pytest

from dragon.vm import tensorflow as ours
from harness import genuine


def distance(tf, normalize):
    """Return the distances of some sequences, an empty one among them."""
    one = tf.SparseTensor([[0, 0], [0, 1], [0, 2], [1, 0], [2, 0]], ["a", "b", "c", "x", "y"], [4, 3])
    other = tf.SparseTensor([[0, 0], [0, 1], [2, 0], [3, 0]], ["a", "c", "y", "z"], [4, 2])
    return tf.edit_distance(one, other, normalize=normalize).numpy().tolist()


@pytest.mark.parametrize("normalize", [True, False])
def test_edit_distance(normalize):
    assert distance(ours, normalize) == distance(genuine.tf, normalize)


def test_edit_distance_refuses():
    with pytest.raises(TypeError, match="truth must be a SparseTensor"):
        ours.edit_distance(ours.sparse.from_dense([[1]]), [[1]])
    with pytest.raises(ours.errors.InvalidArgumentError, match="rank"):
        ours.edit_distance(ours.sparse.from_dense([1]), ours.sparse.from_dense([1]))


def test_rankings():
    x = np.array([[3.0, 1.0, 2.0], [5.0, 9.0, 7.0]], "float32")
    values, places = ours.math.approx_max_k(x, 2)
    assert values.numpy().tolist() == [[3, 2], [9, 7]] and places.numpy().tolist() == [[0, 2], [1, 2]]
    assert ours.nn.approx_min_k(x, 1, reduction_dimension=0)[0].numpy().tolist() == [[3, 1, 2]]
    with pytest.raises(ValueError, match="k must be between"):
        ours.math.approx_max_k(x, 4)


def test_coordinators():
    found, together = [], ours.train.Coordinator()

    def work():
        with together.stop_on_exception():
            while not together.should_stop():
                found.append(1)
                if len(found) > 3:
                    raise ValueError("enough")
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    with pytest.raises(ValueError, match="enough"):
        together.join(threads, stop_grace_period_secs=20)
    together.clear_stop()
    together.request_stop(ours.errors.OutOfRangeError(None, None, "the end"))
    together.join()
    assert together.joined and together.should_stop()


def test_graphs():
    graph = ours.function(lambda x: x + 1).get_concrete_function(ours.constant(1)).graph
    assert isinstance(graph, ours.Graph) and isinstance(graph.get_operations()[0], ours.Operation)
    with pytest.raises(RuntimeError, match="tf.Graph: Dragon runs TensorFlow 2"):
        ours.Graph()
    with pytest.raises(RuntimeError, match="use tf.GradientTape"):
        ours.hessians([], [])
