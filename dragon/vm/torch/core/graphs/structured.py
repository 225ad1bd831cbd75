"""Graphs of functions whose arguments and results are nested: flattened at the beginning, and rebuilt at the end."""
from typing import List, NamedTuple, Optional

from dragon.vm.torch.core.graphs.code import CodeGen
from dragon.vm.torch.utils import _pytree as pytree


class _PyTreeInfo(NamedTuple):
    """The function's arguments, and how they and its results are nested."""

    orig_args: List[str]
    in_spec: pytree.TreeSpec
    out_spec: Optional[pytree.TreeSpec]


class _PyTreeCodeGen(CodeGen):
    """Write functions that take and return nested containers.

    Parameters
    ----------
    pytree_info : _PyTreeInfo
        How they are nested.

    """

    def __init__(self, pytree_info):
        super().__init__()
        self.pytree_info = pytree_info

    def process_inputs(self, *inputs):
        """Return the leaves of the arguments."""
        return pytree.arg_tree_leaves(*inputs)

    def process_outputs(self, out):
        """Return the results, nested."""
        if not isinstance(out, (list, tuple)):
            out = [out]
        return out if self.pytree_info.out_spec is None else pytree.tree_unflatten(out, self.pytree_info.out_spec)

    def gen_fn_def(self, free_vars, maybe_return_annotation, *, expanded_def=False):
        """Return the lines that begin the function: its head, and the leaves of its arguments."""
        if self.pytree_info is None:
            return super().gen_fn_def(free_vars, maybe_return_annotation, expanded_def=expanded_def)
        names = list(self.pytree_info.orig_args)
        has_self = bool(names) and names[0] == "self"
        if has_self:
            free_vars.insert(0, "self")
        head = super().gen_fn_def(names, maybe_return_annotation, expanded_def=expanded_def)
        if not free_vars:
            return head
        leaves = [name.partition(":")[0].partition("=")[0].strip().strip("*") for name in free_vars]
        given = [name.partition(":")[0].partition("=")[0].strip() for name in names]
        spec = self.pytree_info.in_spec
        if spec.type is tuple and spec.num_children == 2 and spec.child(0).type is tuple and \
                spec.child(1).type is dict:  # (args, kwargs), as exporters have them
            count = spec.child(0).num_children
            positional = given[1:] if has_self else given
            leaves = leaves[1:] if has_self else leaves
            if not leaves:
                return head
            by_name = dict(zip(spec.child(1).context, positional[count:]))
            words = ", ".join(f"'{key}':{name}" for key, name in by_name.items())
            joined = ", ".join(positional[:count]) + ("," if count == 1 else "")
            tree = f"([{joined}], {{{words}}})"
        else:
            tree = f"[{', '.join(given)}]"
        return f"{head}\n    {', '.join(leaves)}, = fx_pytree.tree_flatten_spec({tree}, self._in_spec)"

    def generate_output(self, output_args, *, descs=None, repr_fn=None):
        """Return the statement that nests the results again."""
        write = repr_fn or repr
        if self.pytree_info is not None and self.pytree_info.out_spec is not None:
            if not isinstance(output_args, (list, tuple)):
                output_args = [output_args]
            return f"return pytree.tree_unflatten({write(output_args)}, self._out_spec)"
        return super().generate_output(output_args, descs=descs, repr_fn=repr_fn)
