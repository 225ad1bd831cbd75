"""What is tried with every sample of a row: values, meta execution, strides, `out=`, special numbers, errors."""
import numpy
import pytest

from harness import engine, oracle
from harness.inputs import Arguments, Input, bind
from harness.row import Given, Sample
from harness.tolerance import compare, tolerance_of


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
        except (AssertionError, ArithmeticError, AttributeError, LookupError, MemoryError, RuntimeError, TypeError,
                ValueError) as error:
            note(f"{type(error).__name__}: {error}")
    report(failures, samples)


def difference(row, dtype, got, wanted):
    """Return what differs between two lists of arrays, or None."""
    got, wanted = canonical(row, chosen(row, got)), canonical(row, chosen(row, wanted))
    if len(got) != len(wanted):
        return f"{len(got)} results, expected {len(wanted)}"
    found = (compare(a, b, tolerance_of(row, dtype)) for a, b in zip(got, wanted))
    return next((sentence for sentence in found if sentence), None)


def check_values(row, dtype):
    """Compare values and dtypes with the oracle."""
    def check(arguments, note):
        results = call(row, arguments)
        arrays = [engine.array(result) for result in results]
        if row.random:
            note(difference(row, dtype, arrays, [engine.array(again) for again in call(row, arguments)]))
            return
        if row.numpy is not None:
            note(difference(row, dtype, arrays, oracle.run_numpy(row, arguments)))
        if row.torch is not None or row.numpy is None:
            wanted, names = oracle.run_torch(row, arguments, dtype)
            note(difference(row, dtype, arrays, wanted))
            for result, name in zip(chosen(row, results), chosen(row, names) if names else ()):
                if engine.is_tensor(result) and name and engine.dtype_name(result) != name:
                    note(f"dtype {engine.dtype_name(result)}, expected {name}")
    walk(row, dtype, check)


def check_meta(row, dtype):
    """Shapes and dtypes without numbers must be those with numbers."""
    if engine.is_dynamic(row):
        pytest.skip("the shapes of its results depend on numbers")

    def check(arguments, note):
        for real, shape_only in zip(call(row, arguments), call(row, arguments, engine.meta), strict=True):
            if not engine.is_tensor(real):
                continue
            if tuple(real.shape) != tuple(shape_only.shape) or real.dtype != shape_only.dtype:
                note(f"meta gives {tuple(shape_only.shape)} {shape_only.dtype}, eager {tuple(real.shape)} {real.dtype}")
    walk(row, dtype, check)


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


def check_strides(row, dtype):
    """Inputs of other strides give the same values."""
    if row.strided is not True:
        pytest.skip(str(row.strided))

    def check(arguments, note):
        for how in ("transposed", "stepped", "expanded"):
            moved = arguments.replace([Input(spread(item.array, how), item.dtype, item.grad)
                                       for item in arguments.inputs()])
            wanted = [engine.array(result) for result in call(row, moved)]
            got = call(row, moved, lambda item: engine.borrow(numpy.array(item.array) if mutates else item.array))
            sentence = difference(row, dtype, [engine.array(result) for result in got], wanted)
            note(sentence and f"{how} inputs: {sentence}")
    mutates = "Tensor!" in str(engine.schema(row.name)["line"]) if row.call is None else False
    walk(row, dtype, check)


def check_out(row, dtype):
    """Results written into given tensors, and over the first input, are the same."""
    if row.out is not True or row.call is not None or engine.is_view(row):
        pytest.skip(row.out if isinstance(row.out, str) else "it does not write into tensors")

    def check(arguments, note):
        wanted = [result for result in call(row, arguments)]
        arrays = [engine.array(result) for result in wanted]
        outs = tuple(engine.garbage(result) for result in wanted)
        got = call(row, arguments, out=outs if len(outs) > 1 else outs[0])
        if any(a is not b for a, b in zip(got, outs)):
            note("out= does not return the given tensor")
        note(difference(row, dtype, [engine.array(result) for result in outs], arrays))
        first = arguments.inputs()[0] if arguments.inputs() else None
        if (not engine.is_pointwise(row) or len(wanted) != 1 or first is None or first.array.shape != arrays[0].shape
                or first.dtype != engine.dtype_name(wanted[0]) or isinstance(arguments.args[0], list)):
            return
        args, kwargs = arguments.map(engine.tensor)
        if row.random:
            engine.seed(0)
        engine.operator(row)(*args, **kwargs, out=args[0])
        note(difference(row, dtype, [engine.array(args[0])], arrays))
    walk(row, dtype, check)


SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, -2.5, float("inf"), float("-inf"), float("nan"), 1e-40, 3e38, -7e37, 88.0, -104.0)


def check_special(row, dtype):
    """NaN, infinities, signed zeros, tiny and huge numbers in every combination: as in PyTorch."""
    if not engine.is_pointwise(row) or row.special is not True or not row.samples or dtype not in row.dtypes:
        pytest.skip(row.special if isinstance(row.special, str) else "it is not pointwise")
    first = row.samples[0]
    count = sum(isinstance(arg, (tuple, Given)) for arg in first.args)
    if count == 0 or count > 2 or any(isinstance(arg, Given) for arg in first.args):
        pytest.skip("no general rule for its inputs")
    grids = numpy.meshgrid(*[numpy.array(SPECIAL)] * count, indexing="ij")
    queue = iter(grids)
    sample = Sample(*(Given(values=next(queue).ravel()) if isinstance(arg, tuple) else arg for arg in first.args),
                    **first.kwargs)

    def check(arguments, note):
        got = [engine.array(result) for result in call(row, arguments)]
        wanted, _ = oracle.run_torch(row, arguments, dtype)
        note(difference(row, dtype, got, wanted))
        for a, b in zip(got, wanted):
            zeros = (a == 0) & (b == 0) if a.dtype.kind == "f" else numpy.zeros(a.shape, bool)
            wrong = zeros & (numpy.signbit(a) != numpy.signbit(b)) if a.dtype.kind == "f" else zeros
            if wrong.any():
                inputs = [item.array.ravel()[wrong.ravel()][0] for item in arguments.inputs()]
                note(f"the sign of zero differs at {inputs}")
    walk(row, dtype, check, [sample])


def check_errors(row):
    """Wrong calls raise the promised class, and the message names the operator and the trouble."""
    failures = []
    for index, wrong in enumerate(row.errors):
        arguments: Arguments = bind(row, wrong, row.dtypes[0], index)
        try:
            call(row, arguments)
            failures.append(f"{row.name}{wrong}: raised nothing, expected {wrong.error}")
        except wrong.error as error:
            missing = [word for word in (row.name, *wrong.says) if word not in str(error)]
            if missing:
                failures.append(f"{row.name}{wrong}: {error!s} lacks {missing}")
        except Exception as error:  # whatever came: it is the wrong one
            failures.append(f"{row.name}{wrong}: {type(error).__name__}: {error}, expected {wrong.error}")
    report(failures, row.errors)
