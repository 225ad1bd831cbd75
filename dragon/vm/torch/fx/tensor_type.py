"""`torch.fx.tensor_type`: types of tensors by their sizes, some of which may not be known."""


class _DynType:
    """The type of a size that is not known."""

    def __init__(self):
        self.__name__ = "_DynType"

    def __eq__(self, other):
        return isinstance(other, _DynType)

    def __hash__(self):
        return hash("Dyn")

    def __str__(self):
        return "Dyn"

    __repr__ = __str__


Dyn = _DynType()


class TensorType:
    """The type of tensors of certain sizes.

    Parameters
    ----------
    dim : Tuple[Any, ...]
        The sizes, `Dyn` where one is not known.

    """

    def __init__(self, dim):
        self.__origin__, self.__args__ = TensorType, dim

    def __repr__(self):
        return f"TensorType[{self.__args__}]"

    def __eq__(self, other):
        return isinstance(other, TensorType) and list(self.__args__) == list(other.__args__)

    def __hash__(self):
        return hash(tuple(self.__args__))

    @staticmethod
    def __class_getitem__(*args):
        return TensorType(args[0] if len(args) == 1 and isinstance(args[0], tuple) else args)


def is_consistent(t1, t2):
    """Return whether two types can be those of one tensor."""
    if t1 == t2 or t1 == Dyn or t2 == Dyn:
        return True
    if isinstance(t1, TensorType) and isinstance(t2, TensorType):
        return len(t1.__args__) == len(t2.__args__) and all(map(is_consistent, t1.__args__, t2.__args__))
    return False


def is_more_precise(t1, t2):
    """Return whether a type says all that another says."""
    if t1 == t2 or t2 == Dyn:
        return True
    if isinstance(t1, TensorType) and isinstance(t2, TensorType):
        return len(t1.__args__) == len(t2.__args__) and all(map(is_more_precise, t1.__args__, t2.__args__))
    return False
