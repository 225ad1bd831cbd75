"""Products of matrices: rows and columns may be cut, and where what is summed over is cut, sums remain to be done."""
from dragon.distributed.globals.signatures import BROADCAST, Partial, Split, is_partial, is_split
from dragon.vm.torch.distributed.tensor._ops.table import ways

SUM = Partial()


def _cuts(call, *places):
    """Return the ways to cut an axis that operands share, each given as its place and the operand's axis."""
    found = [1]
    for place, axis in places:
        found.extend(cut.pieces for cut in call.operands[place].signatures
                     if is_split(cut, axis) and cut.pieces not in found)
    return found


def product(call, first, axes):
    """Return the ways of a product of two operands that stand one after the other.

    Parameters
    ----------
    call : Call
        The call.
    first : int
        The place of the first.
    axes : Sequence[Tuple[Optional[int], Optional[int], Optional[int]]]
        For each letter its axis in the first, the second and the result.

    Returns
    -------
    List[Tuple[List[Signature], List[Signature]]]
        The ways, of the two operands and the result.

    """
    found = []
    for one, other, result in axes:
        places = [(first + shift, axis) for shift, axis in enumerate((one, other)) if axis is not None]
        for pieces in _cuts(call, *places):
            wanted = [BROADCAST if axis is None else Split(axis, pieces) for axis in (one, other)]
            found.append((wanted, [SUM if result is None else Split(result, pieces)]))
    a, b = call.operands[first:first + 2]
    for signature in {each for operand in (a, b) for each in operand.signatures if is_partial(each)}:
        if signature.reduction in ("sum", "average"):
            found.append(([signature, BROADCAST], [signature]))
            found.append(([BROADCAST, signature], [signature]))
    return found


_MM = [(0, None, 0), (None, 1, 1), (1, 0, None)]
_BMM = [(0, 0, 0), (1, None, 1), (None, 2, 2), (2, 1, None)]


@ways("mm")
def _mm(call):
    return product(call, 0, _MM)


@ways("bmm")
def _bmm(call):
    return product(call, 0, _BMM)


@ways("mv")
def _mv(call):
    return product(call, 0, [(0, None, 0), (1, 0, None)])


@ways("dot vdot")
def _dot(call):
    return product(call, 0, [(0, 0, None)])


def _added(call, axes, ndim):
    """Return the ways of a product to which a first operand is added, repeated along what it lacks."""
    addend = call.operands[0]
    found = []
    shape = [max(sizes) for sizes in zip(*(_sized(operand, axes, place)
                                           for place, operand in enumerate(call.operands[1:])))]
    for wanted, results in product(call, 1, axes):
        cut = results[0]
        if is_split(cut):
            own = cut.axis - ndim + addend.ndim
            has = own >= 0 and addend.shape[own] == shape[cut.axis]
            found.append(([Split(own, cut.pieces) if has else BROADCAST, *wanted], results))
        else:
            found.append(([cut, *wanted], results))
    return found


def _sized(operand, axes, place):
    """Return the sizes of the result that an operand tells; 0 for those that it does not have."""
    found = {}
    for letter in axes:
        if letter[2] is not None:
            found[letter[2]] = 0 if letter[place] is None else operand.shape[letter[place]]
    return [found[axis] for axis in sorted(found)]


@ways("addmm")
def _addmm(call):
    return _added(call, _MM, 2)


@ways("baddbmm")
def _baddbmm(call):
    return _added(call, _BMM, 3)


@ways("addmv")
def _addmv(call):
    return _added(call, [(0, None, 0), (1, 0, None)], 1)
