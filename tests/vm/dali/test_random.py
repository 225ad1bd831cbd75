"""What is drawn: the distributions, the same numbers for the same seed, and augmentations that choose."""
import numpy as np
import pytest

from dragon.vm import dali
from dragon.vm.dali import fn, types
from dragon.vm.dali.auto_aug import augmentations, auto_augment, rand_augment, trivial_augment
from dragon.vm.dali.auto_aug.core import Policy
from dragon.vm.dali.experimental import eager
from dragon.vm.dali.fn import noise, random
from dragon.vm.dali.tensors import TensorListCPU

PICTURE = np.random.RandomState(0).randint(0, 256, (24, 32, 3)).astype(np.uint8)


def run(make, count=4, **options):
    """Return the arrays of a run of a graph over copies of one picture."""
    pipe = dali.Pipeline(count, 2, None, **{"seed": 1, **options})
    with pipe:
        pipe.set_outputs(make(fn.external_source(lambda: [PICTURE] * count, layout="HWC")))
    made, = pipe.run()
    return [made.at(place) for place in range(count)]


DRAWN = {  # a call, and the mean and spread of what it draws
    "uniform": (lambda x: random.uniform(range=[2, 4], shape=[20000]), 3, 1 / 3 ** 0.5),
    "values": (lambda x: random.uniform(values=[1, 5], shape=[20000]), 3, 2),
    "normal": (lambda x: random.normal(mean=1, stddev=3, shape=[20000]), 1, 3),
    "coin": (lambda x: random.coin_flip(probability=0.2, shape=[20000]), 0.2, 0.4),
    "beta": (lambda x: random.beta(alpha=2, beta=2, shape=[20000]), 0.5, 0.05 ** 0.5),
    "choice": (lambda x: random.choice(np.float32([1, 2, 4]), p=[0.25, 0.5, 0.25], shape=[20000]), 2.25, 1.1875 ** 0.5),
    "below": (lambda x: random.choice(np.int32(5), shape=[20000]), 2, 2 ** 0.5),
    "like": (lambda x: random.normal(fn.zeros(shape=[20000])), 0, 1),
}


@pytest.mark.parametrize("name", DRAWN)
def test_distributions(name):
    make, mean, spread = DRAWN[name]
    for array in run(make, 2):
        assert array.mean() == pytest.approx(mean, abs=0.08) and array.std() == pytest.approx(spread, abs=0.08)


@pytest.mark.parametrize("make, mean, spread", [
    (lambda x: random.uniform(range=[2, 4]), 3, 1 / 3 ** 0.5), (lambda x: random.normal(mean=1, stddev=3), 1, 3),
    (lambda x: random.coin_flip(probability=0.2), 0.2, 0.4)])
def test_distributions_of_single_numbers(make, mean, spread):
    made = np.array(run(make, 4000), float)
    assert made.mean() == pytest.approx(mean, abs=0.15) and made.std() == pytest.approx(spread, abs=0.15)


def test_samples_differ_and_seeds_repeat():
    first = run(lambda x: random.uniform())
    assert len({float(one) for one in first}) == 4 and run(lambda x: random.uniform()) == first
    assert run(lambda x: random.uniform(seed=9)) == run(lambda x: random.uniform(seed=9), seed=2)
    assert run(lambda x: random.uniform(), seed=2) != first


@pytest.mark.parametrize("make", [
    lambda x: noise.gaussian(x, stddev=9.0), lambda x: noise.shot(x, factor=9.0),
    lambda x: noise.salt_and_pepper(x, prob=0.5)])
def test_noise(make):
    made = run(make)
    assert made[0].dtype == np.uint8 and made[0].shape == PICTURE.shape
    assert np.any(made[0] != PICTURE) and np.any(made[0] != made[1])


def test_random_crops():
    for array in run(lambda x: fn.random_resized_crop(x, size=[7, 9])):
        assert array.shape == (7, 9, 3)
    place, shape = dali.Pipeline(50, 1, None), None
    with place:
        shape = fn.random_crop_generator(fn.constant(idata=[100, 200, 3]), random_area=[0.2, 0.3])
        place.set_outputs(*shape)
    starts, sizes = (output.as_array() for output in place.run())
    area = sizes.prod(1) / 20000
    assert np.all((starts >= 0) & (starts + sizes <= [100, 200])) and np.all((area > 0.18) & (area < 0.32))


def test_boxes_stay_with_their_crops():
    boxes, labels = np.float32([[0.4, 0.4, 0.6, 0.6], [0, 0, 0.1, 0.1]]), np.int32([7, 8])
    pipe = dali.Pipeline(30, 1, None, seed=0)
    with pipe:
        pipe.set_outputs(*fn.random_bbox_crop(boxes, labels, thresholds=[0.1, 0.5], scaling=[0.3, 1.0],
                                              aspect_ratio=[0.5, 2.0], allow_no_crop=False, threshold_type="overlap",
                                              all_boxes_above_threshold=False, output_bbox_indices=True))
    for start, size, kept, label, place in zip(*pipe.run()):
        start, size, kept, label, place = map(np.asarray, (start, size, kept, label, place))
        assert np.all(start >= 0) and np.all(start + size <= 1 + 1e-6) and label.tolist() == labels[place].tolist()
        middle = (boxes[place, :2] + boxes[place, 2:]) / 2
        assert len(place) and np.all((middle >= start - 1e-6) & (middle <= start + size + 1e-6))
        inside = np.clip((boxes[place] - np.tile(start, 2)) / np.tile(size, 2), 0, 1)
        np.testing.assert_allclose(kept, inside, atol=1e-5)


@pytest.mark.parametrize("make", [
    auto_augment.auto_augment_image_net, lambda x: auto_augment.auto_augment(x, "svhn", shape=fn.shapes(x)),
    lambda x: auto_augment.auto_augment(x, "reduced_cifar10"), lambda x: trivial_augment.trivial_augment_wide(x),
    lambda x: rand_augment.rand_augment(x, n=2, m=9, excluded=["rotate"]),
    lambda x: rand_augment.rand_augment(x, n=1, m=20, monotonic_mag=False, shape=[24, 32])])
def test_automatic_augmentations(make):
    made = run(make, 16)
    assert all(one.dtype == np.uint8 and one.shape == PICTURE.shape for one in made)
    assert sum(np.array_equal(one, PICTURE) for one in made) < 16 and len({one.tobytes() for one in made}) > 4


def test_one_augmentation_of_a_magnitude():
    inverted = run(lambda x: augmentations.invert(x))[0]
    assert np.array_equal(inverted, 255 - PICTURE)
    bright = run(lambda x: augmentations.brightness(x, magnitude_bin=10, num_magnitude_bins=11))[0]
    assert np.array_equal(bright, np.minimum(np.floor(PICTURE * np.float32(1.9) + 0.5), 255))
    solar = run(lambda x: augmentations.solarize(x, magnitude_bin=5, num_magnitude_bins=11))[0]
    assert np.array_equal(solar, np.where(PICTURE >= 128, 255 - PICTURE, PICTURE))
    with pytest.raises(Exception, match="magnitude_bin"):
        Policy("own", 3, [[(augmentations.invert, 0.5, 3)]])
    with pytest.raises(Exception, match="expected one of"):
        run(lambda x: trivial_augment.trivial_augment_wide(x, excluded=["nothing"]))


def test_at_once():
    made = eager.resize(TensorListCPU([PICTURE], layout="HWC"), size=[5, 6])
    assert made.shape() == [(5, 6, 3)] and made.layout() == "HWC" and made.dtype == types.UINT8
    assert eager.reductions.max(made).as_array().tolist() == [made.as_array().max()]
    assert len(eager.random.uniform(batch_size=3)) == 3
    with pytest.raises(AttributeError, match="does not have it"):
        eager.random.gamma
