"""What an operator does along an axis of a mesh, of what it could do: the way whose operands cost least to be had."""
import math

from dragon.distributed.globals.boxing import step_cost
from dragon.distributed.globals.signatures import BROADCAST


def choose(mesh_shape, operands, ways, count=1, kept=None):
    """Return the signatures that operands shall have, and those that results have then.

    Parameters
    ----------
    mesh_shape : Sequence[int]
        The shape of the mesh.
    operands : Sequence[Tuple[Tuple[Signature, ...], int]]
        For each operand, its signatures and the bytes of the whole of it.
    ways : Sequence[Tuple[Sequence[Signature], Sequence[Signature]]]
        What can be done along one axis: signatures of the operands, and those of the results. All broadcast is always
        among it, and what stands first is preferred to what costs the same.
    count : int, optional, default=1
        How many results there are.
    kept : int, optional
        The place of an operand that must stay as it is, since it is written to.

    Returns
    -------
    Optional[Tuple[List[Tuple[Signature, ...]], List[Tuple[Signature, ...]]]]
        The signatures of operands and of results; None where no way leaves `kept` as it is.

    """
    whole = ([BROADCAST] * len(operands), [BROADCAST] * count)
    chosen = []
    for axis, parts in enumerate(mesh_shape):
        best = None
        for wanted, results in [whole, *ways]:
            if kept is not None and wanted[kept] != operands[kept][0][axis]:
                continue
            cost = sum(step_cost(size, parts, signatures[axis], signature)
                       for (signatures, size), signature in zip(operands, wanted))
            # Where costs are equal, as along an axis of one process, what is there stays.
            cost = cost, sum(signatures[axis] != signature for (signatures, _), signature in zip(operands, wanted))
            if cost[0] < math.inf and (best is None or cost < best[0]):
                best = cost, wanted, results
        if best is None:
            return None
        chosen.append(best)
    return ([tuple(wanted[place] for _, wanted, _ in chosen) for place in range(len(operands))],
            [tuple(results[place] for _, _, results in chosen) for place in range(count)])
