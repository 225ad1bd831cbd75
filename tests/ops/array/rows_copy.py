"""Rows of the copies; also the smallest example of a file of rows."""
from harness import ALL, Row, Sample

SHAPES = [Sample((3,)), Sample((2, 3, 4)), Sample((2, 0)), Sample(())]

ROWS = [
    Row("copy", SHAPES, dtypes=ALL, torch=lambda torch, x: x.clone()),
    Row("clone", SHAPES, dtypes=ALL),
    Row("stop_gradient", SHAPES, dtypes=ALL, gradient=False, torch=lambda torch, x: x.clone()),
    Row("to_row_major", SHAPES, dtypes=ALL, torch=lambda torch, x: x.clone()),
    Row("contiguous", SHAPES, dtypes=ALL, torch=lambda torch, x: x.contiguous()),
]
