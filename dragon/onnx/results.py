"""What dtype the results of a node have: ONNX's own schemas say so."""
import functools
from typing import NamedTuple, Optional, Tuple

from onnx import TensorProto, defs, helper

# Means and the like are float32 where nothing else is asked for.
KEPT_WIDE = ("LayerNormalization",)


class Results(NamedTuple):
    """The dtypes of a node's results."""

    telling: int  # the input whose dtype the first result has, or that tells what is computed
    dtypes: Tuple[Optional[str], ...]  # of each result, None where it is that of the telling input


def _dtype_of(type_text):
    """Return the name of the dtype of "tensor(float)"."""
    kind = type_text.removeprefix("tensor(").removesuffix(")").upper()
    return helper.tensor_dtype_to_np_dtype(getattr(TensorProto, kind)).name


@functools.lru_cache(maxsize=None)
def results_of(op):
    """Return the dtypes of a node's results.

    Parameters
    ----------
    op : str
        ONNX's name of an operator; of one that it does not know, all results have the first input's dtype.

    Returns
    -------
    Results
        By place.

    """
    if not defs.has(op):
        return Results(0, ())
    schema = defs.get_schema(op)
    allowed = {constraint.type_param_str: constraint.allowed_type_strs for constraint in schema.type_constraints}
    told = [[part.type_str for part in parts] for parts in (schema.inputs, schema.outputs)]
    telling = told[0].index(told[1][0]) if told[1][0] in told[0] else 0
    dtypes = []
    for place, text in enumerate(told[1]):
        kinds = allowed.get(text, [text])
        wide = "float32" if place and op in KEPT_WIDE else None
        dtypes.append(_dtype_of(kinds[0]) if len(kinds) == 1 and kinds[0].startswith("tensor(") else wide)
    return Results(telling, tuple(dtypes))
