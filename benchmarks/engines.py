"""The two sides of every comparison, behind the same few words.

An operator is asked for by its name and called with positional arguments: `e.softmax(x, -1)`. Dragon's operators carry
PyTorch's names and order, so a case is written once.
"""
import importlib


class Torch:
    """Genuine PyTorch."""

    name = "torch"

    def __init__(self, threads):
        self.torch = importlib.import_module("torch")
        self.torch.set_num_threads(threads)
        functional = self.torch.nn.functional
        self.places = (self.torch, functional, self.torch.special, self.torch.linalg)
        self.gelu, self.conv2d = functional.gelu, functional.conv2d
        self.attention, self.im2col = functional.scaled_dot_product_attention, functional.unfold

    def __getattr__(self, name):
        family, _, short = name.partition("_")
        if family in ("linalg", "fft"):  # Dragon's names have the module in front
            return getattr(getattr(self.torch, family), short)
        for place in self.places:
            if hasattr(place, name):
                return getattr(place, name)
        raise AttributeError(f"torch has no function {name}")

    def array(self, values, grad=False):
        """Return a tensor that holds a copy of a NumPy array."""
        return self.torch.from_numpy(values.copy()).requires_grad_(grad)

    def half(self, x):
        """Return a tensor as bfloat16."""
        return x.to(self.torch.bfloat16)

    def version(self):
        """Return a line for the heading of a table."""
        return f"PyTorch {self.torch.__version__}"

    def sgd(self, parameters, rate):
        """Return the step function of an SGD optimizer."""
        optimizer = self.torch.optim.SGD(parameters, lr=rate)
        return optimizer.step, optimizer.zero_grad

    def adamw(self, parameters):
        """Return the step function of an AdamW optimizer."""
        return self.torch.optim.AdamW(parameters).step


class Dragon:
    """Dragon's native API."""

    name = "dragon"

    def __init__(self, threads):
        self.dragon = importlib.import_module("dragon")
        self.dragon.set_num_threads(threads)

    def __getattr__(self, name):
        return getattr(self.dragon.ops, name)

    def array(self, values, grad=False):
        """Return a tensor that holds a copy of a NumPy array."""
        return self.dragon.tensor(values, requires_grad=grad)

    def half(self, x):
        """Return a tensor as bfloat16."""
        return x.astype(self.dragon.bfloat16)

    def version(self):
        """Return a line for the heading of a table."""
        return f"dragon {self.dragon.__version__}, {self.dragon.cpu_level()} kernels"

    def sgd(self, parameters, rate):
        """Return the step function of an SGD optimizer."""
        optimizer = self.dragon.optimizers.SGD(parameters, lr=rate)
        return optimizer.step, optimizer.zero_grad

    def adamw(self, parameters):
        """Return the step function of an AdamW optimizer."""
        return self.dragon.optimizers.AdamW(parameters).step

    def conv2d(self, x, weight, bias, stride, padding, dilation, groups):
        """Convolve in two dimensions."""
        return self.dragon.ops.conv(x, weight, bias, stride, padding, dilation, groups)

    def attention(self, q, k, v):
        """Attend."""
        return self.dragon.ops.scaled_dot_product_attention(q, k, v)


ENGINES = {"torch": Torch, "dragon": Dragon}
