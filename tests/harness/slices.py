"""What is tried with batches of a row's samples: an operator called once for all slices, and once for each."""
from dragon import _C
from harness import checks, engine, oracle
from harness.inputs import bind
from harness.tolerance import compare, tolerance_of

COUNT = 3  # slices


def which_vary(count):
    """Yield what differs between slices: all tensors, then each of them alone."""
    if count:
        yield (True,) * count
    if count > 1:
        yield from (tuple(place == only for place in range(count)) for only in range(count))


def fill(arguments, tensors):
    """Return (args, kwargs) with tensors in the places of Inputs."""
    queue = iter(tensors)
    return arguments.map(lambda _: next(queue))


def call(row, arguments, tensors):
    """Return an operator's results as a tuple."""
    args, kwargs = fill(arguments, tensors)
    return oracle.as_tuple(engine.operator(row)(*args, **kwargs))


def call_batched(row, slices, varies, apart=True):
    """Return (result, whether it is a batch) of one call for all slices."""
    columns = zip(*([engine.tensor(item) for item in arguments.inputs()] for arguments in slices))
    given = [engine.stack(column) if batched else column[0] for column, batched in zip(columns, varies)]
    return _C.call_batched(lambda *tensors: call(row, slices[0], tensors), given, list(varies), len(slices), apart)


def call_apart(row, slices, varies):
    """Return the results of each slice's own call."""
    first = slices[0].inputs()
    return [call(row, arguments, [engine.tensor(own if batched else shared) for own, shared, batched
                                  in zip(arguments.inputs(), first, varies)]) for arguments in slices]


def differ(row, dtype, got, wanted):
    """Return what differs between one slice of a batch and its own result, or None."""
    if not engine.is_tensor(wanted):
        return None
    if tuple(got.shape) != tuple(wanted.shape) or got.dtype != wanted.dtype:
        return f"{tuple(got.shape)} {got.dtype}, expected {tuple(wanted.shape)} {wanted.dtype}"
    return compare(engine.array(got), engine.array(wanted), tolerance_of(row, dtype))


def bind_slices(row, sample, dtype, index):
    """Return the arguments of each slice, those of a sample first."""
    return [bind(row, sample, dtype, index + 100 * k) for k in range(COUNT)]


def keeps_together(row, dtype):
    """Whether the operator's rule computes at least one sample, in some of its ways to vary, and not slice by slice."""
    for index, sample in enumerate(checks.samples_of(row)):
        slices = bind_slices(row, sample, dtype, index)
        for varies in which_vary(len(slices[0].inputs())):
            try:
                return bool(call_batched(row, slices, varies, apart=False))
            except NotImplementedError:
                continue
    return False


def check_batched(row, dtype):
    """A batch gives what its slices give; not at all if that is refused, by name."""
    samples = checks.samples_of(row)
    positions = iter(range(len(samples)))

    def check(arguments, note):
        index = next(positions)
        slices = bind_slices(row, samples[index], dtype, index)
        for varies in which_vary(len(arguments.inputs())):
            wanted = call_apart(row, slices, varies)
            try:
                found = call_batched(row, slices, varies)
            except NotImplementedError:
                continue
            for place, (result, batched) in enumerate(found):
                for k in range(COUNT):
                    sentence = differ(row, dtype, result[k] if batched else result, wanted[k][place])
                    note(sentence and f"slice {k} of result {place}, where {varies} vary: {sentence}")
    checks.walk(row, dtype, check, samples)
