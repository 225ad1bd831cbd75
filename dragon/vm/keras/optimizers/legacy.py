"""Optimizers of Keras 2, which Keras 3 refuses to make."""


class _Refused:
    def __init__(self, *args, **kwargs):
        raise ImportError("`keras.optimizers.legacy` is not supported in Keras 3: take the optimizer of the same name "
                          f"in `keras.optimizers`. Received: {type(self).__name__}")


def _refused(name):
    return type(name, (_Refused,), {"__doc__": f"`{name}` of Keras 2: refused."})


Adagrad = _refused("Adagrad")
Adam = _refused("Adam")
Ftrl = _refused("Ftrl")
Optimizer = _refused("Optimizer")
RMSprop = _refused("RMSprop")
SGD = _refused("SGD")
