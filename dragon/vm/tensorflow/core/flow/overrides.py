"""`tf.RegisterGradient`: gradients of operators by their names, as graphs of TensorFlow 1 look them up.

Operators of the engine bring their own gradients. What is registered here is kept, and a second one under a name that
has one is refused; `tf.custom_gradient` gives a function another gradient.
"""
_registered = {}


def _enter(name, value):
    from dragon.vm.tensorflow import raw_ops
    if name in _registered or name in dir(raw_ops):
        raise KeyError(f"Registering two gradient with name '{name}'!")
    _registered[name] = value


class RegisterGradient:
    """A decorator of the function that is an operator's gradient.

    Parameters
    ----------
    op_type : str
        The operator's name, of which there is no gradient yet.

    """

    def __init__(self, op_type):
        if not isinstance(op_type, str):
            raise TypeError(f"op_type must be a string. Received: {op_type!r}")
        self._name = op_type

    def __call__(self, f):
        """Return the function, which is the gradient from here on."""
        _enter(self._name, f)
        return f


def no_gradient(op_type):
    """Say that an operator has no gradient.

    Parameters
    ----------
    op_type : str
        The operator's name, of which there is no gradient yet.

    """
    if not isinstance(op_type, str):
        raise TypeError(f"op_type must be a string. Received: {op_type!r}")
    _enter(op_type, None)
