"""Losses as layers."""
import math

from dragon.vm.torch.nn import functional as F
from dragon.vm.torch.nn._reduction import legacy_get_string
from dragon.vm.torch.nn.modules._applied import Applied
from dragon.vm.torch.nn.modules.linear import Linear


class _Loss(Applied):
    """The base of all losses.

    Parameters
    ----------
    size_average, reduce : bool, optional
        The old form of `reduction`.
    reduction : {"mean", "sum", "none"}, optional
        What to do with the losses of the elements.

    """

    _options = ["reduction"]
    _settled = ["size_average", "reduce"]
    _shown = ()

    def __init__(self, size_average=None, reduce=None, reduction="mean"):
        super().__init__()
        old = size_average is not None or reduce is not None
        self.reduction = legacy_get_string(size_average, reduce) if old else reduction


class _WeightedLoss(_Loss):
    """A loss with a weight for each class or element, kept as a buffer."""

    _options = ["weight", "reduction"]

    def __init__(self, weight=None, size_average=None, reduce=None, reduction="mean"):
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class L1Loss(_Loss, call="l1_loss(input, target)"):
    """The absolute difference, of tensors of one shape. ...

    Examples
    --------
    >>> nn.L1Loss(reduction="sum")(torch.tensor([1.0, 2.0]), torch.tensor([0.0, 4.0]))
    tensor(3.)

    """

    __constants__ = ["reduction"]


class NLLLoss(_WeightedLoss, call="nll_loss(input, target; weight=None, size_average=None, ignore_index=-100, "
                                  "reduce=None, reduction='mean')"):
    """The negative log-likelihood of classes: of log-probabilities `(N, C, ...)` and targets `(N, ...)`.

    Parameters
    ----------
    weight : Tensor, optional
        A factor for each class.
    ignore_index : int, optional, default=-100
        A number that stands for no class.

    Examples
    --------
    >>> nn.NLLLoss()(torch.tensor([[-0.5, -1.0], [-2.0, -0.25]]), torch.tensor([0, 1]))
    tensor(0.3750)

    """

    __constants__ = ["ignore_index", "reduction"]


class NLLLoss2d(NLLLoss):
    """NLLLoss under an old name."""


class PoissonNLLLoss(_Loss, call="poisson_nll_loss(log_input, target; log_input=True, full=False, size_average=None, "
                                 "eps=1e-08, reduce=None, reduction='mean')"):
    """The negative log-likelihood of counts."""


class GaussianNLLLoss(_Loss, call="gaussian_nll_loss(input, target, var; *, full=False, eps=1e-06, reduction='mean')"):
    """The negative log-likelihood of normal distributions."""


class KLDivLoss(_Loss, call="kl_div(input, target; size_average=None, reduce=None, reduction='mean', "
                            "log_target=False)"):
    """The Kullback-Leibler divergence from log-probabilities.

    Parameters
    ----------
    reduction : {"batchmean", "mean", "sum", "none"}, optional, default="mean"
        "batchmean" divides by the first size.
    log_target : bool, optional, default=False
        Whether the target is given as logarithms.

    Examples
    --------
    >>> p = torch.tensor([[0.5, 0.5]])
    >>> nn.KLDivLoss(reduction="batchmean")(p.log(), torch.tensor([[1.0, 0.0]]))
    tensor(0.6931)

    """

    __constants__ = ["reduction"]


class MSELoss(_Loss, call="mse_loss(input, target)"):
    """The squared difference, of tensors of one shape. ...

    Examples
    --------
    >>> nn.MSELoss()(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
    tensor(2.)

    """

    __constants__ = ["reduction"]


class BCELoss(_WeightedLoss, call="binary_cross_entropy(input, target)"):
    """The binary cross-entropy of probabilities, with targets from 0 to 1 of the same shape.

    Parameters
    ----------
    weight : Tensor, optional
        A factor for each element.

    Examples
    --------
    >>> nn.BCELoss()(torch.tensor([0.5]), torch.tensor([1.0]))
    tensor(0.6931)

    """

    __constants__ = ["reduction"]


class BCEWithLogitsLoss(_Loss, call="binary_cross_entropy_with_logits(input, target; weight=self.weight, "
                                    "pos_weight=self.pos_weight)"):
    """The binary cross-entropy of logits.

    Parameters
    ----------
    weight : Tensor, optional
        A weight for each element.
    size_average, reduce, reduction
        See CrossEntropyLoss.
    pos_weight : Tensor, optional
        A weight for positive targets of each class.

    Examples
    --------
    >>> nn.BCEWithLogitsLoss()(torch.tensor([0.0]), torch.tensor([1.0]))
    tensor(0.6931)

    """

    def __init__(self, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None):
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)


class _MarginLoss(_Loss):
    """A loss with a margin."""

    __constants__ = ["margin", "reduction"]


class HingeEmbeddingLoss(_MarginLoss, call="hinge_embedding_loss(input, target; margin=1.0, size_average=None, "
                                           "reduce=None, reduction='mean')"):
    """The hinge loss of distances with targets 1 and -1."""


class MultiLabelMarginLoss(_Loss, call="multilabel_margin_loss(input, target)"):
    """The hinge loss of several labels each."""

    __constants__ = ["reduction"]


class SmoothL1Loss(_Loss, call="smooth_l1_loss(input, target; size_average=None, reduce=None, reduction='mean', "
                               "beta=1.0)"):
    """Squared below `beta`, absolute above.

    Parameters
    ----------
    beta : float, optional, default=1.0
        Where the square ends and the line begins.

    Examples
    --------
    >>> nn.SmoothL1Loss(reduction="none")(torch.tensor([0.0, 0.0]), torch.tensor([1.0, 3.0]))
    tensor([0.5000, 2.5000])

    """

    __constants__ = ["reduction"]


class HuberLoss(_Loss, call="huber_loss(input, target; reduction='mean', delta=1.0)"):
    """Squared below `delta`, absolute times `delta` above."""


class SoftMarginLoss(_Loss, call="soft_margin_loss(input, target)"):
    """The logistic loss with targets 1 and -1."""

    __constants__ = ["reduction"]


class CrossEntropyLoss(_WeightedLoss, call="cross_entropy(input, target; weight=None, size_average=None, "
                                           "ignore_index=-100, reduce=None, reduction='mean', label_smoothing=0.0)"):
    """The cross-entropy of logits with classes or their probabilities.

    Parameters
    ----------
    weight : Tensor, optional
        A weight for each class.
    ignore_index : int, optional, default=-100
        A target that does not count.
    reduction : {"mean", "sum", "none"}, optional
        What to do with the losses of the elements.
    label_smoothing : float, optional, default=0.0
        How much of the target is spread over all classes.

    Examples
    --------
    >>> logits = torch.tensor([[0.0, 0.0], [2.0, 0.0]])
    >>> nn.CrossEntropyLoss()(logits, torch.tensor([1, 1]))
    tensor(1.4100)

    """

    __constants__ = ["ignore_index", "reduction", "label_smoothing"]


class LinearCrossEntropyLoss(_WeightedLoss):
    """A linear layer and the cross-entropy of what it makes.

    Parameters
    ----------
    in_features, num_classes : int
        Features of the input, and classes.
    out_features : Tuple[int, ...], optional, default=()
        Axes of the logits after that of the classes.
    bias : bool, optional, default=False
        Have a bias in the layer.
    reduction, weight, ignore_index, label_smoothing
        See CrossEntropyLoss.
    options : Any, optional
        Must be None.

    """

    __constants__ = ["num_classes", "out_features", "reduction", "ignore_index", "label_smoothing"]

    def __init__(self, in_features, num_classes, *, out_features=(), bias=False, device=None, dtype=None,
                 reduction="mean", weight=None, ignore_index=None, label_smoothing=0.0, options=None):
        if weight is not None and tuple(weight.shape) != (num_classes,):
            raise RuntimeError(f"expected weight shape to be {(num_classes,)}, got {tuple(weight.shape)}")
        if not 0 <= label_smoothing <= 1:
            raise RuntimeError(f"expected label_smoothing to be in range [0, 1], got {label_smoothing}")
        super().__init__(weight=weight, reduction=reduction)
        self.num_classes = num_classes
        self.out_features = out_features
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing
        self.linear = Linear(in_features, math.prod(out_features, start=num_classes), bias, device, dtype)
        self.options = options

    def forward(self, input, target):
        """Return the loss."""
        shape = (self.num_classes, *self.out_features)
        bias = None if self.linear.bias is None else self.linear.bias.reshape(shape)
        weight = self.linear.weight.reshape((*shape, self.linear.in_features))
        return F.linear_cross_entropy(input, weight, target, linear_bias=bias, weight=self.weight,
                                      reduction=self.reduction, ignore_index=self.ignore_index,
                                      label_smoothing=self.label_smoothing, options=self.options)

    def extra_repr(self):
        shown = {"in_features": self.linear.in_features, "num_classes": self.num_classes,
                 "out_features": self.out_features, "bias": self.linear.bias is not None, "reduction": self.reduction,
                 "ignore_index": self.ignore_index, "label_smoothing": self.label_smoothing, "options": self.options}
        return ", ".join(f"{name}={value}" for name, value in shown.items())


class MultiLabelSoftMarginLoss(_WeightedLoss, call="multilabel_soft_margin_loss(input, target)"):
    """The binary cross-entropy of several labels each."""

    __constants__ = ["reduction"]


class CosineEmbeddingLoss(_MarginLoss, call="cosine_embedding_loss(input1, input2, target; margin=0.0, "
                                            "size_average=None, reduce=None, reduction='mean')"):
    """One minus the cosine for targets 1, the cosine above a margin for -1."""


class MarginRankingLoss(_MarginLoss, call="margin_ranking_loss(input1, input2, target; margin=0.0, size_average=None, "
                                          "reduce=None, reduction='mean')"):
    """The hinge loss of which of two is ranked higher."""


class MultiMarginLoss(_WeightedLoss, call="multi_margin_loss(input, target; p=1, margin=1.0, weight=None, "
                                          "size_average=None, reduce=None, reduction='mean')"):
    """The hinge loss of classes."""

    __constants__ = ["p", "margin", "reduction"]

    def _settle(self):
        if self.p not in (1, 2):
            raise ValueError("only p == 1 and p == 2 supported")
        weight = self.weight
        if weight is not None and weight.dim() != 1:
            raise ValueError(f"MultiMarginLoss: expected weight to be None or 1D tensor, got {weight.dim()}D instead")


class TripletMarginLoss(_Loss, call="triplet_margin_loss(anchor, positive, negative; margin=1.0, p=2.0, eps=1e-6, "
                                    "swap=False, size_average=None, reduce=None, reduction='mean')"):
    """How much nearer the negative is than the positive, and a margin.

    Parameters
    ----------
    margin : float, optional, default=1.0
        The margin.
    p : float, optional, default=2.0
        The norm of distances.
    eps : float, optional, default=1e-06
        Added to differences.
    swap : bool, optional, default=False
        Take the negative's distance from the positive if that is shorter.
    size_average, reduce, reduction
        See CrossEntropyLoss.

    """

    def _settle(self):
        if self.margin <= 0:
            raise ValueError(f"TripletMarginLoss: expected margin to be greater than 0, got {self.margin} instead")


class TripletMarginWithDistanceLoss(_Loss, call="triplet_margin_with_distance_loss(anchor, positive, negative; "
                                                "distance_function=self.distance_function, margin=self.margin, "
                                                "swap=self.swap)"):
    """TripletMarginLoss with a distance of one's own."""

    __constants__ = ["margin", "swap", "reduction"]

    def __init__(self, *, distance_function=None, margin=1.0, swap=False, reduction="mean"):
        super().__init__(size_average=None, reduce=None, reduction=reduction)
        if margin <= 0:
            raise ValueError(f"TripletMarginWithDistanceLoss: expected margin to be greater than 0, got {margin} "
                             "instead")
        from dragon.vm.torch.nn.modules.distance import PairwiseDistance
        self.distance_function = PairwiseDistance() if distance_function is None else distance_function
        self.margin = margin
        self.swap = swap


class CTCLoss(_Loss, call="ctc_loss(log_probs, targets, input_lengths, target_lengths; blank=0, reduction='mean', "
                          "zero_infinity=False)"):
    """Connectionist temporal classification: the likelihood of labels without their times.

    Parameters
    ----------
    blank : int, optional, default=0
        The label that means nothing.
    reduction : {"mean", "sum", "none"}, optional
        What to do with the losses of the sequences.
    zero_infinity : bool, optional, default=False
        Put zero in the place of infinite losses.

    """

    __constants__ = ["blank", "reduction"]
