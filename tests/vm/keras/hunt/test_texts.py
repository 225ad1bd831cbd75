"""What programs print."""
from dragon.vm import tensorflow
from harness import genuine


def test_sparse_tensors():
    said = [str(tf.sparse.SparseTensor([[0, 1], [2, 0]], [1.0, 2.0], [3, 2])) for tf in (tensorflow, genuine.tf)]
    assert said[0] == said[1]
