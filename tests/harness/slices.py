"""What is tried with batches of a row's samples: an operator called once for all slices, and once for each."""
from dragon import _C
from harness import engine, oracle
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


def call_apart(bound, slices, varies):
    """Return the results of each slice's own call; the first is the sample itself."""
    first = slices[0].inputs()
    return [bound.results] + [
        call(bound.row, arguments, [engine.tensor(own if batched else shared) for own, shared, batched
                                    in zip(arguments.inputs(), first, varies)]) for arguments in slices[1:]]


def differ(row, dtype, got, wanted):
    """Return what differs between one slice of a batch and its own result, or None."""
    if not engine.is_tensor(wanted):
        return None
    if tuple(got.shape) != tuple(wanted.shape) or got.dtype != wanted.dtype:
        return f"{tuple(got.shape)} {got.dtype}, expected {tuple(wanted.shape)} {wanted.dtype}"
    return compare(engine.array(got), engine.array(wanted), tolerance_of(row, dtype))


def has_rule(row):
    """Whether an operator says how it computes all slices at once."""
    return row.call is None and _C.schema(row.name)["batches"] not in ("", "apart")


class Batches:
    """What is tried with batches of all samples of a row: one for the whole walk."""

    def __init__(self):
        self.together = False

    def check(self, bound, note):
        """A batch gives what its slices give; not at all if that is refused, by name."""
        row, slices = bound.row, [bound.another(100 * k) for k in range(COUNT)]
        for varies in which_vary(len(bound.arguments.inputs())):
            wanted = call_apart(bound, slices, varies)
            found = self.call(row, slices, varies)
            for place, (result, batched) in enumerate(found):
                for k in range(COUNT):
                    sentence = differ(row, bound.dtype, result[k] if batched else result, wanted[k][place])
                    note(sentence and f"slice {k} of result {place}, where {varies} vary: {sentence}")

    def call(self, row, slices, varies):
        """Return the results of one call for all slices, by the operator's rule where it has one for this call."""
        if has_rule(row):
            try:
                found = call_batched(row, slices, varies, apart=False)
                self.together = self.together or bool(found)
                return found
            except NotImplementedError:
                pass
        try:
            return call_batched(row, slices, varies)
        except NotImplementedError:
            return []
