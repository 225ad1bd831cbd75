"""What layers compute that is no function of `torch.nn.functional`."""
from dragon.vm.torch.core.missing import module_getattr
from dragon.vm.torch.core.tensor import ops


class CrossMapLRN2d:
    """Local response normalization in its older form, called through `apply` as it always was."""

    @staticmethod
    def apply(input, size, alpha=1e-4, beta=0.75, k=1):
        """Return `x / (k + alpha / size * sum of squares in the window) ** beta`."""
        if input.dim() != 4:
            raise ValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input.dim()}D instead.")
        # The window opens (size - 1) // 2 + 1 wide and is cut at both ends.
        reach = int((size - 1) / 2 + 1) - 1
        squares = ops.pad(ops.square(input), (0, 0, 0, 0, reach, reach))
        channels = input.shape[1]
        total = ops.narrow(squares, 1, 0, channels)
        for step in range(1, 2 * reach + 1):
            total = total + ops.narrow(squares, 1, step, channels)
        return input * ops.pow(total * (alpha / size) + k, -beta)


__getattr__ = module_getattr("torch.nn.modules._functions", globals())
