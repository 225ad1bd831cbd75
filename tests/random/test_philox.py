"""The slow version of PyTorch's random numbers on a GPU, by which kernels are measured: what others have published."""
import numpy
import pytest

from harness.philox import Stream, rounds

# Of the authors' own library, Random123: kat_vectors, philox4x32 with ten rounds.
ANSWERS = [
    ([0] * 4, [0] * 2, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
    ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
    ([0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344], [0xA4093822, 0x299F31D0],
     [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]),
]
A4000, RTX2070, P100, K80, H100, A100 = 48 * 1536, 40 * 1024, 56 * 2048, 13 * 2048, 132 * 2048, 108 * 2048


@pytest.mark.parametrize("counter, key, words", ANSWERS)
def test_rounds(counter, key, words):
    assert rounds(numpy.array([counter], numpy.uint64), key).tolist() == [words]


# What genuine PyTorch printed on GPUs, in issues of pytorch/pytorch: seed, threads of the card, count, places, numbers.
PRINTED = {
    "79496": (10, H100, 3, [0, 1, 2], [-0.1029, 1.6810, -0.2708]),
    "62467": (43, 84 * 1536, 3 * 128 * 128, [0, 16384, 32768], [1.9983, 0.8704, 2.1127]),
    "143086, H100": (1, H100, 49 * 12 * 112 * 144, [0, 1, 2, -3, -2, -1],
                     [-0.2963, 2.6764, -0.1408, -0.6970, -0.7780, 0.3267]),
    "143086, A100": (1, A100, 49 * 12 * 112 * 144, [0, 1, 2, -3, -2, -1],
                     [-0.2963, 2.6764, -0.1408, 0.1549, -0.6797, -0.1656]),
}


@pytest.mark.parametrize("issue", PRINTED)
def test_printed_normal_numbers(issue):
    """Also of tensors that are so large that every thread makes many numbers."""
    seed, most, count, places, wanted = PRINTED[issue]
    found = Stream(seed, most=most).normal(count, places=places)
    numpy.testing.assert_allclose(found, wanted, atol=6e-5)


def test_printed_rows():
    """Issue 97097: rows of a tensor of 1000 x 100, the last of which lie beyond the card's threads."""
    found = (Stream(14, most=A4000).normal(100000) * numpy.float32(5 ** 0.5) + 5).reshape(1000, 100)
    wanted = {0: [2.8731, 5.2727, 2.9889, 1.6853, 9.6331, 6.6319], 1: [3.9968, 3.8097, 5.7328, 4.4029, 3.9804, 7.4698],
              -2: [7.0551, 7.8583, 3.9990, 4.1139, 8.9315, 4.2042],
              -1: [2.7337, 2.2106, 7.7815, 8.2207, 6.5395, 4.2604]}
    for row, numbers in wanted.items():
        numpy.testing.assert_allclose(found[row, [0, 1, 2, -3, -2, -1]], numbers, atol=6e-5)
    other = (Stream(14, most=RTX2070).normal(100000) * numpy.float32(5 ** 0.5) + 5).reshape(1000, 100)
    assert (other[:409] == found[:409]).all() and (other[-1] != found[-1]).any()


def test_printed_sums_of_dropout():
    """Issue 25690: the sum of a dropout of a million ones, of a time when each thread took elements one by one."""
    for most, total in [(P100, 999826), (K80, 999100)]:
        assert 2 * Stream(0, most=most).kept(10 ** 6, 1, 0.5).sum() == total


def test_first_numbers():
    wanted = [0.3990, 0.5167, 0.0249, 0.9401, 0.9459, 0.7967]
    numpy.testing.assert_allclose(Stream(0).uniform(6), wanted, atol=5e-5)
    wanted = [-0.9247, -0.4253, -2.6438, 0.1452, -0.1209, -0.5797, -0.6229, -0.3284, -1.0745, -0.3631]
    numpy.testing.assert_allclose(Stream(0).normal(10), wanted, atol=6e-5)


def test_offsets():
    """Calls raise the offset by the blocks of a thread, four words each."""
    stream = Stream(3, most=H100)
    for count, unroll, rise in [(1, 4, 4), (H100, 4, 4), (4 * H100, 4, 4), (4 * H100 + 1, 4, 8), (2 * H100 + 1, 2, 8)]:
        before = stream.offset
        stream.spread(count, unroll, places=[0])
        assert stream.offset - before == rise
    assert (Stream(3, 8).uniform(5) == Stream(3, 8).uniform(5)).all()
    permuted = Stream(3)
    assert sorted(permuted.permutation(10)) == list(range(10)) and permuted.offset == 4 + 12
