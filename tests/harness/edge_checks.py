"""Calls at the edges, eager and compiled, beside PyTorch, or NumPy where a row has nothing else."""
import warnings

import numpy

from harness import checks, edges, engine, gradients, oracle
from harness.captured import capture
from harness.inputs import Input, round_to
from harness.tolerance import tolerance_of

FAILURES = (ArithmeticError, AssertionError, AttributeError, LookupError, MemoryError, RuntimeError, TypeError,
            ValueError)
HALVES = ("float16", "bfloat16")
LACKING = ("not implemented for", "not support", "Could not run", "unsupported", "Unsupported")


class Lacking(Exception):
    """The oracle has nothing for this call."""


def wanted_of(row, arguments, dtype):
    """Return ([results that would do, each a list of arrays], names of dtypes or None, None) by the oracle, or
    ([], None, its error)."""
    try:
        if row.torch is None and row.numpy is not None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return [oracle.run_numpy(row, arguments)], None, None
        first, names = oracle.run_torch(row, arguments, dtype)
        found = [first]
        if dtype in HALVES and not row.exact and names is not None:
            found = [[round_to(array, dtype) if name == dtype else array for array, name in zip(first, names)],
                     oracle.run_torch_narrow(row, arguments)]
        return found, names, None
    except FAILURES as error:
        if any(words in str(error) for words in LACKING):
            raise Lacking(str(error)) from None
        return [], None, error


def close(got, wanted, tolerance):
    """Return where two arrays agree: NaN with NaN, infinity with the same infinity, all else within the tolerance."""
    if got.dtype.kind in "fc" or wanted.dtype.kind in "fc":
        with numpy.errstate(all="ignore"):
            good = numpy.isclose(got, wanted, rtol=tolerance[0], atol=tolerance[1], equal_nan=True)
            if got.dtype.kind == "c":  # which part of a complex number is infinite and which NaN is nobody's promise
                good |= ~numpy.isfinite(got) & ~numpy.isfinite(wanted)
            return good
    return numpy.asarray(got == wanted)


def signs(got, wanted):
    """Return where the signs of zeros agree."""
    if got.dtype.kind != "f" or wanted.dtype.kind != "f":
        return numpy.ones(got.shape, bool)
    return (got != 0) | (wanted != 0) | (numpy.signbit(got) == numpy.signbit(wanted))


def tolerances(row, dtype, case, wanted):
    """Return (rtol, atol): rounding grows with the biggest of the numbers that meet in a sum, and with their count."""
    rtol, atol = tolerance_of(row, dtype)
    if engine.is_pointwise(row) or wanted.dtype.kind not in "fc":
        return rtol, atol
    arrays = [item.array for item in case.arguments.inputs() if item.array.dtype.kind in "fc"]
    growth = max(1.0, max((array.size for array in arrays), default=1) ** 0.5 / 4) if case.sized else 1.0
    finite = [float(abs(array[numpy.isfinite(array)]).max(initial=1.0)) for array in [*arrays, wanted]]
    return rtol * growth, atol * growth * max(finite)


def differs(row, dtype, got, choices, case, signed=False):
    """Return what differs between arrays and each of the lists that would do, or None."""
    got = checks.canonical(row, checks.chosen(row, got))
    choices = [checks.canonical(row, checks.chosen(row, wanted)) for wanted in choices]
    if len(got) != len(choices[0]):
        return f"{len(got)} results, expected {len(choices[0])}"
    for place, mine in enumerate(got):
        theirs = [narrowed(wanted[place], mine) for wanted in choices]
        if mine.shape != theirs[0].shape:
            return f"result {place} has shape {mine.shape}, expected {theirs[0].shape}"
        good = numpy.zeros(mine.shape, bool)
        for other in theirs:
            good |= close(mine, other, tolerances(row, dtype, case, other)) & (signs(mine, other) if signed else True)
        if not good.all():
            return f"result {place}: " + told(mine, theirs[0], good, case.arguments)
    return None


def narrowed(wanted, got):
    """Return what a wider dtype holds as the result's own would."""
    if wanted.dtype.kind in "fc" and wanted.dtype.kind == got.dtype.kind and wanted.dtype.itemsize > got.dtype.itemsize:
        with numpy.errstate(all="ignore"):
            return wanted.astype(got.dtype)
    return wanted


def told(mine, other, good, arguments):
    """Return a sentence on the first difference, with the numbers it comes from if they stand at the same places."""
    place = tuple(int(axis[0]) for axis in numpy.nonzero(~numpy.atleast_1d(good)))
    count = int(good.size - numpy.count_nonzero(good))
    inputs = [item.array for item in arguments.inputs()]
    source = ""
    if mine.ndim == 1 and inputs and all(array.shape == mine.shape for array in inputs):
        source = f" of {[array[place].item() for array in inputs]}"
    return (f"{count} of {good.size} differ, e.g. {numpy.atleast_1d(mine)[place]!r} at {place}{source}, expected "
            f"{numpy.atleast_1d(other)[place]!r}")


def shaped(arguments):
    """Return what makes two calls of one row the same to a compiler."""
    return repr(arguments.map(lambda item: (item.array.shape, item.dtype)))


class Compiled:
    """An operator amid products with one, at the highest level: pointwise ones are fused with them."""

    def __init__(self, row):
        self.row, self.known = row, {}

    def __call__(self, arguments, dtype, requires_grad=False):
        """Return the results for arguments."""
        items = arguments.inputs()
        made = [engine.tensor(item, requires_grad and gradients.wants_grad(item)) for item in items]
        kind = dtype if items and items[0].inexact else "float32"
        one = engine.tensor(Input(numpy.ones((), "float32" if kind == "bfloat16" else kind), kind, False))
        key = shaped(arguments), requires_grad

        def function(one, *tensors):
            queue = iter(tensors)

            def once(item):
                tensor = next(queue)
                if not item.inexact or engine.dtype_name(one) != item.dtype or item.dtype.startswith("complex"):
                    return tensor  # a complex product with one loses the signs of zeros
                return engine.multiply(tensor, one)
            args, kwargs = arguments.map(once)
            results = oracle.as_tuple(engine.operator(self.row)(*args, **kwargs))
            return [engine.multiply(result, one) if engine.is_tensor(result)
                    and engine.dtype_name(result) == engine.dtype_name(one) else result for result in results]
        if key not in self.known:
            self.known[key] = capture(function, [one, *made], 3)[1]
        if self.known[key] is None:  # the trace gave up: its results would be the eager ones
            raise Lacking(str(self.row))
        results = self.known[key](one, *made)
        return made, tuple(results)


def gradients_of(row, arguments, made, results):
    """Return gradients of results with respect to tensors as arrays, and the cotangents."""
    items = arguments.inputs()
    results = gradients.differentiable_results(row, results)
    cotangents = gradients.cotangents_for(numpy.random.default_rng(7), results)
    leaves = [x for x, item in zip(made, items) if gradients.wants_grad(item)]
    got = engine.grad(results, leaves, [engine.tensor(item) for item in cotangents]) if results else []
    return [gradients.fill(mine, leaf) for mine, leaf in zip(got, leaves)], cotangents


def torch_gradients(row, arguments, cotangents):
    """Return PyTorch's gradients as arrays."""
    try:
        count, found = oracle.torch_gradients(row, arguments, cotangents, gradients.wants_grad)
    except NotImplementedError as error:  # values it has, by a wider dtype; in this one there is no gradient
        raise Lacking(str(error)) from None
    if count != len(cotangents):
        raise AssertionError(f"{len(cotangents)} results carry gradients, expected {count}")
    return found


def grad_differs(row, dtype, got, wanted, case, results):
    """Return what differs between gradients, of pointwise operators where numbers are tame and results are some."""
    arguments = case.arguments
    finite = [edges.is_tame(item) for item in arguments.inputs()]
    finite += [~numpy.isnan(array) for array in results if array.dtype.kind in "fc"]
    same = all(mask.shape == finite[0].shape for mask in finite)
    for place, (mine, other) in enumerate(zip(got, wanted)):
        if mine.shape != other.shape:
            return f"gradient {place} has shape {mine.shape}, expected {other.shape}"
        good = close(mine, other, tolerances(row, dtype, case, other))
        if same and engine.is_pointwise(row):
            good |= ~numpy.logical_and.reduce(finite)
        if not good.all():
            return f"gradient {place}: " + told(mine, other, good, arguments)
    return None


def check(row, dtype, compiled=False, gradient=False, limit=4):
    """Yield (title of a case, what is wrong) for all cases of a row in a dtype."""
    pointwise = engine.is_pointwise(row)
    for family in edges.cases(row, dtype, limit):
        twin = Compiled(row) if compiled else None
        for case in family:
            try:
                yield from ((f"{row.name} in {dtype}: {case.title}", f"{how}: {words}")
                            for how, words in check_case(row, dtype, case, twin, gradient, pointwise))
            except Lacking:
                continue


def check_case(row, dtype, case, twin, gradient, pointwise):
    """Yield (how it was called, what is wrong) for one case."""
    arguments = case.arguments
    choices, names, refused = wanted_of(row, arguments, dtype)
    wide = any(gradients.wants_grad(item) for item in arguments.inputs())
    wants = (gradient and wide and row.differentiable and refused is None and (case.finite or pointwise)
             and not (row.torch is None and row.numpy is not None))
    ways = [("eager", lambda: eager(row, arguments, wants))]
    if twin is not None and refused is None:
        ways.append(("compiled", lambda: twin(arguments, dtype, wants)))
    theirs = None
    for how, call in ways:
        try:
            made, results = call()
            arrays = [engine.array(result) for result in results]
        except FAILURES as error:
            if refused is None:
                yield how, f"raises {type(error).__name__}: {error}"
            continue
        if refused is not None:
            yield how, f"raises nothing, expected {type(refused).__name__}: {str(refused)[:200]}"
            continue
        words = differs(row, dtype, arrays, choices, case, pointwise and row.special is True)
        if words:
            yield how, words
        for result, name in zip(checks.chosen(row, results), checks.chosen(row, names) if names else ()):
            if engine.is_tensor(result) and name and engine.dtype_name(result) != name:
                yield how, f"dtype {engine.dtype_name(result)}, expected {name}"
        if not wants:
            continue
        try:
            got, cotangents = gradients_of(row, arguments, made, results)
            theirs = torch_gradients(row, arguments, cotangents) if theirs is None else theirs
            words = grad_differs(row, dtype, got, theirs, case, arrays)
        except FAILURES as error:
            words = f"gradient raises {type(error).__name__}: {str(error)[:200]}"
        if words:
            yield how, words


def eager(row, arguments, requires_grad):
    """Return the tensors made for arguments, and the engine's results."""
    made = [engine.tensor(item, requires_grad and gradients.wants_grad(item)) for item in arguments.inputs()]
    return made, checks.call(row, arguments, gradients.iter_maker(made))
