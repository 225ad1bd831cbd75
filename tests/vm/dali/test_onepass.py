"""Chains of decoding, resizing and normalizing in one pass: the same numbers as each operator by itself gives."""
import numpy as np
import pytest

from dragon.vm.dali import fn, pipeline_def, types
from dragon.vm.dali.core import onepass

pytest.importorskip("PIL")
from harness.photographs import jpeg, photograph  # noqa: E402: it needs Pillow

NUMBERS = {"mean": [120.0, 110.0, 100.0], "std": [60.0, 61.0, 62.0]}
CHAINS = {
    "random region": lambda data: fn.crop_mirror_normalize(
        fn.resize(fn.decoders.image_random_crop(data), size=[40, 36]), mirror=fn.random.coin_flip(), **NUMBERS),
    "random resized crop": lambda data: fn.crop_mirror_normalize(
        fn.random_resized_crop(fn.decoders.image(data), size=[24, 30]), mirror=1, **NUMBERS),
    "middle": lambda data: fn.crop_mirror_normalize(
        fn.resize(fn.decoders.image(data), resize_shorter=48), crop=(32, 32), **NUMBERS),
    "corner": lambda data: fn.crop_mirror_normalize(
        fn.resize(fn.decoders.image(data), size=[28, 50]), crop=[24, 44], crop_pos_x=0.0, crop_pos_y=1.0, **NUMBERS),
    "larger, halves": lambda data: fn.crop_mirror_normalize(
        fn.resize(fn.decoders.image(data), size=[200, 210]), dtype=types.FLOAT16, output_layout="HWC", scale=1 / 255,
        shift=0.5),
    "whole numbers of pixels": lambda data: fn.crop_mirror_normalize(
        fn.resize(fn.decoders.image(data), resize_longer=55.0, subpixel_scale=False), crop=(30, 30), **NUMBERS),
}
OTHERS = {
    "nearest": lambda data: fn.crop_mirror_normalize(
        fn.resize(fn.decoders.image(data), size=[30, 30], interp_type=types.INTERP_NN), **NUMBERS),
    "bytes": lambda data: fn.crop_mirror_normalize(
        fn.resize(fn.decoders.image(data), size=[30, 30]), dtype=types.UINT8),
    "grey": lambda data: fn.crop_mirror_normalize(
        fn.resize(fn.decoders.image(data, output_type=types.GRAY), size=[30, 30])),
    "padded channels": lambda data: fn.crop_mirror_normalize(
        fn.resize(fn.decoders.image(data), size=[30, 30]), pad_output=True),
    "rounded up": lambda data: fn.crop_mirror_normalize(fn.resize(fn.decoders.image(data), resize_x=50), **NUMBERS),
    "turned": lambda data: fn.crop_mirror_normalize(fn.resize(fn.decoders.image(data), size=[-30, 30])),
}


def files():
    """Return files of several sizes, one of them held upright, one no JPEG."""
    made = [jpeg(photograph(50 + 7 * number, 90 - 5 * number, number)) for number in range(6)]
    from PIL import Image
    exif = Image.Exif()
    exif[0x0112] = 6
    made.append(jpeg(photograph(60, 90, 7), exif=exif))
    from dragon.io.pictures import encode
    return made + [encode(photograph(70, 80, 8), "PNG")]


def run(function):
    """Return the results of a chain for all files, and how many chains the graph has."""
    data = files()

    @pipeline_def(batch_size=len(data), num_threads=2, device_id=None, seed=7, exec_pipelined=False)
    def pipeline():
        return function(fn.external_source(lambda: [np.frombuffer(one, np.uint8) for one in data]))
    made = pipeline()
    made.build()
    output, = made.run()
    return [np.asarray(output.at(place), np.float32) for place in range(len(data))], output.layout()


@pytest.mark.parametrize("name", CHAINS)
def test_numbers_are_those_of_single_operators(name, monkeypatch):
    taken = []
    whole = onepass.Chain.run
    monkeypatch.setattr(onepass.Chain, "run", lambda *arguments: taken.append(whole(*arguments)) or taken[-1])
    together, layout = run(CHAINS[name])
    count = len(taken)
    assert count >= 8 and all(one is not None for one in taken)
    monkeypatch.setattr(onepass.Chain, "find", lambda node, users: None)
    apart, other = run(CHAINS[name])
    assert len(taken) == count and layout == other
    scale = 255 if name == "larger, halves" else 60
    for one, two in zip(together, apart):
        assert one.shape == two.shape
        difference = np.abs(one - two) * scale
        # At the edges of what is made smaller a filter is cut off rather than fed the last pixel again.
        assert np.quantile(difference, 0.9) <= 1.1 and difference.mean() < 0.5
        inner = difference[:, 3:-3, 3:-3] if layout == "CHW" else difference[3:-3, 3:-3]
        assert inner.max() <= 1.1


@pytest.mark.parametrize("name", OTHERS)
def test_what_a_chain_cannot_do_is_left_to_the_operators(name, monkeypatch):
    def never(*arguments):
        raise AssertionError("this is no chain")
    if name not in ("turned", "rounded up"):
        monkeypatch.setattr(onepass, "kept_recipe", never)
    results, _ = run(OTHERS[name])
    assert len(results) == 8


def test_results_that_others_see_are_no_chain(monkeypatch):
    found = []
    find = onepass.Chain.find.__func__

    def told(cls, node, users):
        chain = find(cls, node, users)
        found.append(chain) if chain else None
        return chain
    monkeypatch.setattr(onepass.Chain, "find", classmethod(told))

    @pipeline_def(batch_size=1, num_threads=1, device_id=None)
    def pipeline(show):
        picture = fn.decoders.image(fn.external_source(lambda: [np.frombuffer(files()[0], np.uint8)]))
        small = fn.resize(picture, size=[20, 20])
        normal = fn.crop_mirror_normalize(small)
        return (normal, picture) if show else normal
    assert len(pipeline(True).run()) == 2 and not found
    assert len(pipeline(False).run()) == 1 and len(found) == 1


def test_what_is_broken_is_told_as_the_operators_tell_it():
    @pipeline_def(batch_size=1, num_threads=1, device_id=None)
    def pipeline(data, **crop):
        picture = fn.resize(fn.decoders.image(fn.external_source(lambda: [np.frombuffer(data, np.uint8)])), size=[9, 9])
        return fn.crop_mirror_normalize(picture, **crop)
    with pytest.raises(RuntimeError, match="decoders.image: got 11 bytes that are no picture"):
        pipeline(b"no picture!").run()
    with pytest.raises(RuntimeError, match="fn.crop_mirror_normalize: got"):
        pipeline(files()[0], crop=(10, 3)).run()
