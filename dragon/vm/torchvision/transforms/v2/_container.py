"""Transforms of transforms."""
from collections.abc import Sequence

from dragon.vm import torch
from dragon.vm.torchvision.transforms.v2._transform import Transform


class _Listed(Transform):
    def _hold(self, transforms, kinds=Sequence, what="a sequence of callables"):
        if not isinstance(transforms, kinds):
            raise TypeError(f"Argument transforms should be {what}")
        if not transforms:
            raise ValueError("Pass at least one transform")
        self.transforms = transforms

    def _run(self, transforms, inputs):
        several = len(inputs) > 1
        for transform in transforms:
            outputs = transform(*inputs)
            inputs = outputs if several else (outputs,)
        return outputs


class Compose(_Listed):
    """Apply one transform after another. ..."""

    def __init__(self, transforms):
        super().__init__()
        self._hold(transforms)

    def forward(self, *inputs):
        return self._run(self.transforms, inputs)

    def extra_repr(self):
        return "\n".join(f"    {transform}" for transform in self.transforms)


class RandomApply(_Listed):
    """Apply all of a list of transforms, or none.

    Parameters
    ----------
    transforms : Union[Sequence[Callable], ModuleList]
        The transforms.
    p : float, optional, default=0.5
        The probability of applying them.

    """

    def __init__(self, transforms, p=0.5):
        super().__init__()
        self._hold(transforms, (Sequence, torch.nn.ModuleList), "a sequence of callables or a `nn.ModuleList`")
        if not 0.0 <= p <= 1.0:
            raise ValueError("`p` should be a floating point value in the interval [0.0, 1.0].")
        self.p = p

    def _extract_params_for_v1_transform(self):
        return {"transforms": self.transforms, "p": self.p}

    def forward(self, *inputs):
        if torch.rand(1) >= self.p:
            return inputs if len(inputs) > 1 else inputs[0]
        return self._run(self.transforms, inputs)

    def extra_repr(self):
        return "\n".join(f"    {transform}" for transform in self.transforms)


class RandomChoice(_Listed):
    """Apply one of several transforms.

    Parameters
    ----------
    p : List[float], optional
        Their probabilities.

    """

    def __init__(self, transforms, p=None):
        super().__init__()
        self._hold(transforms)
        p = [1] * len(transforms) if p is None else p
        if len(p) != len(transforms):
            raise ValueError(f"Length of p doesn't match the number of transforms: {len(p)} != {len(transforms)}")
        self.p = [share / sum(p) for share in p]

    def forward(self, *inputs):
        return self.transforms[int(torch.multinomial(torch.tensor(self.p), 1))](*inputs)


class RandomOrder(_Listed):
    """Apply transforms in random order."""

    def __init__(self, transforms):
        super().__init__()
        self._hold(transforms)

    def forward(self, *inputs):
        return self._run([self.transforms[index] for index in torch.randperm(len(self.transforms)).tolist()], inputs)
