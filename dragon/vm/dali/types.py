"""DALI's types: of numbers, pictures and interpolation, of layouts, and constants."""
from dragon.vm.dali.core import kinds as _kinds
from dragon.vm.dali.core.graph import constant_node as _constant_node
from dragon.vm.dali.core.kinds import DALIDataType, DALIImageType, DALIInterpType, ScalarConstant
from dragon.vm.dali.core.kinds import to_dali_type, to_numpy_type

for _kind in (*DALIDataType, *DALIImageType, *DALIInterpType):
    globals()[_kind.name] = _kind
NCHW, NHWC, NFHWC, NFCHW, SAME = "CHW", "HWC", "FHWC", "FCHW", ""
CPU_ONLY_DEVICE_ID = _kinds.CPU_ONLY_DEVICE_ID


class SampleInfo:
    """Which sample a callback of `external_source` is asked for.

    Parameters
    ----------
    idx_in_epoch : int
        The sample's number in the epoch.
    idx_in_batch : int
        Its place in the batch.
    iteration : int
        The batch's number in the epoch.
    epoch_idx : int
        The epoch's number.

    """

    def __init__(self, idx_in_epoch, idx_in_batch, iteration, epoch_idx):
        self.idx_in_epoch, self.idx_in_batch = idx_in_epoch, idx_in_batch
        self.iteration, self.epoch_idx = iteration, epoch_idx


class BatchInfo:
    """Which batch a callback of `external_source` is asked for.

    Parameters
    ----------
    iteration : int
        The batch's number in the epoch.
    epoch_idx : int
        The epoch's number.

    """

    def __init__(self, iteration, epoch_idx):
        self.iteration, self.epoch_idx = iteration, epoch_idx


def Constant(value, dtype=None, shape=None, layout=None, device=None, **kwargs):
    """Return a constant: of one number for arithmetic, or a node of the pipeline that gives the same array always.

    Parameters
    ----------
    value : Union[bool, int, float, Sequence, numpy.ndarray]
        The numbers.
    dtype : DALIDataType, optional
        Their type.
    shape : Sequence[int], optional
        The shape that they are brought to.
    layout : str, optional
        The names of the axes.
    device : str, optional
        Where it lies.

    """
    plain = isinstance(value, (bool, int, float)) and not kwargs
    if plain and shape is None and layout is None and device in (None, "cpu"):
        return ScalarConstant(value, dtype)
    return _constant_node(value, dtype, shape, layout)
