"""Random tensor programs as models: views, writes in place, mixed dtypes; equal under ONNX Runtime to eager calls."""
import re
import warnings

import numpy
import pytest

pytest.importorskip("onnxruntime")

from harness import exported  # noqa: E402
from harness.programs import REJECTED, genuine_program  # noqa: E402

from dragon import onnx  # noqa: E402
from dragon.onnx.capture import leaves  # noqa: E402
from dragon.vm import torch  # noqa: E402

PER_TEST = 20
LEFT_OUT = re.compile("rand|dropout|bernoulli|normal_|multinomial|uniform_|backward")


def check(seed):
    """Return what differs for one program, or None; "left out" where it draws, differentiates or cannot be said."""
    program = genuine_program(seed)
    if program.differentiates or LEFT_OUT.search(program.source):
        return "left out"
    function, _ = program.function(torch)
    try:
        wanted = [tensor.detach() for tensor in leaves(function(*program.arguments(torch)))]
    except REJECTED:
        return "left out"  # for the tests of eager calls to say
    function, _ = program.function(torch)  # the tensors outside may have been written
    arguments = [tensor.detach() for tensor in program.arguments(torch)]
    try:
        got = exported.run(onnx.export(function, tuple(arguments)), arguments)
    except onnx.ExportError:
        return "left out"
    except Exception as error:
        return "left out" if "NOT_IMPLEMENTED" in str(error) else f"{type(error).__name__}: {error}\n{program}"
    for mine, theirs in zip(wanted, got, strict=True):
        mine = mine.numpy()
        tolerance = 2e-2 if mine.dtype == numpy.float16 else 1e-4
        if mine.shape != theirs.shape or mine.dtype != theirs.dtype or not numpy.allclose(
                theirs.astype("float64"), mine.astype("float64"), tolerance, tolerance, equal_nan=True):
            return f"{theirs}, expected {mine}\n{program}"
    return None


@pytest.mark.parametrize("group", [pytest.param(group, marks=[] if group < 2 else [pytest.mark.slow])
                                   for group in range(20)])
def test_programs_equal_eager(group):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [check(seed) for seed in range(group * PER_TEST, (group + 1) * PER_TEST)]
    assert None in found
    assert not [text for text in found if text not in (None, "left out")]
