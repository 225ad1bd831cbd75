"""Branches and loops among the engine's calls: their graphs, which are the engine's as well, are said in turn."""
from dragon.core.graph import Graph
from dragon.vm.torch.core.exporting.control_flow import COND, WHILE, _copied, _finished, _traced
from dragon.vm.torch.core.exporting.tracing_state import current_tracer
from dragon.vm.torch.core.exporting.engine_to_aten.table import lowering


def _lower(t, body, values):
    """Return what a graph of the engine's gives, as whoever listens by now writes it down."""
    graph = Graph(body.graph)
    made = type(t)(graph, current_tracer(), zip(graph.inputs, values), list(graph.outputs), t.sizes).run()
    return [t.tensor(made[value]) for value in graph.outputs]


def _modules(t, bodies, operands, name):
    """Return the graphs as modules, and what else they read: {node: tensor}."""
    lifted, branches = {}, []
    names = [f"arg{number}_1" for number in range(len(operands))]
    for label, body in bodies.items():
        given = t.tracer.quietly(_copied, (operands,), {})
        branch, _, _ = _traced(t.tracer, lambda *values, body=body: _lower(t, body, values), given, lifted, names)
        branches.append((branch, label))
    return _finished(t.tracer, branches, lifted, name), lifted


@lowering("cond")
def _cond(t, predicate, operands, then, otherwise):
    operands = [t.tensor(value) for value in operands]
    modules, lifted = _modules(t, {"true_graph": then, "false_graph": otherwise}, operands, "cond")
    return list(t.tracer.emit_higher(COND, (t.tensor(predicate), *modules, (*operands, *lifted)), lifted))


@lowering("while_loop")
def _while_loop(t, carried, constants, condition, body, limit=None):
    if limit is not None:
        return NotImplemented
    carried, constants = [t.tensor(value) for value in carried], [t.tensor(value) for value in constants]
    modules, lifted = _modules(t, {"while_loop_cond_graph": condition, "while_loop_body_graph": body},
                               [*carried, *constants], "while_loop")
    return list(t.tracer.emit_higher(WHILE, (*modules, tuple(carried), (*constants, *lifted)), lifted))
