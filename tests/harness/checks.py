"""What is tried with every sample of a row: values, meta execution, strides, `out=`, special numbers, errors."""
import numpy
import pytest

from harness import engine, oracle
from harness.inputs import Input, bind
from harness.row import Given, Sample
from harness.tolerance import compare, tolerance_of

# What a call may raise; whatever else comes is the harness's own mistake.
FAILURES = (AssertionError, ArithmeticError, AttributeError, LookupError, MemoryError, RuntimeError, TypeError,
            ValueError)


def samples_of(row):
    """Return the samples of a row; a pointwise one gets a 0-d and an empty one by itself."""
    samples = list(row.samples)
    if engine.is_pointwise(row) and samples:
        for shape in ((), (0, 3)):
            first = samples[0]
            if all(isinstance(arg, tuple) for arg in first.args):
                samples.append(Sample(*(shape for _ in first.args), **first.kwargs))
    return samples


def call(row, arguments, make=engine.tensor, **more):
    """Return the engine's results for arguments as a tuple."""
    if row.random:
        engine.seed(0)
    args, kwargs = arguments.map(make)
    return oracle.as_tuple(engine.operator(row)(*args, **kwargs, **more))


def chosen(row, results):
    """Return the results that a row compares."""
    return results if row.outputs is None else [results[index] for index in row.outputs]


def canonical(row, arrays):
    """Return arrays in the form in which both sides must agree."""
    if row.canonical is None:
        return list(arrays)
    return [numpy.asarray(array) for array in oracle.as_tuple(row.canonical(numpy, *arrays))]


def report(failures, samples):
    """Fail with one line for each failed sample."""
    if failures:
        pytest.fail(f"{len(failures)} of {len(samples)} samples failed:\n  " + "\n  ".join(failures), pytrace=False)


def walk(row, dtype, check, samples=None):
    """Call check(arguments, note) on every sample; what it notes, and what it raises, becomes a failure."""
    samples = samples_of(row) if samples is None else samples
    failures = []
    for index, sample in enumerate(samples):
        def note(sentence):
            if sentence is not None:
                failures.append(f"{row.name}{sample} in {dtype}: {sentence}")
        try:
            check(bind(row, sample, dtype, index), note)
        except FAILURES as error:
            note(f"{type(error).__name__}: {error}")
    report(failures, samples)


def difference(row, dtype, got, wanted):
    """Return what differs between two lists of arrays, or None."""
    got, wanted = canonical(row, chosen(row, got)), canonical(row, chosen(row, wanted))
    if len(got) != len(wanted):
        return f"{len(got)} results, expected {len(wanted)}"
    found = (compare(a, b, tolerance_of(row, dtype)) for a, b in zip(got, wanted))
    return next((sentence for sentence in found if sentence), None)


def check_values(bound, note):
    """Compare values and dtypes with the oracle."""
    row, dtype, arguments = bound.row, bound.dtype, bound.arguments
    if row.random:
        note(difference(row, dtype, bound.arrays, [engine.array(again) for again in call(row, arguments)]))
        return
    if row.numpy is not None:
        note(difference(row, dtype, bound.arrays, oracle.run_numpy(row, arguments)))
    if row.torch is not None or row.numpy is None:
        wanted, names = oracle.run_torch(row, arguments, dtype)
        note(difference(row, dtype, bound.arrays, wanted))
        for result, name in zip(chosen(row, bound.results), chosen(row, names) if names else ()):
            if engine.is_tensor(result) and name and engine.dtype_name(result) != name:
                note(f"dtype {engine.dtype_name(result)}, expected {name}")


def check_meta(bound, note):
    """Shapes and dtypes without numbers must be those with numbers."""
    for real, shape_only in zip(bound.results, call(bound.row, bound.arguments, engine.meta), strict=True):
        if not engine.is_tensor(real):
            continue
        if tuple(real.shape) != tuple(shape_only.shape) or real.dtype != shape_only.dtype:
            note(f"meta gives {tuple(shape_only.shape)} {shape_only.dtype}, eager {tuple(real.shape)} {real.dtype}")


def spread(array, how):
    """Return the same numbers at other strides; `expanded` first makes axis 0 repeat."""
    if array.ndim == 0 or how == "transposed" and array.ndim < 2:
        return array
    if how == "transposed":
        return numpy.array(array, order="F")
    if how == "stepped":
        wide = numpy.ones(array.shape[:-1] + (array.shape[-1] * 2 + 1,), array.dtype)
        wide[..., 1::2] = array
        return wide[..., 1::2]
    return numpy.broadcast_to(array[:1], array.shape) if array.shape[0] else array


def check_strides(bound, note):
    """Inputs of other strides give the same values."""
    row = bound.row
    mutates = "Tensor!" in str(engine.schema(row.name)["line"]) if row.call is None else False
    for how in ("transposed", "stepped", "expanded"):
        # Of copies: a call may write what it borrows.
        moved = bound.arguments.replace([Input(spread(item.array.copy(), how), item.dtype, item.grad)
                                         for item in bound.arguments.inputs()])
        # Only where axis 0 repeats are the numbers others.
        wanted = [engine.array(result) for result in call(row, moved)] if how == "expanded" else bound.arrays
        got = call(row, moved, lambda item: engine.borrow(numpy.array(item.array) if mutates else item.array))
        sentence = difference(row, bound.dtype, [engine.array(result) for result in got], wanted)
        note(sentence and f"{how} inputs: {sentence}")


def writes_out(row):
    """Whether an operator's results can be written into given tensors."""
    return row.out is True and row.call is None and not engine.is_view(row)


def check_out(bound, note):
    """Results written into given tensors, and over the first input, are the same."""
    row, dtype, arguments, arrays = bound.row, bound.dtype, bound.arguments, bound.arrays
    outs = tuple(engine.garbage(result) for result in bound.results)
    got = call(row, arguments, out=outs if len(outs) > 1 else outs[0])
    if any(a is not b for a, b in zip(got, outs)):
        note("out= does not return the given tensor")
    note(difference(row, dtype, [engine.array(result) for result in outs], arrays))
    first = arguments.inputs()[0] if arguments.inputs() else None
    if (not engine.is_pointwise(row) or len(outs) != 1 or first is None or first.array.shape != arrays[0].shape
            or first.dtype != engine.dtype_name(bound.results[0]) or isinstance(arguments.args[0], list)):
        return
    args, kwargs = arguments.map(engine.tensor)
    if row.random:
        engine.seed(0)
    engine.operator(row)(*args, **kwargs, out=args[0])
    note(difference(row, dtype, [engine.array(args[0])], arrays))


SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, -2.5, float("inf"), float("-inf"), float("nan"), 1e-40, 3e38, -7e37, 88.0, -104.0)


def special_samples(row):
    """Return the sample with every combination of special numbers; none where no general rule makes one."""
    if not row.samples or not engine.is_pointwise(row) or row.special is not True or row.random:
        return []
    first = row.samples[0]
    count = sum(isinstance(arg, (tuple, Given)) for arg in first.args)
    if count == 0 or count > 2 or any(isinstance(arg, Given) for arg in first.args):
        return []
    queue = iter(numpy.meshgrid(*[numpy.array(SPECIAL)] * count, indexing="ij"))
    return [Sample(*(Given(values=next(queue).ravel()) if isinstance(arg, tuple) else arg for arg in first.args),
                   **first.kwargs)]


def check_special(bound, note):
    """NaN, infinities, signed zeros, tiny and huge numbers in every combination: as in PyTorch."""
    row, got = bound.row, bound.arrays
    wanted, _ = oracle.run_torch(row, bound.arguments, bound.dtype)
    note(difference(row, bound.dtype, got, wanted))
    for a, b in zip(got, wanted):
        zeros = (a == 0) & (b == 0) if a.dtype.kind == "f" else numpy.zeros(a.shape, bool)
        wrong = zeros & (numpy.signbit(a) != numpy.signbit(b)) if a.dtype.kind == "f" else zeros
        if wrong.any():
            inputs = [item.array.ravel()[wrong.ravel()][0] for item in bound.arguments.inputs()]
            note(f"the sign of zero differs at {inputs}")


def check_error(bound, note):
    """A wrong call raises the promised class, and the message names the operator and the trouble."""
    row, wrong, arguments = bound.row, bound.sample, bound.arguments
    try:
        call(row, arguments)
        note(f"raised nothing, expected {wrong.error}")
    except wrong.error as error:
        missing = [word for word in (row.name, *wrong.says) if word not in str(error)]
        note(f"{error!s} lacks {missing}" if missing else None)
    except Exception as error:  # whatever came: it is the wrong one
        note(f"{type(error).__name__}: {error}, expected {wrong.error}")
