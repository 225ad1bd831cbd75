"""torch.utils: timing statements, and what a report of a fault tells."""
from dragon.vm import torch as dt


def test_timer():
    found = dt.utils.benchmark.Timer("x + 1", globals={"x": dt.ones(2)}, label="sum").blocked_autorange(
        min_run_time=0.002)
    assert 0 < found.median < 0.1 and "sum" in repr(found) and found.iqr >= 0
    assert dt.utils.benchmark.Timer("pass").timeit(10).number_per_run == 10
    assert "CUDA" in dt.utils.collect_env.get_pretty_env_info()


def test_swapped_tensors_keep_their_holders():
    first, second = dt.nn.Parameter(dt.ones(2)), dt.nn.Parameter(dt.zeros(3), requires_grad=False)
    first.sum().backward()
    first.mark = "one"
    holders = [first, second]
    dt.utils.swap_tensors(first, second)
    assert holders[0].tolist() == [0, 0, 0] and holders[1].tolist() == [1, 1]
    assert second.grad.tolist() == [1, 1] and second.mark == "one" and first.grad is None
    assert not first.requires_grad and second.requires_grad


def test_weak_dictionaries():
    class Key:
        def __eq__(self, other):
            raise AssertionError("keys are told apart by identity")
        __hash__ = None
    one, two = Key(), Key()
    found = dt.utils.weak.WeakIdKeyDictionary()
    found[one], found[two] = 1, 2
    assert found[one] == 1 and two in found and len(found) == 2 and len(found.copy()) == 2
    del two
    assert list(found.values()) == [1]
    del found[one]
    assert not found


def test_small_faces():
    assert not dt.utils._python_dispatch.is_traceable_wrapper_subclass(dt.ones(1))
    assert "oneDNN" in dt.__config__.show() and "threads" in dt.__config__.parallel_info()
    assert dt._jit_internal._copy_to_script_wrapper(len) is len
    dispatch = dt._jit_internal.boolean_dispatch("flag", 1, False, lambda x, flag: "yes", lambda x, flag=False: "no",
                                                 __name__, "either")
    assert (dispatch(1), dispatch(1, True), dispatch(1, flag=True)) == ("no", "yes", "yes")
    assert dt.Stream is dt.cpu.Stream
