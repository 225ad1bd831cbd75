"""Pipelines: what is defined, run, fed, decided and gone on with."""
import time

import numpy as np
import pytest

from dragon.vm import dali
from dragon.vm.dali import fn, ops, pipeline_def, types
from dragon.vm.dali.fn import random


def numbers(outputs):
    """Return the batches of a run as lists."""
    return [output.as_array().tolist() for output in outputs]


@pipeline_def(batch_size=4, num_threads=2, device_id=None, seed=5)
def counting(factor=1):
    """Return numbers and what is drawn for them."""
    value = fn.external_source(lambda info: np.int32([info.idx_in_epoch]), batch=False)
    return value * factor, random.uniform(range=[0, 1])


def test_arguments_go_to_the_function_and_to_the_pipeline():
    pipe = counting(3, batch_size=2)
    assert pipe.batch_size == 2 and pipe.num_outputs == 2
    assert numbers(pipe.run())[0] == [[0], [3]] and numbers(pipe.run())[0] == [[6], [9]]


def test_threads_and_prefetching_change_no_numbers():
    runs = []
    for options in ({}, {"num_threads": 1}, {"prefetch_queue_depth": 5}, {"exec_pipelined": False}):
        pipe = counting(**options)
        runs.append([numbers(pipe.run()) for _ in range(3)])
    assert all(run == runs[0] for run in runs)
    assert [numbers(counting(seed=6).run())] != runs[0][:1]


def test_subclasses_and_classes_of_operators():
    class Own(dali.Pipeline):
        def __init__(self):
            super().__init__(2, 1, None)
            self.input = ops.ExternalSource(name="given")
            self.flip, self.coin = ops.Flip(device="cpu"), ops.random.CoinFlip(probability=1.0)

        def define_graph(self):
            return self.flip(self.input(), horizontal=self.coin())

        def iter_setup(self):
            self.feed_input("given", np.arange(12, dtype=np.uint8).reshape(2, 1, 6, 1), layout="HWC")
    output, = Own().run()
    assert output.layout() == "HWC" and output.as_array()[0].ravel().tolist() == [5, 4, 3, 2, 1, 0]


def test_feeding():
    pipe = dali.Pipeline(3, 1, None)
    with pipe:
        pipe.set_outputs(fn.external_source(name="x") + 1)
    pipe.feed_input("x", [np.float32([1]), np.float32([2, 3])])
    assert [array.tolist() for array in map(pipe.run()[0].at, range(2))] == [[2], [3, 4]]
    assert numbers(pipe.run(x=np.zeros((2, 2), np.int8))) == [[[1, 1], [1, 1]]]
    with pytest.raises(IndexError):
        pipe.run()
    with pytest.raises(KeyError, match='input operator with name "y"'):
        pipe.feed_input("y", np.zeros((1, 1)))


def test_sources_end_and_begin_again():
    def give(info):
        if info.iteration >= 2:
            raise StopIteration
        return np.int32([info.epoch_idx, info.idx_in_epoch])
    pipe = dali.Pipeline(2, 1, None)
    with pipe:
        pipe.set_outputs(fn.external_source(give, batch=False, parallel=True))
    for epoch in range(2):
        assert [numbers(pipe.run())[0] for _ in range(2)] == [
            [[epoch, 0], [epoch, 1]], [[epoch, 2], [epoch, 3]]]
        with pytest.raises(StopIteration):
            pipe.run()
        pipe.reset()
    with dali.Pipeline(1, 1, None), pytest.raises(TypeError, match="a callable or an iterable"):
        fn.external_source(3)


def test_operators_in_a_row():
    pipe = dali.Pipeline(1, 1, None)
    with pipe:
        both = ops.Compose([ops.Flip(horizontal=1), ops.Cast(dtype=types.FLOAT)])
        pipe.set_outputs(both(fn.external_source(lambda: [np.uint8([[[1], [2]]])], layout="HWC")))
    output, = pipe.run()
    assert output.dtype == types.FLOAT and output.as_array().ravel().tolist() == [2, 1]
    with pytest.raises(KeyError, match='"sigma" is not defined'):
        ops.Flip(sigma=1)


@pytest.mark.parametrize("cycle, said", [(None, [0, 1, "end", "end"]), (True, [0, 1, 0, 1]), ("quiet", [0, 1, 0, 1]),
                                         ("raise", [0, 1, "end", 0])])
def test_ends_of_iterables(cycle, said):
    pipe = dali.Pipeline(1, 1, None)
    with pipe:
        pipe.set_outputs(fn.external_source([[np.int32(0)], [np.int32(1)]], cycle=cycle))
    seen = []
    for _ in said:
        try:
            seen.append(int(pipe.run()[0].at(0)))
        except StopIteration:
            seen.append("end")
            pipe.reset()
    assert seen == said


def halved(value):
    """Return half of what is even, and twice the rest; a function of the user's, called within a pipeline."""
    if value % 2 == 0:
        result = value // 2
    else:
        result = value * 2
    return result


@pytest.mark.parametrize("conditional", [True, False])
def test_conditions_of_python(conditional):
    @pipeline_def(batch_size=6, num_threads=2, device_id=None, enable_conditionals=conditional)
    def branching():
        value = fn.external_source(lambda: [np.int32(one) for one in range(6)])
        if value > 1 and not value > 3:
            made, other = value * 10, 1
        elif value == 0 or value == 5:
            made, other = -value - 1, 2
        else:
            made, other = value, 3
        return value, made, other, (value if value > 2 else 0)
    if not conditional:
        with pytest.raises(TypeError, match="enable_conditionals=True"):
            branching()
        return
    _, made, other, last = numbers(branching().run())
    assert made == [-1, 1, 20, 30, 4, -6] and other == [2, 3, 1, 1, 3, 2] and last == [0, 0, 0, 3, 4, 5]


def test_only_the_branch_that_is_taken_runs():
    seen = []

    @pipeline_def(batch_size=2, num_threads=1, device_id=None, enable_conditionals=True)
    def branching():
        value = fn.external_source(lambda: [np.int32(0), np.int32(1)])
        made = value
        if value > 0:
            made = fn.python_function(value, function=lambda one: seen.append(int(one)) or one)
        return made
    branching().run()
    assert set(seen) == {1}


def test_checkpoints_go_on_with_the_same_numbers(tmp_path):
    for name in range(7):
        np.save(tmp_path / f"{name}.npy", np.int32([name]))

    def make(**options):
        pipe = dali.Pipeline(2, 2, None, enable_checkpointing=True, **options)
        with pipe:
            pipe.set_outputs(fn.readers.numpy(file_root=str(tmp_path), random_shuffle=True, name="r"),
                             random.normal())
        return pipe
    pipe = make(seed=3)
    for _ in range(5):
        pipe.run()
    told = pipe.checkpoint()
    wanted = [numbers(pipe.run()) for _ in range(6)]
    again = make(checkpoint=told)
    assert again.is_restored_from_checkpoint and [numbers(again.run()) for _ in range(6)] == wanted
    with pytest.raises(ValueError, match="enable_checkpointing"):
        counting().checkpoint()


WRONG = {
    KeyError: lambda x: fn.resize(x, foo=3), ValueError: lambda x: fn.resize(),
    RuntimeError: lambda x: fn.rotate(x), TypeError: lambda x: fn.resize(x, size=[3, 3]) if x else x,
    OverflowError: lambda x: x + (1 << 40),
}


@pytest.mark.parametrize("kind", WRONG)
def test_what_is_wrong_is_said_while_the_pipeline_is_defined(kind):
    with dali.Pipeline(1, 1, None), pytest.raises(kind):
        WRONG[kind](fn.external_source(lambda: [np.zeros((2, 2, 3), np.uint8)], layout="HWC"))


def test_errors_of_samples_name_the_operator():
    pipe = dali.Pipeline(1, 1, None)
    with pipe:
        pipe.set_outputs(fn.reshape(fn.external_source(lambda: [np.zeros(3)]), shape=[2]))
    with pytest.raises(RuntimeError, match=r"fn.reshape: got shape \(2,\) for 3 elements"):
        pipe.run()


def test_a_user_s_own_folder_may_be_named_as_the_guest(tmp_path):
    path = tmp_path / "dali" / "program.py"
    path.parent.mkdir()
    path.write_text("def make(x):\n    return fn.reshape(x, shape=[2])\n")
    names = {"fn": fn}
    exec(compile(path.read_text(), str(path), "exec"), names)
    pipe = dali.Pipeline(1, 1, None)
    with pipe:
        pipe.set_outputs(names["make"](fn.external_source(lambda: [np.zeros(3)])))
    with pytest.raises(RuntimeError) as caught:
        pipe.run()
    told = str(caught.value) + "".join(getattr(caught.value, "__notes__", ()))
    assert f"{path}:2" in told


@pytest.mark.parametrize("call, value", [
    (lambda x: fn.grid_mask(x), np.zeros(3, np.uint8)), (lambda x: fn.hsv(x), np.float32(3)),
    (lambda x: fn.spectrogram(x), np.zeros(0, np.float32)),
    (lambda x: fn.random_resized_crop(x, size=3), np.zeros((0, 0, 3), np.uint8)),
    (lambda x: fn.brightness(x), np.ones((2, 2, 3), bool)), (lambda x: fn.bb_flip(x), np.zeros(6, np.float32)),
    (lambda x: fn.decoders.numpy(x), np.zeros(9, np.uint8)), (lambda x: fn.mfcc(x), np.zeros((0, 3), np.float32))])
def test_what_an_operator_cannot_work_on_is_told_with_what_came(call, value):
    pipe = dali.Pipeline(1, 1, None)
    with pipe:
        pipe.set_outputs(call(fn.external_source(lambda: [value])))
    with pytest.raises(RuntimeError, match="got inputs|got"):
        pipe.run()


def test_functions_of_the_users_are_called_one_at_a_time():
    inside = []

    def alone(array):
        inside.append(1)
        time.sleep(0.001)
        count = len(inside)
        inside.pop()
        return np.int32(count)
    pipe = dali.Pipeline(16, 4, None)
    with pipe:
        pipe.set_outputs(fn.python_function(fn.external_source(lambda: [np.zeros(1)] * 16), function=alone))
    assert set(numbers(pipe.run())[0]) == {1}


def test_errors_of_the_users_functions_are_theirs():
    def fail(array):
        raise KeyError("mine")
    pipe = dali.Pipeline(1, 1, None)
    with pipe:
        pipe.set_outputs(fn.python_function(fn.external_source(lambda: [np.zeros(3)]), function=fail))
    with pytest.raises(KeyError, match="mine"):
        pipe.run()


def test_devices_are_told_of_once(recwarn):
    from dragon.vm.dali.core import devices
    devices._told.clear()
    with dali.Pipeline(1, 1, 0):
        for _ in range(2):
            assert fn.random.uniform(device="gpu").device == "gpu"
    assert [str(warning.message)[:26] for warning in recwarn] == ["dali: got device='gpu'; Dr"]
    with pytest.raises(ValueError, match="'cpu', 'gpu' or 'mixed'"):
        fn.random.uniform(device="tpu")


def test_what_is_missing_says_so():
    with pytest.raises(NotImplementedError, match="reads no videos"):
        fn.readers.video(filenames=["a.mp4"])
    with pytest.raises(AttributeError, match="Dragon does not have it"):
        fn.optical_flux
    with pytest.raises(NotImplementedError, match="run the program"):
        counting().serialize()


def test_lists_of_tensors():
    pipe = dali.Pipeline(2, 1, None)
    with pipe:
        pipe.set_outputs(fn.external_source(lambda: [np.zeros((2, 3, 1), np.uint8), np.ones((1, 3, 1), np.uint8)],
                                            layout="HWC"))
    made, = pipe.run()
    assert len(made) == 2 and not made.is_dense_tensor() and made.shape() == [(2, 3, 1), (1, 3, 1)]
    assert made.dtype == types.UINT8 and made.layout() == "HWC" and made.ndim == 3
    with pytest.raises(ValueError, match="consistent in shape"):
        made.as_array()
    with pytest.raises(IndexError):
        made[2]
    assert np.from_dlpack(made[1]).tolist() == [[[1]] * 3] and made[0].shape() == [2, 3, 1]
    assert 'layout="HWC"' in repr(made) and "num_samples=2" in str(made)


def test_tensors_are_of_one_kind():
    with pytest.raises(TypeError, match="one type and one rank"):
        dali.tensors.TensorListCPU([np.zeros(1, np.uint8), np.zeros(1, np.float32)])
    tensor = dali.tensors.TensorCPU(np.zeros((1, 2, 1)), "HWC")
    assert tensor.squeeze() and tensor.shape() == [2] and tensor.layout() == "W"
