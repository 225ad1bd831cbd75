"""Modules: callables that own parameters and other modules."""
from dragon import _C
from dragon.core.module import Module as AnyModule, twin
from dragon.tensor import Tensor, asarray


def Parameter(data, requires_grad=True):
    """Return data as a leaf that gathers gradients."""
    return asarray(data).detach().requires_grad_(requires_grad)


class Module(AnyModule):
    """Own what is assigned to its attributes: leaves that gather gradients are parameters, modules are children.

    Subclass it, assign parameters and modules in `__init__`, and write `forward`.

    Examples
    --------
    >>> class Net(nn.Module):
    ...     def __init__(self):
    ...         self.linear = nn.Linear(4, 2)
    ...     def forward(self, x):
    ...         return self.linear(x).relu()
    >>> net = Net()
    >>> net(dragon.zeros((8, 4))).shape
    (8, 2)
    >>> [name for name, _ in net.named_parameters()]
    ['linear.weight', 'linear.bias']

    """

    def forward(self, *args):
        """Compute the results."""
        raise NotImplementedError(f"{type(self).__name__}: got no forward, expected a method forward(self, *args)")

    def __call__(self, *args, **kwargs):
        return self.forward(*args, **kwargs)

    @property
    def _parameters(self):
        return {name: value for name, value in vars(self).items()
                if isinstance(value, _C.Tensor) and value.requires_grad and value.is_leaf}

    @property
    def _modules(self):
        return {name: value for name, value in vars(self).items() if isinstance(value, AnyModule)}

    @classmethod
    def _adopt(cls, tensor, is_parameter):
        """Return a tensor that a module of another face owns, as a native one."""
        return tensor if isinstance(tensor, Tensor) else twin(tensor, Tensor, Tensor)

    @classmethod
    def _show(cls, tensor):
        """Return a tensor of another face as a native one."""
        return tensor if isinstance(tensor, Tensor) else _C.as_class(tensor, Tensor)

    def parameters(self, recurse=True):
        """Return the list of all parameters.

        Parameters
        ----------
        recurse : bool, optional, default=True
            Whether those of submodules are among them.

        Returns
        -------
        List[Tensor]
            Each once.

        Examples
        --------
        >>> [tuple(parameter.shape) for parameter in nn.Linear(3, 2).parameters()]
        [(2, 3), (2,)]

        """
        return list(super().parameters(recurse))

    def __repr__(self):
        children = [f"  ({name}): " + repr(child).replace("\n", "\n  ") for name, child in self.named_children()]
        inner = "\n" + "\n".join(children) + "\n" if children else self.describe()
        return f"{type(self).__name__}({inner})"

    def describe(self):
        """Return what stands between the parentheses when a module without children is printed."""
        return ""
