"""Modules: callables that own parameters and other modules."""
from dragon.tensor import Tensor, asarray, ops


def Parameter(data, requires_grad=True):
    """Return data as a leaf that gathers gradients."""
    return asarray(data).detach().requires_grad_(requires_grad)


class Module:
    """Own what is assigned to its attributes: leaves that gather gradients are parameters, modules are children.

    Subclass it, assign parameters and modules in `__init__`, and write `forward`.
    """

    training = True

    def forward(self, *args):
        """Compute the results."""
        raise NotImplementedError(f"{type(self).__name__}: got no forward, expected a method forward(self, *args)")

    def __call__(self, *args, **kwargs):
        return self.forward(*args, **kwargs)

    def named_children(self):
        """Yield (name, module) of the modules this one owns directly."""
        for name, value in vars(self).items():
            if isinstance(value, Module):
                yield name, value

    def modules(self):
        """Yield this module and all below it."""
        yield self
        for _, child in self.named_children():
            yield from child.modules()

    def named_parameters(self, prefix=""):
        """Yield (dotted name, tensor) of all parameters, each once."""
        seen = set()
        for name, value in vars(self).items():
            if isinstance(value, Tensor) and value.requires_grad and value.is_leaf:
                pairs = [(prefix + name, value)]
            elif isinstance(value, Module):
                pairs = value.named_parameters(f"{prefix}{name}.")
            else:
                continue
            for path, tensor in pairs:
                if id(tensor) not in seen:
                    seen.add(id(tensor))
                    yield path, tensor

    def parameters(self):
        """Return the list of all parameters."""
        return [tensor for _, tensor in self.named_parameters()]

    def state_dict(self):
        """Return {dotted name: tensor without history}; the memory is shared."""
        return {name: tensor.detach() for name, tensor in self.named_parameters()}

    def load_state_dict(self, state):
        """Copy numbers into the parameters; names and shapes must agree."""
        own = dict(self.named_parameters())
        if set(own) != set(state):
            raise ValueError(f"load_state_dict: got the names {sorted(state)}, expected {sorted(own)}")
        for name, tensor in own.items():
            if tuple(state[name].shape) != tuple(tensor.shape):
                raise ValueError(f"load_state_dict: got shape {tuple(state[name].shape)} for '{name}', "
                                 f"expected {tuple(tensor.shape)}")
        for name, tensor in own.items():
            ops.copy(state[name].detach(), out=tensor.detach())

    def train(self, mode=True):
        """Switch this module and all below it to training or evaluation; returns the module."""
        for module in self.modules():
            module.training = mode
        return self

    def eval(self):
        """Switch to evaluation."""
        return self.train(False)

    def __repr__(self):
        children = [f"  ({name}): " + repr(child).replace("\n", "\n  ") for name, child in self.named_children()]
        inner = "\n" + "\n".join(children) + "\n" if children else self.describe()
        return f"{type(self).__name__}({inner})"

    def describe(self):
        """Return what stands between the parentheses when a module without children is printed."""
        return ""
