"""Optimizers of Keras 2, which Keras 3 refuses to make."""


class _Refused:
    def __init__(self, *args, **kwargs):
        raise ImportError("`keras.optimizers.legacy` is not supported in Keras 3: take the optimizer of the same name "
                          f"in `keras.optimizers`. Received: {type(self).__name__}")


Adagrad = type("Adagrad", (_Refused,), {})
Adam = type("Adam", (_Refused,), {})
Ftrl = type("Ftrl", (_Refused,), {})
Optimizer = type("Optimizer", (_Refused,), {})
RMSprop = type("RMSprop", (_Refused,), {})
SGD = type("SGD", (_Refused,), {})
