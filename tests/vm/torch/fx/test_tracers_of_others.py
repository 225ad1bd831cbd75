"""Tracers with a `trace` of their own, as libraries write them over the names of `torch.fx._symbolic_trace`."""
import pytest

from dragon.vm import torch as dt

ROOMS = [dt, pytest.importorskip("torch")]


def tracer(room):
    """Return a tracer that looks into a model's own layers alone, patching modules as libraries do."""
    import importlib
    st = importlib.import_module(room.fx.__name__ + "._symbolic_trace")

    class Tracer(room.fx.Tracer):
        def is_leaf_module(self, module, name):
            return not isinstance(module, room.nn.Sequential)

        @st.compatibility(is_backward_compatible=True)
        def trace(self, root, concrete_args=None):
            self.root, function = root, type(root).forward
            self.submodule_paths = {module: name for name, module in root.named_modules()}
            self.graph = room.fx.Graph(tracer_cls=type(self))
            self.tensor_attrs = {}
            assert isinstance(function, st.FunctionType)
            assert not any(isinstance(value, st.ScriptObject) for value in vars(root).values())
            function, args = self.create_args_for_root(function, True, concrete_args)
            cache = {}

            @st.functools.wraps(st._orig_module_getattr)
            def read(module, name):
                return self.getattr(name, st._orig_module_getattr(module, name), cache)

            @st.functools.wraps(st._orig_module_call)
            def call(module, *args, **kwargs):
                def forward(*args, **kwargs):
                    return st._orig_module_call(module, *args, **kwargs)
                st._autowrap_check(patcher, module.forward.__globals__, self._autowrap_function_ids)
                return self.call_module(module, forward, args, kwargs)
            with st._Patcher() as patcher:
                patcher.patch_method(room.nn.Module, "__getattr__", read, deduplicate=False)
                patcher.patch_method(room.nn.Module, "__call__", call, deduplicate=False)
                st._patch_wrapped_functions(patcher)
                for module in self._autowrap_search:
                    st._autowrap_check(patcher, module.__dict__, self._autowrap_function_ids)
                self.create_node("output", "output", (self.create_arg(function(*args)),), {})
            return self.graph
    return Tracer()


@pytest.mark.parametrize("room", ROOMS)
def test_graphs_are_those_of_the_tracer(room):
    class Model(room.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = room.nn.Sequential(room.nn.Linear(2, 3), room.nn.ReLU())
            self.scale = room.nn.Parameter(room.ones(3))

        def forward(self, x):
            return self.layers(x) * self.scale
    model, before = Model(), room.nn.Module.__call__
    graph = tracer(room).trace(model)
    assert [(node.op, str(node.target).split(".")[-1]) for node in graph.nodes][:4] == [
        ("placeholder", "x"), ("call_module", "0"), ("call_module", "1"), ("get_attr", "scale")]
    x = room.tensor([[1.0, -2.0]])
    assert room.fx.GraphModule(model, graph)(x).tolist() == model(x).tolist()
    assert room.nn.Module.__call__ is before


@pytest.mark.parametrize("room", ROOMS)
def test_patches_come_and_go(room):
    import importlib
    st = importlib.import_module(room.fx.__name__ + "._symbolic_trace")
    names = {"one": 1}

    def count(row):
        return len(row)
    with st._Patcher() as patcher:
        patcher.patch(names, "one", count)
        patcher.patch(names, "len", count)
        assert names["one"] is count and patcher.visit_once(names) and not patcher.visit_once(names)
    assert names == {"one": 1}
