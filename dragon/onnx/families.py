"""The families of mappings: importing them fills the table."""
from dragon.onnx import (array, attention, boxes, control, convolution, gradients, index,  # noqa: F401
                         loss, math, matmul, memory, normalization, notes, optimizers, placing, pooling,
                         random, recurrent, reduction, sort, vision, warping)
