"""Switches of recording, as context managers and decorators, beside genuine PyTorch."""
import asyncio
import threading
import warnings

import pytest
import torch

from dragon.vm import torch as dt


@pytest.fixture(params=[torch, dt], ids=["torch", "dragon"])
def T(request):
    yield request.param
    request.param.set_grad_enabled(True)


def test_blocks(T):
    with T.no_grad():
        assert not T.is_grad_enabled()
        with T.enable_grad():
            assert T.is_grad_enabled()
        with T.set_grad_enabled(True):
            assert T.is_grad_enabled()
        assert not T.is_grad_enabled()
    assert T.is_grad_enabled()


def test_decorators(T):
    assert not T.no_grad()(T.is_grad_enabled)()
    assert not T.no_grad(T.is_grad_enabled)()
    assert T.no_grad()(T.enable_grad(lambda: T.is_grad_enabled()))()
    decorated = T.set_grad_enabled(False)(lambda: T.is_grad_enabled())
    assert T.is_grad_enabled() and not decorated() and T.is_grad_enabled()


def test_switch(T):
    T.set_grad_enabled(False)
    assert not T.is_grad_enabled()
    T.set_grad_enabled(True)
    assert T.is_grad_enabled()
    assert repr(T.set_grad_enabled(True)) == "torch.autograd.grad_mode.set_grad_enabled(mode=True)"


@pytest.mark.parametrize("mode", [1, 0, "x", None])
def test_a_switch_is_a_bool(T, mode):
    with pytest.raises(TypeError, match="must be bool, not " + type(mode).__name__):
        T.set_grad_enabled(mode)
    assert T.is_grad_enabled()


def test_blocks_know_what_was_before(T):
    seen = []

    def look():  # a thread in which nobody has said anything
        with T.no_grad() as outer, T.enable_grad() as inner:
            seen.append((outer, inner))
        blocks = T.no_grad(), T.enable_grad(), T.set_grad_enabled(False)
        for block in blocks:
            with block:
                seen.append(block.prev)
        seen.append(T.is_grad_enabled())
    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert seen == [(None, None), False, False, True, True]


def test_generator(T):
    seen = []

    @T.no_grad()
    def numbers():
        try:
            got = yield T.is_grad_enabled()
            seen.append((got, T.is_grad_enabled()))
            try:
                yield 2
            except ValueError:
                seen.append(("caught", T.is_grad_enabled()))
            yield 3
        finally:
            seen.append(("closed", T.is_grad_enabled()))
    steps = numbers()
    assert next(steps) is False and T.is_grad_enabled()
    assert steps.send("hello") == 2 and T.is_grad_enabled()
    assert steps.throw(ValueError()) == 3
    steps.close()
    assert seen == [("hello", False), ("caught", False), ("closed", False)]


def test_class(T):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")

        @T.no_grad()
        class Thing:
            def __init__(self):
                self.inside = T.is_grad_enabled()
    assert issubclass(caught[0].category, FutureWarning)
    assert not Thing().inside


def test_exception_restores(T):
    with pytest.raises(KeyError):
        with T.no_grad():
            raise KeyError
    assert T.is_grad_enabled()


def test_threads_have_their_own(T):
    seen = []
    with T.no_grad():
        worker = threading.Thread(target=lambda: seen.append(T.is_grad_enabled()))
        worker.start()
        worker.join()
    assert seen == [True]


def test_inference_mode(T):
    with T.inference_mode():
        assert T.is_inference_mode_enabled() and not T.is_grad_enabled()
        with T.inference_mode(False):
            assert not T.is_inference_mode_enabled() and T.is_grad_enabled()
    assert not T.is_inference_mode_enabled() and T.is_grad_enabled()
    assert T.inference_mode(lambda: T.is_inference_mode_enabled())()
    assert T.inference_mode()(lambda: T.is_inference_mode_enabled())()
    x = T.ones(2, requires_grad=True)
    with T.inference_mode():
        assert not (x * 2).requires_grad
    assert not x.is_inference() and not T.is_inference(x)


def test_recording(T):
    x = T.ones(2, requires_grad=True)
    with T.no_grad():
        assert not (x * 2).requires_grad
        assert T.ones(2, requires_grad=True).requires_grad
    assert (x * 2).requires_grad


def test_other_modes(T):
    from importlib import import_module
    assert import_module(T.autograd.grad_mode.__name__) is T.autograd.grad_mode
    with T.autograd.set_multithreading_enabled(False):
        pass
    assert asyncio.run(later(T)) is True


async def later(T):
    return T.is_grad_enabled()


def test_views_made_where_nothing_is_recorded_ask_as_their_base_does(T):
    leaf, plain = T.ones(4, requires_grad=True), T.ones(4)
    computed = leaf * 2
    with T.no_grad():
        views = [leaf[:2], leaf.view(2, 2), computed[1:], plain[:2], leaf.detach()[:2], leaf.data[:2]]
    with T.inference_mode():
        views.append(leaf[:2])
    assert [view.requires_grad for view in views] == [True, True, True, False, False, False, True]
    assert all(view.grad_fn is None for view in views)
