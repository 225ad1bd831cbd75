"""The workshop behind TensorFlow's names."""
from dragon.vm.tensorflow.core import convert, errors, indexing, operators  # noqa: F401
