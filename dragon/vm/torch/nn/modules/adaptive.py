"""Softmax over very many classes: frequent ones first, rare ones in clusters."""
from collections import namedtuple

from dragon.vm.torch.core.tensor import ops
from dragon.vm.torch.nn import functional as F
from dragon.vm.torch.nn.modules.container import ModuleList, Sequential
from dragon.vm.torch.nn.modules.linear import Linear
from dragon.vm.torch.nn.modules.module import Module
from dragon.vm.torch.nn.modules.utils import factory

_ASMoutput = namedtuple("_ASMoutput", ["output", "loss"])


class AdaptiveLogSoftmaxWithLoss(Module):
    """The log-likelihood of classes ordered by frequency, of which the rare ones stand in clusters.

    Parameters
    ----------
    in_features, n_classes : int
        Features of the input, and classes.
    cutoffs : Sequence[int]
        Where clusters begin.
    div_value : float, optional, default=4.0
        By how much each next cluster has fewer features.
    head_bias : bool, optional, default=False
        Add a bias for the frequent ones.

    """

    def __init__(self, in_features, n_classes, cutoffs, div_value=4.0, head_bias=False, device=None, dtype=None):
        super().__init__()
        made = factory(device, dtype)
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        if (cutoffs != sorted(set(cutoffs)) or cutoffs[0] <= 0 or cutoffs[-1] > n_classes - 1
                or any(int(cutoff) != cutoff for cutoff in cutoffs)):
            raise ValueError("cutoffs should be a sequence of unique, positive integers sorted in an increasing order, "
                             "where each value is between 1 and n_classes-1")
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, **made)
        self.tail = ModuleList()
        for place, (low, high) in enumerate(zip(self.cutoffs, self.cutoffs[1:]), 1):
            inner = int(in_features // div_value ** place)
            self.tail.append(Sequential(Linear(in_features, inner, bias=False, **made),
                                        Linear(inner, high - low, bias=False, **made)))

    def reset_parameters(self):
        """Draw new parameters."""
        self.head.reset_parameters()
        for inner, outer in self.tail:
            inner.reset_parameters()
            outer.reset_parameters()

    def forward(self, input_, target_):
        """Return the log-probabilities of the targets, and the mean loss."""
        self._check(input_, target_)
        alone = target_.dim() == 0
        input, target = (ops.unsqueeze(input_, 0), ops.unsqueeze(target_, 0)) if alone else (input_, target_)
        low, high = int(ops.min(target).item()), int(ops.max(target).item())
        if low < 0 or high >= self.n_classes:
            raise RuntimeError(f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                               f"[{low}, {high}] were found. ")
        places = target  # of each target in the head: its own, or its cluster's
        output = ops.zeros((target.shape[0],), dtype=input.dtype, device=input.device)
        for number, (low, high) in enumerate(zip(self.cutoffs, self.cutoffs[1:])):
            inside = ops.logical_and(target >= low, target < high)
            rows = ops.squeeze(ops.nonzero(inside), 1)
            if rows.shape[0] == 0:
                continue
            places = ops.masked_fill(places, inside, self.shortlist_size + number)
            logs = ops.log_softmax(self.tail[number](ops.index_select(input, 0, rows)), 1)
            own = ops.unsqueeze(ops.index_select(target, 0, rows) - low, 1)
            output = ops.index_copy(output, 0, rows, ops.squeeze(ops.gather(logs, 1, own), 1))
        logs = ops.log_softmax(self.head(input), 1)
        output = output + ops.squeeze(ops.gather(logs, 1, ops.unsqueeze(places, 1)), 1)
        loss = ops.mean(ops.neg(output))
        return _ASMoutput(ops.squeeze(output, 0) if alone else output, loss)

    def _check(self, input, target):
        """Raise unless the shapes go together."""
        if target.dim() > 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        if target.dim() == 1 and input.shape[0] != target.shape[0]:
            raise RuntimeError("Input and target should have the same size in the batch dimension.")
        if input.dim() != target.dim() + 1:
            raise RuntimeError(f"{target.dim()}D target tensor expects {target.dim() + 1}D input tensors, but found "
                               f"inputs with size {input.size()}")

    def _get_full_log_prob(self, input, head_output):
        logs = F.log_softmax(head_output, 1)
        parts = [logs[:, :self.shortlist_size]]
        for number, cluster in enumerate(self.tail):
            own = logs[:, self.shortlist_size + number]
            parts.append(F.log_softmax(cluster(input), 1) + ops.unsqueeze(own, 1))
        return ops.cat(parts, 1)

    def log_prob(self, input):
        """Return the log-probabilities of all classes."""
        return self._get_full_log_prob(input, self.head(input))

    def predict(self, input):
        """Return the most probable class of each row: clusters are opened only where one is more probable."""
        head = self.head(input)
        best = ops.argmax(head, 1)
        rare = best >= self.shortlist_size
        if not ops.any(rare).item():
            return best
        return ops.where(rare, ops.argmax(self._get_full_log_prob(input, head), 1), best)
