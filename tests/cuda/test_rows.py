"""Every row of the operator table gives on the device what it gives on the CPU, and so do its gradients."""
import numpy
import pytest

import dragon
from harness import checks, engine, gradients
from harness.inputs import Input
from harness.rows import load_rows
from harness.tolerance import compare, tolerance_of

ROWS = [row for row in load_rows() if row.call is None and not row.random]
# Sums of thousands of terms that cancel: what is left shows the order in which they were added.
CANCELS = (1e-4, 1e-4)


def over_dtypes(rows):
    """Return parameters (row, dtype); all but the first dtype of a row belong to the long half."""
    return [pytest.param(row, dtype, id=f"{row} in {dtype}", marks=[pytest.mark.slow] if index else [])
            for row in rows for index, dtype in enumerate(row.dtypes)]


def there(item):
    """Return an Input as a tensor on the device."""
    return dragon.ops.to_device(engine.tensor(item), "cuda")


def mover(row):
    """Return what takes a row's Inputs to the device; how many rows packed sequences have is for the host to know."""
    if not row.name.endswith("_packed"):
        return there
    return lambda item: engine.tensor(item) if item.dtype == "int64" else there(item)


def placed(row, arguments):
    """Return the device as an argument, for operators that make tensors of nothing."""
    types = engine.argument_types(row.name)
    return {"device": "cuda"} if "device" in types and not arguments.inputs() else {}


def nowhere(row, arguments):
    """Return whether nothing says where a call's results are to be: an empty list of tensors."""
    return not arguments.inputs() and not placed(row, arguments)


def back(result):
    """Return a result's numbers, once it is known to have come from the device."""
    if engine.is_tensor(result):
        assert str(result.device) == "cuda:0", f"a result on {result.device}"
        result = dragon.ops.to_device(result.detach(), "cpu")
    return engine.array(result)


@pytest.mark.parametrize("row, dtype", over_dtypes(ROWS))
def test_values(row, dtype):
    """The numbers are those of the CPU, within the row's own tolerance."""
    def check(arguments, note):
        if row.name in ("to_device", "pin_memory") or nowhere(row, arguments):
            return
        wanted = [engine.array(result) for result in checks.call(row, arguments)]
        got = [back(result) for result in checks.call(row, arguments, mover(row), **placed(row, arguments))]
        note(checks.difference(row, dtype, got, wanted))
    checks.walk(row, dtype, check)


@pytest.mark.parametrize("row, dtype", over_dtypes([row for row in ROWS if row.strided is True]))
def test_strides(row, dtype):
    """Inputs of other strides give the same numbers."""
    def check(arguments, note):
        if nowhere(row, arguments):
            return
        for how in ("transposed", "stepped"):
            def moved(item):
                return respread(there(item), how)
            wanted = [engine.array(result) for result in checks.call(row, arguments)]
            got = [back(result) for result in checks.call(row, arguments, moved, **placed(row, arguments))]
            sentence = checks.difference(row, dtype, got, wanted)
            note(sentence and f"{how} inputs: {sentence}")
    checks.walk(row, dtype, check)


def respread(x, how):
    """Return the same numbers at other strides."""
    if x.ndim == 0 or how == "transposed" and x.ndim < 2:
        return x
    if how == "transposed":
        order = list(range(x.ndim))[::-1]
        return dragon.ops.permute(dragon.ops.contiguous(dragon.ops.permute(x, order)), order)
    wide = dragon.ops.stack([x, x], x.ndim)
    return dragon.ops.select(wide, x.ndim, 1)


@pytest.mark.parametrize("row", [pytest.param(row, id=str(row)) for row in ROWS if row.differentiable
                                 and "float32" in row.dtypes])
def test_gradients(row):
    """First derivatives are those of the CPU."""
    def derivatives(arguments, items, make, read):
        made = [make(item) for item in items]
        for x, item in zip(made, items):
            x.requires_grad = gradients.wants_grad(item)
        more = {} if make is engine.tensor else placed(row, arguments)
        results = gradients.differentiable_results(row, checks.call(row, arguments, gradients.iter_maker(made), **more))
        cotangents = gradients.cotangents_for(numpy.random.default_rng(7), results)
        leaves = [x for x, item in zip(made, items) if gradients.wants_grad(item)]
        found = engine.grad(results, leaves, [make(item) for item in cotangents])
        return [numpy.zeros(tuple(x.shape)) if dx is None else read(dx) for dx, x in zip(found, leaves)]

    def check(arguments, note):
        items = arguments.inputs()
        if not any(gradients.wants_grad(item) for item in items):
            return
        wanted = derivatives(arguments, items, engine.tensor, engine.array)
        got = derivatives(arguments, items, mover(row), back)
        for index, (mine, theirs) in enumerate(zip(got, wanted, strict=True)):
            close = CANCELS if row.name == "group_norm" else tolerance_of(row, "float32")
            sentence = compare(mine, theirs, close)
            note(sentence and f"gradient {index}: {sentence}")
    checks.walk(row, "float32", check)


@pytest.mark.parametrize("row", [pytest.param(row, id=str(row)) for row in ROWS])
def test_numbers_of_the_host(row):
    """A number that stayed on the host goes with tensors of the device, or is refused in words that name both."""
    def with_number(items, at, make):
        """Return what takes the Inputs over, one of them as a lone number on the host."""
        order = iter(range(len(items)))
        number = Input(items[at].array.reshape(-1)[:1].reshape(()), items[at].dtype, False)
        return lambda item: engine.tensor(number) if next(order) == at else make(item)

    def check(arguments, note):
        items = arguments.inputs()
        for at, item in enumerate(items):
            if len(items) < 2 or item.array.size == 0:
                continue
            try:
                wanted = [engine.array(result) for result in
                          checks.call(row, arguments, with_number(items, at, engine.tensor))]
            except (IndexError, NotImplementedError, RuntimeError, TypeError, ValueError):
                continue  # it takes no number there
            try:
                got = [engine.array(dragon.ops.to_device(result.detach(), "cpu")) for result in
                       checks.call(row, arguments, with_number(items, at, mover(row)))]
            except (RuntimeError, ValueError) as error:
                names_both = "cpu" in str(error) and "cuda" in str(error)
                note(None if names_both else f"a number as operand {at}: {error}")
                continue
            sentence = checks.difference(row, row.dtypes[0], got, wanted)
            note(sentence and f"a number as operand {at}: {sentence}")
    checks.walk(row, row.dtypes[0], check)
