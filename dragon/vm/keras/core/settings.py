"""What most layers do with their arguments: names become objects when they come in, and data when they go out."""
from dragon.vm.keras import activations, constraints, initializers, regularizers  # noqa: F401: to be known by kind
from dragon.vm.keras.core.configuration import kind_of

SETTINGS = ("initializer", "regularizer", "constraint")


def store(layer, given, names="", weights=""):
    """Keep arguments as attributes; initializers, regularizers, constraints and activations are looked up.

    Parameters
    ----------
    layer : Layer
        Whose attributes they become.
    given : Dict[str, Any]
        The arguments, as `locals()` has them.
    names : str, optional, default=""
        Which of them, with blanks between.
    weights : str, optional, default=""
        Those of which there are an initializer, a regularizer and a constraint.

    """
    settings = (f"{weight}_{kind}" for kind in SETTINGS for weight in weights.split())
    for name in (*names.split(), *settings):
        kind = kind_of(name)
        setattr(layer, name, given[name] if kind is None else kind.get(given[name]))


def int_tuple(value, count, name, allow_zero=False):
    """Return `count` numbers from one number or a sequence, or raise for what is neither or too small."""
    numbers = (value,) * count if isinstance(value, int) else value
    least = 0 if allow_zero else 1
    wrong = f"The `{name}` argument must be a tuple of {count} integers. Received {name}={value}"
    try:
        numbers = tuple(numbers)
        small = {int(number) for number in numbers if int(number) < least}
    except (TypeError, ValueError, OverflowError):  # of infinity
        raise ValueError(wrong) from None
    if len(numbers) != count:
        raise ValueError(wrong)
    if small:
        least = "`value >= 0`" if allow_zero else "`value > 0`"
        raise ValueError(f"{wrong}, including values {small} that do not satisfy {least}")
    return numbers


def padding_name(value, *more):
    """Return the name of a padding in small letters, or raise for an unknown one."""
    allowed = ("valid", "same", *more)
    name = value.lower() if isinstance(value, str) else value
    if name not in allowed:
        raise ValueError(f"The `padding` argument must be one of {allowed}. Received: {value}")
    return name


def require_axes(axes, shape):
    """Raise unless a shape has the axes."""
    for axis in [axes] if isinstance(axes, int) else axes:
        if not -len(shape) <= axis < len(shape):
            raise ValueError(f"Axis {axis} is out of bounds for input shape {shape}. Received: axis={axes}")
