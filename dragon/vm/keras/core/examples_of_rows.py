"""Examples of what is made by rows of tables, and so has no docstring of its own to hold them: by module and name."""
EXAMPLES = """
[keras.layers.pooling.global_pooling]
GlobalAveragePooling2D
>>> np.asarray(keras.layers.GlobalAveragePooling2D()(np.arange(4.0).reshape(1, 2, 2, 1)))
array([[1.5]], dtype=float32)
GlobalMaxPooling2D
>>> np.asarray(keras.layers.GlobalMaxPooling2D()(np.arange(4.0).reshape(1, 2, 2, 1)))
array([[3.]], dtype=float32)
[keras.layers.pooling.window_pooling]
AveragePooling2D
>>> np.asarray(keras.layers.AveragePooling2D(2)(np.arange(4.0).reshape(1, 2, 2, 1))).ravel()
array([1.5], dtype=float32)
MaxPooling2D
>>> np.asarray(keras.layers.MaxPooling2D()(np.arange(16.0).reshape(1, 4, 4, 1))).squeeze()
array([[ 5.,  7.],
       [13., 15.]], dtype=float32)
[keras.ops.nn.activations]
relu
>>> np.asarray(keras.ops.relu(np.array([-1.0, 2.0], "float32")))
array([0., 2.], dtype=float32)
sigmoid
>>> np.asarray(keras.ops.sigmoid(np.array([0.0, 100.0], "float32")))
array([0.5, 1. ], dtype=float32)
[keras.ops.numpy.pointwise]
abs
>>> np.asarray(keras.ops.abs(np.array([-1, 2])))
array([1, 2])
exp
>>> np.asarray(keras.ops.exp(np.array([0.0, 1.0], "float32")))
array([1.       , 2.7182817], dtype=float32)
log
>>> np.asarray(keras.ops.log(np.array([1.0, 10.0], "float32")))
array([0.       , 2.3025851], dtype=float32)
sqrt
>>> np.asarray(keras.ops.sqrt(np.array([4.0, 9.0], "float32")))
array([2., 3.], dtype=float32)
square
>>> np.asarray(keras.ops.square(np.array([2, -3])))
array([4, 9])
[keras.ops.numpy.reductions]
mean
>>> np.asarray(keras.ops.mean(np.array([[1.0, 2.0], [3.0, 4.0]], "float32"), axis=0))
array([2., 3.], dtype=float32)
sum
>>> np.asarray(keras.ops.sum(np.array([[1, 2], [3, 4]]), axis=1, keepdims=True))
array([[3],
       [7]])
"""
