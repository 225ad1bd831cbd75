"""Ways to cut a module: which weights, and what goes in and comes out."""
import abc

from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.distributed.tensor._api import DTensor, distribute_tensor
from dragon.vm.torch.distributed.tensor._making import distribute_module
from dragon.vm.torch.distributed.tensor.placement_types import Replicate, Shard
from dragon.vm.torch.nn.modules import Embedding, Linear
from dragon.vm.torch.nn.parameter import Parameter


class ParallelStyle(abc.ABC):
    """A way to cut a module; subclasses say which."""

    src_data_rank = 0

    @abc.abstractmethod
    def _apply(self, module, device_mesh):
        """Cut a module."""


def _placed(module, mesh, name, placements, source):
    """Put a parameter of a module on a mesh."""
    parameter = module._parameters.get(name)
    if parameter is None:
        return
    made = parameter if isinstance(parameter, DTensor) else distribute_tensor(parameter, mesh, placements,
                                                                              src_data_rank=source)
    module.register_parameter(name, Parameter(made, requires_grad=parameter.requires_grad))


def on_mesh(x, mesh, placements):
    """Return a tensor on a mesh, of a part of it."""
    return x if isinstance(x, DTensor) else DTensor.from_local(x, mesh, placements, run_check=False)


def moved(x, placements):
    """Return a tensor on a mesh by other placements, if they are others."""
    return x if x.placements == tuple(placements) else x.redistribute(placements=placements)


class _Cut(ParallelStyle):
    """A way to cut weights along one axis.

    Parameters
    ----------
    input_layouts : Placement, optional
        How parts that go in make the whole.
    output_layouts : Placement, optional
        How the result shall lie.
    use_local_output : bool, optional, default=True
        Whether parts of results are returned, as plain tensors.

    """

    taken, given = Replicate(), Replicate()

    def __init__(self, *, input_layouts=None, output_layouts=None, use_local_output=True):
        super().__init__()
        self.input_layouts = (input_layouts or self.taken,)
        self.output_layouts = (output_layouts or self.given,)
        self.use_local_output = use_local_output

    def _wanted(self, module):
        """Return how what goes in shall lie."""
        raise NotImplementedError

    def _partition(self, name, module, mesh):
        """Put the weights of a module on a mesh."""
        raise NotImplementedError

    def _apply(self, module, device_mesh):
        if not isinstance(module, (Linear, Embedding)):
            raise NotImplementedError(f"{type(self).__name__} currently only support nn.Linear and nn.Embedding! Got "
                                      f"{type(module).__name__}")
        wanted = self._wanted(module)

        def take(owner, inputs, mesh):
            return moved(on_mesh(inputs[0], mesh, self.input_layouts), wanted), *inputs[1:]

        def give(owner, output, mesh):
            output = moved(output, self._normal(output))
            return output.to_local() if self.use_local_output else output
        return distribute_module(module, device_mesh, self._partition, take, give)

    def _normal(self, x):
        """Return the result's placements, whose axes count from the first."""
        return tuple(Shard(each.dim % x.ndim) if each.is_shard() else each for each in self.output_layouts)

    def __repr__(self):
        return f"{type(self).__name__}(input_layouts={self.input_layouts}, output_layouts={self.output_layouts}, " \
               f"use_local_output={self.use_local_output})"


class ColwiseParallel(_Cut):
    """Cut what comes out: a `Linear`'s rows of weights and its bias, an `Embedding`'s columns.

    Parameters
    ----------
    input_layouts : Placement, optional
        How parts that go in make the whole; all have all of it by default.
    output_layouts : Placement, optional
        How the result shall lie; cut along its last axis by default.
    use_local_output : bool, optional, default=True
        Whether parts of results are returned, as plain tensors.

    """

    given = Shard(-1)

    def _wanted(self, module):
        return (Replicate(),)

    def _partition(self, name, module, mesh):
        if isinstance(module, Embedding):
            return _placed(module, mesh, "weight", [Shard(1)], self.src_data_rank)
        for each in ("weight", "bias"):
            _placed(module, mesh, each, [Shard(0)], self.src_data_rank)


class RowwiseParallel(_Cut):
    """Cut what goes in: a `Linear`'s columns of weights, an `Embedding`'s rows; results are summed up.

    Parameters
    ----------
    input_layouts : Placement, optional
        How parts that go in make the whole; cut along the last axis by default.
    output_layouts : Placement, optional
        How the result shall lie; all have all of it by default.
    use_local_output : bool, optional, default=True
        Whether parts of results are returned, as plain tensors.

    """

    taken = Shard(-1)

    def _wanted(self, module):
        return (Replicate() if isinstance(module, Embedding) else Shard(-1),)

    def _partition(self, name, module, mesh):
        _placed(module, mesh, "weight", [Shard(0 if isinstance(module, Embedding) else 1)], self.src_data_rank)
        _placed(module, mesh, "bias", [Replicate()], self.src_data_rank)


class SequenceParallel(ParallelStyle):
    """Cut examples along the sequence, for layers whose weights all have: norms and dropout.

    Parameters
    ----------
    sequence_dim : int, optional, default=1
        The axis of the sequence.
    use_local_output : bool, optional, default=False
        Whether parts of results are returned, as plain tensors.

    """

    def __init__(self, *, sequence_dim=1, use_local_output=False):
        super().__init__()
        self.sequence_sharding, self.use_local_output = (Shard(sequence_dim),), use_local_output

    def _partition(self, name, module, mesh):
        for each, parameter in list(module._parameters.items()):
            if parameter is not None and not isinstance(parameter, DTensor):
                made = DTensor.from_local(parameter.detach(), mesh, [Replicate()], run_check=False)
                module.register_parameter(each, Parameter(made, requires_grad=parameter.requires_grad))

    def _apply(self, module, device_mesh):
        def take(owner, inputs, mesh):
            x = inputs[0]
            if not isinstance(x, Tensor):
                raise ValueError(f"expecting input of {owner} to be a torch.Tensor or DTensor, but got {x}")
            return moved(on_mesh(x, mesh, self.sequence_sharding), self.sequence_sharding), *inputs[1:]

        def give(owner, output, mesh):
            return output.to_local() if self.use_local_output else output
        return distribute_module(module, device_mesh, self._partition, take, give)

    def __repr__(self):
        return f"{type(self).__name__}(sequence_dim={self.sequence_sharding[0].dim}, use_local_output=" \
               f"{self.use_local_output})"
