"""Rows of losses made of pointwise operators, and of distances."""
from harness import FLOATING, SINGLES, Given, Row, Sample, Wrong

PAIR = [Sample((3, 4), (3, 4)), Sample((5,), (5,), "sum"), Sample((2, 3), (2, 3), "none"), Sample((), ())]
EMPTY = [Sample((0, 3), (0, 3), "sum")]
BAD = [Wrong((3,), (3,), "average", error=ValueError, says="reduction")]
CERTAIN = Given((2,), values=[0.5, 1.0])
PROBABILITY = Given((3, 4), low=0.05, high=0.95)
SIGNS = Given((4,), values=[1., -1., 1., -1.], grad=False)
FIXED = Given((4,), low=0.5, high=2.0, grad=False)
WEIGHTED = [Sample((3, 4), (3, 4), reduction, weight=PROBABILITY) for reduction in ("mean", "sum", "none")]


def reduced(name, *slots):
    """Return the oracle of a loss whose attributes follow its tensors: `slots` are their names in order."""
    def call(torch, *args, **kwargs):
        tensors = [arg for arg in args if isinstance(arg, torch.Tensor)]
        rest = [arg for arg in args if not isinstance(arg, torch.Tensor) and arg is not None]
        return getattr(torch.nn.functional, name)(*tensors, **dict(zip(slots, rest)), **kwargs)
    return call


def weighted(name, *more):
    """Return the oracle of a loss with weights: its attributes and then the weight follow x and y."""
    def call(torch, x, y, reduction="mean", *rest, **kwargs):
        names = more + ("weight",)
        return getattr(torch.nn.functional, name)(x, y, reduction=reduction, **dict(zip(names, rest)), **kwargs)
    return call


def bce(name):
    """Return the oracle of a binary cross entropy."""
    def call(torch, x, y, weight=None, reduction="mean", **more):
        return getattr(torch.nn.functional, name)(x, y, weight, reduction=reduction, **more)
    return call


ROWS = [
    Row("mse_loss", PAIR + EMPTY + WEIGHTED, dtypes=FLOATING, torch=weighted("mse_loss"), errors=BAD),
    Row("l1_loss", PAIR + EMPTY + WEIGHTED, dtypes=FLOATING, torch=weighted("l1_loss"),
        errors=BAD + [Wrong((3,), (3,), "mean", (2,), says="weight")]),
    Row("smooth_l1_loss", PAIR + [Sample((3, 4), (3, 4), "sum", 0.3), Sample((3, 4), (3, 4), "none", 0.0)],
        dtypes=FLOATING, torch=reduced("smooth_l1_loss", "reduction", "beta"),
        errors=[Wrong((3,), (3,), "mean", -1.0, error=ValueError)]),
    Row("huber_loss", PAIR + [Sample((3, 4), (3, 4), "sum", 0.3), Sample((3, 4), (3, 4), "mean", 0.3, PROBABILITY)],
        dtypes=FLOATING, torch=weighted("huber_loss", "delta"),
        errors=[Wrong((3,), (3,), "mean", 0.0, error=ValueError)]),
    Row("kl_div", [Sample((3, 4), PROBABILITY), Sample((3, 4), PROBABILITY, "batchmean"),
                   Sample((3, 4), (3, 4), "sum", True)],
        dtypes=FLOATING, torch=reduced("kl_div", "reduction", "log_target")),
    Row("poisson_nll_loss", [Sample((3, 4), Given((3, 4), low=1.5, high=5.0)),
                             Sample(PROBABILITY, Given((3, 4), low=0.1, high=5.0), False, True)], dtypes=FLOATING,
        torch=reduced("poisson_nll_loss", "log_input", "full")),
    Row("gaussian_nll_loss", [Sample((3, 4), (3, 4), Given((3, 4), low=0.5, high=2.0)),
                              Sample((3, 4), (3, 4), Given((3,), low=0.5, high=2.0), True)], dtypes=FLOATING,
        torch=reduced("gaussian_nll_loss", "full"),
        errors=[Wrong((2,), (2,), Given((2,), values=[1., -1.]), error=ValueError, says="negative")]),
    Row("binary_cross_entropy", [Sample(PROBABILITY, PROBABILITY), Sample(PROBABILITY, PROBABILITY, FIXED, "sum"),
                                 Sample(Given((3,), values=[0., 1., 0.5], grad=False),
                                        Given((3,), values=[0., 0., 1.], grad=False), None, "none")],
        dtypes=FLOATING, torch=bce("binary_cross_entropy"),
        errors=[Wrong(Given((2,), values=[0.5, 1.5]), CERTAIN, error=ValueError, says="inputs"),
                Wrong(CERTAIN, Given((2,), values=[0.5, -0.5]), error=ValueError, says="targets")]),
    Row("binary_cross_entropy_with_logits", [Sample((3, 4), PROBABILITY), Sample((3, 4), PROBABILITY, FIXED, "none"),
                                             Sample((3, 4), PROBABILITY, None, "sum", pos_weight=FIXED)],
        dtypes=FLOATING, torch=bce("binary_cross_entropy_with_logits")),
    Row("soft_margin_loss", [Sample((4,), SIGNS), Sample((4,), SIGNS, "none")], dtypes=FLOATING,
        torch=reduced("soft_margin_loss", "reduction")),
    Row("multilabel_soft_margin_loss", [Sample((3, 4), PROBABILITY), Sample((3, 4), PROBABILITY, (4,), "sum")],
        dtypes=FLOATING,
        torch=lambda torch, x, y, weight=None, reduction="mean":
        torch.nn.functional.multilabel_soft_margin_loss(x, y, weight, reduction=reduction)),
    Row("hinge_embedding_loss", [Sample((4,), SIGNS), Sample((4,), SIGNS, 0.3, "sum")], dtypes=FLOATING,
        torch=lambda torch, x, y, margin=1.0, reduction="mean":
        torch.nn.functional.hinge_embedding_loss(x, y, margin, reduction=reduction)),
    Row("margin_ranking_loss", [Sample((4,), (4,), SIGNS), Sample((4,), (4,), SIGNS, 0.3, "none")], dtypes=FLOATING,
        torch=lambda torch, a, b, y, margin=0.0, reduction="mean":
        torch.nn.functional.margin_ranking_loss(a, b, y, margin, reduction=reduction)),
    Row("multi_margin_loss", [Sample((3, 4), Given((3,), values=[0, 3, 1], dtype="int64")),
                              Sample((3, 4), Given((3,), values=[0, 3, 1], dtype="int64"), 2, 0.7,
                                     Given((4,), grad=False), "sum"),
                              Sample((4,), Given((), values=2, dtype="int64"))], dtypes=SINGLES,
        torch=lambda torch, x, y, p=1, margin=1.0, weight=None, reduction="mean":
        torch.nn.functional.multi_margin_loss(x, y, p, margin, weight, reduction=reduction)),
    Row("multilabel_margin_loss", [Sample((2, 4), Given((2, 4), values=[[3, 0, -1, 1], [-1, 2, 1, 0]], dtype="int64")),
                                   Sample((3,), Given((3,), values=[1, -1, 0], dtype="int64"), "sum")], dtypes=SINGLES,
        torch=reduced("multilabel_margin_loss", "reduction")),
    Row("cosine_similarity", [Sample((3, 4), (3, 4)), Sample((2, 3, 4), (2, 3, 4), -1), Sample((3, 4), (1, 4))],
        dtypes=FLOATING, torch=lambda torch, a, b, axis=1: torch.nn.functional.cosine_similarity(a, b, axis)),
    Row("cosine_embedding_loss", [Sample((4, 5), (4, 5), SIGNS), Sample((4, 5), (4, 5), SIGNS, 0.2, "sum")],
        dtypes=FLOATING,
        torch=lambda torch, a, b, y, margin=0.0, reduction="mean":
        torch.nn.functional.cosine_embedding_loss(a, b, y, margin, reduction=reduction)),
    Row("pairwise_distance", [Sample((3, 4), (3, 4)), Sample((3, 4), (3, 4), 1.0, 1e-6, True), Sample((4,), (3, 4),
        3.0)],
        dtypes=FLOATING),
    Row("triplet_margin_loss", [Sample((3, 4), (3, 4), (3, 4)), Sample((3, 4), (3, 4), (3, 4), 0.5, 3.0, 1e-6, True,
        "none")],
        dtypes=FLOATING, torch=reduced("triplet_margin_loss", "margin", "p", "eps", "swap", "reduction")),
    Row("cdist", [Sample((3, 4), (2, 4)), Sample((2, 3, 4), (2, 5, 4), 1.0), Sample((3, 4), (2, 4), 3.0),
                  Sample((3, 4), (2, 4), float("inf")), Sample((2, 3, 4), (5, 4)), Sample((3, 70), (30, 70)),
                  Sample((0, 4), (2, 4)), Sample((3, 4), (2, 4), 0.0)], dtypes=SINGLES,
        torch=lambda torch, a, b, p=2.0: torch.cdist(a, b, p, "donot_use_mm_for_euclid_dist"),
        errors=[Wrong((3, 4), (2, 3), error=ValueError, says="last axes")]),
    Row("pdist", [Sample((4, 3)), Sample((5, 2), 1.0), Sample((1, 2))], dtypes=SINGLES),
]
