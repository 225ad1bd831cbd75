"""Examples of what is made by rows of tables, and so has no docstring of its own to hold them: by module and name."""
EXAMPLES = """
[tensorflow.core.numbers.elementwise]
exp
>>> tf.exp([0.0, 1.0])
<tf.Tensor: shape=(2,), dtype=float32, numpy=array([1.       , 2.7182817], dtype=float32)>
sigmoid
>>> tf.sigmoid([0.0, 100.0])
<tf.Tensor: shape=(2,), dtype=float32, numpy=array([0.5, 1. ], dtype=float32)>
sqrt
>>> tf.sqrt([4.0, 9.0])
<tf.Tensor: shape=(2,), dtype=float32, numpy=array([2., 3.], dtype=float32)>
square
>>> tf.square([2, -3])
<tf.Tensor: shape=(2,), dtype=int32, numpy=array([4, 9], dtype=int32)>
[tensorflow.nn.activations]
relu
>>> tf.nn.relu([-1.0, 2.0])
<tf.Tensor: shape=(2,), dtype=float32, numpy=array([0., 2.], dtype=float32)>
"""
