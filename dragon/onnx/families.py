"""The families of mappings: importing them fills the table."""
from dragon.onnx import (activation, array, attention, convolution, index, linalg, loss, math, matmul,  # noqa: F401
                         normalization, pooling, random, recurrent, reduction, sort, vision)
