"""The families of mappings: importing them fills the table."""
from dragon.onnx import (activation, array, attention, control, convolution, gradients, index, linalg,  # noqa: F401
                         loss, math, matmul, memory, normalization, notes, optimizers, pooling, random, recurrent,
                         reduction, sort, vision, warping)
