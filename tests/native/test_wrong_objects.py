"""Objects that are none of what a binding takes: refused by name, whatever they are, and nothing is kept or lost."""
import gc
import weakref

import numpy
import pytest

import dragon
from dragon import _C
from dragon.vm import torch
from harness.subresults import each

WRONG = [None, 3, "text", object(), dragon.Tensor, numpy.zeros(3), [None], _C.Graph()]
# What takes one tensor, and the other arguments that it wants.
OF_A_TENSOR = {"dlpack_device": (), "is_open": (), "phantom_like": ((3,),), "to_dlpack": (), "lend_memory": (),
               "is_pinned": (), "pin": (), "record_stream": (0,), "memory_key": (), "storage_owners": (), "as_class": (
                   dragon.Tensor,), "keep_saved": (), "is_recorded": (), "shared_block_of": (), "tensor_hooks": (),
               "register_hook": (print,), "become": (dragon.tensor([1.0]),), "forget": (), "output_number": ()}


def x():
    return dragon.tensor([1.0, 2.0, 3.0])


@each("name", OF_A_TENSOR)
def test_what_is_no_tensor_is_refused(name):
    for wrong in WRONG:
        with pytest.raises(TypeError, match=r"got (None|'[\w.]+'), expected a tensor|incompatible"):
            getattr(_C, name)(wrong, *OF_A_TENSOR[name])


def test_the_error_says_who_what_and_what_would_do():
    with pytest.raises(TypeError, match=r"^__dlpack_device__: got None, expected a tensor$"):
        torch.Tensor.__dlpack_device__(None)
    with pytest.raises(TypeError, match=r"^compiled: got 'int' at 1, expected a tensor$"):
        trace = _C.Trace()
        trace.add_input(x())
        trace.start()
        y = x() * 2
        trace.stop()
        trace.finish([y]).compile().run([x(), 3])


@pytest.mark.parametrize("call", (
    lambda wrong: _C.from_dlpack(x(), wrong), lambda wrong: _C.tensor([1], tensor_class=wrong),
    lambda wrong: _C.from_buffer(numpy.zeros(2), wrong), lambda wrong: _C.as_class(x(), wrong),
    lambda wrong: _C.shared_tensor((2,), "float32", None, wrong if wrong is not None else 3),
    lambda wrong: _C.switch_saved_tensor_hooks((print, print, wrong)),
    lambda wrong: _C.set_parts_handler(wrong, wrong, print), lambda wrong: _C.evaluate_graph(_C.Graph(), (), wrong)))
def test_what_is_no_class_of_tensors_is_refused(call):
    for wrong in (None, 3, "text", int, object()):
        with pytest.raises(TypeError, match="class"):
            call(wrong)


def test_no_method_is_called_for_none():
    """pybind11 makes a null pointer of it."""
    methods = [(cls, name, value) for cls in vars(_C).values() if type(cls).__name__ == "pybind11_type"
               for name, value in vars(cls).items() if name not in ("__init__", "__eq__")]
    read = [value.fget for _, _, value in methods if isinstance(value, property)]
    called = [getattr(cls, name) for cls, name, value in methods if type(value).__name__ == "instancemethod"]
    assert len(read) > 40 and len(called) > 100
    for function in read + called:
        with pytest.raises(TypeError):
            function(None)


@pytest.mark.parametrize("answer", (None, 3, "text", [None], [3], (), [object()]))
def test_a_class_that_answers_with_no_tensor(answer):
    class Wrapper(torch.Tensor):
        @staticmethod
        def __new__(cls, inner):
            return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return answer
    w = Wrapper(torch.ones(3))
    for call in (lambda: dragon.ops.relu(w), lambda: dragon.ops.add(w, w), lambda: dragon.ops.sort(w),
                 lambda: torch.vmap(lambda t: torch.relu(t) + w)(torch.ones(2, 3)),
                 lambda: torch.func.grad(lambda t: (t * w).sum())(torch.ones(3)), lambda: repr(w)):
        try:
            call()
        except (TypeError, ValueError, RuntimeError, AttributeError, NotImplementedError):
            pass
    with pytest.raises((TypeError, ValueError), match="relu: got"):
        dragon.ops.relu(w)


def test_guards_keep_what_they_watch():
    class Watched:
        pass
    guards, watched = _C.Guards(), Watched()
    guards.add(5, watched, ["a"], [(3, None)])
    kept = weakref.ref(watched)
    del watched
    gc.collect()
    assert kept() is not None and guards.check(()) == []
    kept().a = 1
    assert guards.check(()) is None and guards.changes() == [(0, 0)]
    kept().guards = guards  # a circle that the collector takes apart
    del guards
    gc.collect()
    assert kept() is None


@each("spec", (
    (9, "x", 3), (3, "x", int, ()), (2, "x", dict, ()), (4, "x", dict, (), ("a",)), (1, "x", 77, 3), (0, "x", 3),
    (1, "x", 2), ("a", "x", 3), (2, 3, tuple, ()), 3))
def test_guards_refuse_what_no_argument_looks_like(spec):
    with pytest.raises((TypeError, ValueError)):
        _C.Guards().set_arguments((spec,), ())


def test_guards_stay_as_they_are_while_they_compare():
    class Meddling:
        def __eq__(self, other):
            with pytest.raises(RuntimeError, match="while a check runs"):
                guards.set_arguments((), ())
            watched.clear()
            return True

        __hash__ = None
    guards = _C.Guards()
    watched = [Meddling(), Meddling(), 3]
    guards.add(3, watched, (), [(2, Meddling()), (2, Meddling()), (2, 3)])
    assert guards.check(()) is None


def test_generator_guards_may_go_in_any_order():
    def drawn_from(seed):
        return _C.current_generator().initial_seed() == seed
    one, two = _C.GeneratorGuard(_C.Generator(1)), _C.GeneratorGuard(_C.Generator(2))
    assert drawn_from(2)
    del one
    assert drawn_from(2)
    del two
    assert _C.current_generator() is _C.default_generator()


def test_lists_that_hold_themselves_often_are_refused_at_once():
    """Each level would be read twice as often as the one above."""
    home = [range(3)]
    home += [home, home]
    with pytest.raises((ValueError, TypeError)):
        dragon.tensor(home)


def test_a_graph_knows_what_it_is_told_of():
    graph = _C.Graph()
    graph.add_input([3], symbolic={0: "n"})
    for field, wrong in (("inputs", [99]), ("outputs", [-5]), ("updates", [(0, 9)]), ("updates", [(7, 0)]),
                         ("symbols", [])):
        with pytest.raises((IndexError, ValueError)):
            setattr(graph, field, wrong)
    assert graph.value(0).symbolic == {0: "n"} and str(graph)


def test_a_graph_is_no_generator():
    with pytest.raises(TypeError, match="expected a Generator"):
        dragon.ops.dropout(x(), 0.5, True, generator=_C.GraphBody(_C.Graph()))


def test_inputs_and_numbers_that_are_not_there():
    trace, scribe, given = _C.Trace(), _C.Scribe(), x()
    trace.add_input(given)
    for number in (-1, 1, 1 << 30):
        with pytest.raises(ValueError, match=rf"set_owner: got input {number}, expected one of 1"):
            trace.set_owner(number, given)
    trace.start()
    scribe.add_argument(given, [0])
    scribe.start()
    y = given * given
    scribe.stop()
    trace.stop()
    parts = _C.finish_procedure(scribe, [y]).parts()
    run = parts.begin([given], [])
    for numbers in ([], [0], numpy.zeros(2, "int64")):
        with pytest.raises(ValueError, match="finish: got a run after step 0, expected one after the last, "):
            run.finish(numbers)
    for part in range(len(parts)):
        run.enter(part)
        run.advance(part)
    for number in (-1, 1000):
        with pytest.raises(ValueError, match=f"finish: got number {number}, expected one of "):
            run.finish([number])
    assert run.finish([])[0].numpy().tolist() == [1, 4, 9]
    with pytest.raises(AttributeError, match="ops: got an empty name, expected an operator's"):
        getattr(dragon.ops, "")
