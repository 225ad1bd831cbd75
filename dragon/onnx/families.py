"""The families of mappings: importing them fills the table."""
from dragon.onnx import (activation, array, attention, control, convolution, index, linalg, loss, math,  # noqa: F401
                         matmul, memory, normalization, pooling, random, recurrent, reduction, sort, vision)
