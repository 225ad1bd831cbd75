"""Names of Keras 2 that `tf.keras` still has: short ones of functions, and of reductions."""
from dragon.vm.keras.losses.registry import SHORT, spell
from dragon.vm.keras.losses.regression import kl_divergence, log_cosh

NAMES = spell({short: function for short, function in SHORT.items() if short != "bce"})
NAMES.update(logcosh=log_cosh, kullback_leibler_divergence=kl_divergence)


class Reduction:
    """Reductions by name."""

    AUTO = "auto"
    NONE = "none"
    SUM = "sum"
    SUM_OVER_BATCH_SIZE = "sum_over_batch_size"

    @classmethod
    def all(cls):
        """Return all reductions."""
        return cls.AUTO, cls.NONE, cls.SUM, cls.SUM_OVER_BATCH_SIZE

    @classmethod
    def validate(cls, key):
        """Refuse what is no reduction."""
        if key not in cls.all():
            raise ValueError(f'Invalid Reduction Key: {key}. Expected keys are "{cls.all()}"')
