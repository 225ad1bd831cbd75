"""`PassBase`: a change of graphs, with what must hold before and after."""
import abc
from collections import namedtuple

from dragon.vm.torch.fx.graph_module import GraphModule


class PassResult(namedtuple("PassResult", ["graph_module", "modified"])):
    """A module, and whether it was changed."""

    __slots__ = ()

    def __new__(cls, graph_module, modified):
        return super().__new__(cls, graph_module, modified)


class PassBase(abc.ABC):
    """A change of graphs: a derived class says in `call` what it does."""

    def __call__(self, graph_module: GraphModule):
        self.requires(graph_module)
        result = self.call(graph_module)
        self.ensures(graph_module)
        return result

    @abc.abstractmethod
    def call(self, graph_module):
        """Return a PassResult of a module.

        Parameters
        ----------
        graph_module : GraphModule
            The module.

        Returns
        -------
        Optional[PassResult]
            The module, and whether it was changed.

        """

    def requires(self, graph_module):
        """Raise where a module is not fit for it."""

    def ensures(self, graph_module):
        """Raise where a module is not as it should be afterwards."""
