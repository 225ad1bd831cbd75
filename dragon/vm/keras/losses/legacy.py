"""Names of Keras 2 that `tf.keras` still has: short ones of functions, and of reductions."""
from dragon.vm.keras.losses.named import SHORT, TABLE

NAMES = {spelling: TABLE[name] for short, name in SHORT.items() if short != "bce"
         for spelling in (short, short.upper())}
NAMES.update(logcosh=TABLE["log_cosh"], kullback_leibler_divergence=TABLE["kl_divergence"])


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
