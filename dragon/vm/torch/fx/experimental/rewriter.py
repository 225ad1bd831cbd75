"""`RewritingTracer`: trace code in which assertions and types of local names have been written as calls."""
import ast
import copy
import functools
import inspect
import textwrap

from dragon.vm.torch.core.graphs.naming import torch_module
from dragon.vm.torch.core.graphs.tracer import Tracer
from dragon.vm.torch.fx.annotate import annotate
from dragon.vm.torch.nn.modules.module import Module


class AST_Rewriter(ast.NodeTransformer):
    """Write `assert test, words` as `torch._assert(test, words)`, `name: type = value` as `annotate(value, type)`."""

    def rewrite(self, fn):
        """Return a function whose code is written so.

        Parameters
        ----------
        fn : FunctionType
            The function; its source must be there.

        Returns
        -------
        FunctionType
            The other function.

        """
        tree = self.visit(ast.parse(textwrap.dedent(inspect.getsource(fn))))
        tree.body[0].decorator_list = []
        # A function around it hands in what it has from outside, so that its globals stay those of its module.
        given = {"_torch": torch_module(), "_annotate": annotate,
                 **{name: cell.cell_contents for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or ())}}
        holder = ast.parse(f"def _hold({', '.join(given)}):\n    return {fn.__name__}")
        holder.body[0].body.insert(0, tree.body[0])
        names = {}
        exec(compile(ast.fix_missing_locations(holder), fn.__code__.co_filename, "exec"), fn.__globals__, names)
        made = names["_hold"](**given)
        made.__defaults__, made.__kwdefaults__ = fn.__defaults__, fn.__kwdefaults__
        return functools.update_wrapper(made, fn, assigned=("__module__", "__name__", "__doc__", "__annotations__"),
                                        updated=())

    def visit_Assert(self, node):
        """Return a call for an assertion."""
        words = node.msg or ast.Constant("")
        call = ast.parse("_torch._assert()", mode="eval").body
        call.args = [node.test, words]
        return ast.copy_location(ast.Expr(call), node)

    def visit_AnnAssign(self, node):
        """Return an assignment for one with a type."""
        if node.value is None:
            return node
        call = ast.parse("_annotate()", mode="eval").body
        call.args = [node.value, node.annotation]
        return ast.copy_location(ast.Assign([node.target], call), node)


class RewritingTracer(Tracer):
    """A tracer to which assertions and types of local names are calls."""

    def trace(self, root, concrete_args=None):
        """Rewrite a function or module, and trace it."""
        return super().trace(_rewrite(root), concrete_args)


def _rewrite(fn):
    if not isinstance(fn, Module):
        made = AST_Rewriter().rewrite(fn)
        made.__dict__.pop("__wrapped__", None)
        return made
    forward = AST_Rewriter().rewrite(type(fn).forward)
    forward.__dict__.pop("__wrapped__", None)
    kind = type(fn.__class__.__name__, (type(fn),), {"forward": forward})
    made = kind.__new__(kind)
    made.__dict__.update(copy.copy(fn.__dict__))
    made._modules = {name: child if type(child).__module__.startswith(Module.__module__.rpartition(".modules")[0])
                     else _rewrite(child) for name, child in fn._modules.items() if child is not None}
    return made
