"""Computations of layers that are no function of `torch.nn.functional`."""
from dragon.vm.torch.core.tensor import ops


class CrossMapLRN2d:
    """Local response normalization in its older form, called through `apply` as it always was."""

    @staticmethod
    def apply(input, size, alpha=1e-4, beta=0.75, k=1):
        """Return `x / (k + alpha / size * sum of squares in the window) ** beta`."""
        if input.dim() != 4:
            raise ValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input.dim()}D instead.")
        squares = ops.unbind(ops.square(input), 1)
        channels, reach = len(squares), int((size - 1) / 2 + 1)
        sums = [sum(squares[1:reach], squares[0])]
        for channel in range(1, channels):
            total = sums[-1]
            if channel < channels - reach + 1:
                total = total + squares[channel + reach - 1]
            # As in PyTorch, whose window never lets the first channel go.
            if channel > reach:
                total = total - squares[channel - reach]
            sums.append(total)
        return input * ops.pow(ops.stack(sums, 1) * (alpha / size) + k, -beta)
