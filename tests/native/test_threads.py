"""Tensors that several threads read at the same time; what a thread sets for itself."""
import os
import threading

import numpy as np
import pytest

import dragon
from dragon.core.scopes import ExitStack
from dragon.core.thread_state import ThreadFlag, ThreadStack, Turn

THREADS = 6


def together(work, count=THREADS):
    """Have threads begin some work at the same time; returns what each returned, and raises what one raised."""
    results, errors, start = [None] * count, [], threading.Barrier(count)

    def run(number):
        start.wait()
        try:
            results[number] = work(number)
        except BaseException as error:
            errors.append(error)
    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return results


def test_a_result_whose_layout_was_free_is_read_by_all_while_one_looks_at_its_strides():
    """A convolution's result lies as the engine likes; the first view of it moves it, under the eyes of others."""
    rng = np.random.default_rng(0)
    images = dragon.tensor(rng.standard_normal((4, 8, 24, 24)).astype("float32"))
    weight = dragon.tensor(rng.standard_normal((32, 8, 3, 3)).astype("float32"))
    expected = None
    for _ in range(60):
        made = dragon.ops.conv(images, weight, None, padding=[1, 1])
        assert made.size >= 1 << 15  # as large as calls are for which the lock is left

        def look(number, made=made):
            if number % 3 == 0:
                return dragon.ops.reshape(made, [4, -1]).numpy().ravel()
            if number % 3 == 1:
                return (made * 1.0).numpy().ravel()
            return dragon.ops.abs(made).numpy().ravel()
        found = together(look)
        expected = found[0] if expected is None else expected
        for number, one in enumerate(found):
            np.testing.assert_array_equal(one, np.abs(expected) if number % 3 == 2 else expected)


def test_gradients_of_a_shared_leaf_are_all_added():
    leaf = dragon.tensor(np.zeros(40000, "float32"), requires_grad=True)

    def work(number):
        for _ in range(20):
            dragon.backward(dragon.ops.sum(leaf * float(number + 1)))
    together(work)
    np.testing.assert_array_equal(leaf.grad.numpy(), np.full(40000, 20.0 * sum(range(1, THREADS + 1)), "float32"))


def test_a_context_manager_that_threads_share_is_left_by_each_for_itself():
    """The first to enter leaves first; what it undoes is its own."""
    shared, turns = dragon.no_grad(), [threading.Event() for _ in range(3)]
    leaf = dragon.tensor([1.0], requires_grad=True)

    def work(number):
        if number == 0:
            with shared:
                turns[0].set()
                turns[1].wait(60)
                inside = (leaf * 2).requires_grad
            turns[2].set()
            return inside, (leaf * 2).requires_grad
        turns[0].wait(60)
        with dragon.no_grad():
            with shared:
                turns[1].set()
                turns[2].wait(60)
                inside = (leaf * 2).requires_grad
            around = (leaf * 2).requires_grad
        return inside, around, (leaf * 2).requires_grad
    assert together(work, 2) == [(False, True), (False, False, True)]


def test_one_thread_has_a_turn_at_a_time():
    """As often as it likes; who does not wait goes without, and a forked child has no other threads to wait for."""
    turn, held, done = Turn(), threading.Event(), threading.Event()

    def hold():
        with ExitStack() as stack:
            assert turn.take(stack) and turn.take(stack)
            held.set()
            done.wait(60)
    holder = threading.Thread(target=hold)
    holder.start()
    held.wait(60)
    with ExitStack() as stack:
        assert not turn.take(stack, wait=False)
    child = os.fork()
    if child == 0:
        with ExitStack() as stack:
            os._exit(0 if turn.take(stack, wait=False) else 1)
    assert os.waitpid(child, 0)[1] == 0
    done.set()
    with ExitStack() as stack:
        assert turn.take(stack)
    holder.join()
    with pytest.raises(ZeroDivisionError), ExitStack() as stack:
        turn.take(stack)
        1 / 0
    with ExitStack() as stack:
        assert turn.take(stack, wait=False)


def test_a_flag_and_a_stack_are_each_threads_own():
    flag, stack = ThreadFlag(), ThreadStack()
    stack.items.append("main")

    def work(number):
        assert not flag.on and not stack and stack.top is None
        with flag.set():
            stack.items.append(number)
            assert flag.on and stack.top == number
        return stack.items.pop()
    with flag.set():
        assert together(work) == list(range(THREADS))
        assert flag.on and stack.top == "main"
    with pytest.raises(ZeroDivisionError), flag.set():
        1 / 0
    assert not flag.on
