"""`torch.fx.annotate`: give a stand-in's node a type."""
from dragon.vm.torch.fx.proxy import Proxy


def annotate(val, type):
    """Return a value; where it is a stand-in, its node has a type from now on.

    Parameters
    ----------
    val : Any
        The value.
    type : type
        The type.

    Returns
    -------
    Any
        The value.

    """
    if isinstance(val, Proxy):
        if val.node.type:
            raise RuntimeError(f"torch.fx.annotate: got the type {type} for a value that has the type "
                               f"{val.node.type} already: parameters of functions get theirs in the signature")
        val.node.type = type
    return val
