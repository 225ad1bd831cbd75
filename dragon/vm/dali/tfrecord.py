"""What readers of TFRecord files are told of features."""
from dragon.vm.dali.core.kinds import FLOAT as float32
from dragon.vm.dali.core.kinds import INT64 as int64
from dragon.vm.dali.core.kinds import STRING as string
from dragon.vm.dali.core.readers.records import Feature as _Feature


def FixedLenFeature(shape, dtype, default_value):
    """Return what is read of a feature that always has as many values.

    Parameters
    ----------
    shape : Sequence[int]
        The shape; empty for one value.
    dtype : DALIDataType
        int64, float32 or string.
    default_value : Union[str, int, float]
        What stands for a feature that is missing.

    """
    return _Feature(list(shape), dtype, default_value)


def VarLenFeature(*arguments):
    """Return what is read of a feature that has any number of values.

    Parameters
    ----------
    arguments : Any
        The shape, if values are to be brought to one, dtype and default_value.

    """
    shape, dtype, default_value = arguments if len(arguments) == 3 else (None, *arguments)
    return _Feature(list(shape) if shape else None, dtype, default_value)
