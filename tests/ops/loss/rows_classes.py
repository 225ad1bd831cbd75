"""Rows of losses over many classes, and of connectionist temporal classification."""
from harness import FLOATING, SINGLES, Given, Row, Sample, Wrong


def indices(*values):
    """Return class indices."""
    return Given(None, values=list(values), dtype="int64")


TARGET = Given((4,), values=[2, 0, 1, 2], dtype="int64")
IGNORED = Given((4,), values=[2, -100, 1, -100], dtype="int64")
PLANES = Given((2, 3), values=[[0, 2, 1], [1, -100, 0]], dtype="int64")
WEIGHT = Given((3,), low=0.5, high=2.0, grad=False)
SOFT = Given((4, 3), low=0.1, high=0.9)
CALLS = [Sample((4, 3), TARGET), Sample((4, 3), TARGET, WEIGHT), Sample((4, 3), IGNORED, WEIGHT, -100, "sum"),
         Sample((4, 3), IGNORED, None, -100, "none"), Sample((2, 3, 3), PLANES), Sample((2, 3, 3), PLANES, WEIGHT),
         Sample((3,), Given((), values=1, dtype="int64")), Sample((4, 3), TARGET, WEIGHT, 2)]
SMOOTH = [Sample((4, 3), TARGET, None, -100, "mean", 0.1), Sample((4, 3), IGNORED, WEIGHT, -100, "none", 0.2),
          Sample((2, 3, 3), PLANES, WEIGHT, -100, "mean", 0.3), Sample((4, 3), SOFT), Sample((4, 3), SOFT, WEIGHT),
          Sample((4, 3), SOFT, WEIGHT, -100, "sum", 0.2), Sample((3,), Given((3,), low=0.1, high=0.9), None, -100,
          "none")]
BAD = [Wrong((4, 3), Given((4,), values=[0, 3, 0, 0], dtype="int64"), error=IndexError, says="target 3"),
       Wrong((4, 3), Given((3,), values=[0, 1, 0], dtype="int64"), error=ValueError, says="target"),
       Wrong((4, 3), (4,), error=TypeError, says="integer")]


def loss(name):
    """Return torch's loss with arguments in our order."""
    def call(torch, x, target, weight=None, ignore_index=-100, reduction="mean", *smoothing):
        more = dict(label_smoothing=smoothing[0]) if smoothing else {}
        more.update(ignore_index=ignore_index, reduction=reduction)
        return getattr(torch.nn.functional, name)(x, target, weight, **more)
    return call


def call_ctc(dragon, x, *args):
    """Return dragon's loss of a log-softmax: only there its gradient is that of the whole."""
    return dragon.ops.ctc_loss(dragon.ops.log_softmax(x, -1), *args)


def ctc(torch, x, targets, inputs, lengths, blank=0, reduction="mean", zero_infinity=False):
    """Return torch's loss of a log-softmax."""
    return torch.nn.functional.ctc_loss(x.log_softmax(-1), targets, inputs, lengths, blank, reduction, zero_infinity)


TIMES = Given((2,), values=[7, 5], dtype="int64")
LENGTHS = Given((2,), values=[3, 2], dtype="int64")
LABELS = Given((2, 3), values=[[1, 1, 2], [3, 2, 0]], dtype="int64")
IN_A_ROW = Given((5,), values=[1, 1, 2, 3, 2], dtype="int64")
TOO_SHORT = Given((2,), values=[7, 1], dtype="int64")

ROWS = [
    Row("nll_loss", CALLS, dtypes=FLOATING, torch=loss("nll_loss"), errors=BAD),
    Row("cross_entropy", CALLS + SMOOTH, dtypes=FLOATING, torch=loss("cross_entropy"), errors=BAD),
    Row("ctc_loss", [Sample((7, 2, 4), LABELS, TIMES, LENGTHS), Sample((7, 2, 4), IN_A_ROW, TIMES, LENGTHS, 0, "sum"),
                     Sample((7, 2, 4), LABELS, TIMES, LENGTHS, 0, "none"),
                     Sample((7, 2, 4), LABELS, TOO_SHORT, LENGTHS, 0, "none", True)],
        dtypes=SINGLES, torch=ctc, call=call_ctc, second="neither has PyTorch's",
        strided="repeated lengths add up to more labels than there are",
        errors=[Wrong((7, 2, 4), LABELS, TIMES, LENGTHS, 4, error=ValueError, says="blank"),
                Wrong((7, 2, 4), LABELS, Given((2,), values=[8, 5], dtype="int64"), LENGTHS, error=ValueError,
                says="length")]),
]
