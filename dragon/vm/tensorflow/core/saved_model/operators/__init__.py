"""TensorFlow's operators that have no row, by families: each file enters its own into the table."""
from dragon.vm.tensorflow.core.saved_model.operators import (  # noqa: F401
    arrays, elementwise, flow, images, lists, ragged, random, records, state, tables, text, windows)
