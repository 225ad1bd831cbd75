"""What is done for ever does not grow: a short form of `make hunt-leaks`."""
import sys
import pathlib

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import leaks  # noqa: E402  (stands beside this file)


@pytest.mark.parametrize("name, count", [("captured_errors", 72), ("tensorflow_compiles", 48), ("threads", 72)])
def test_nothing_grows(name, count):
    _, grows, failure, _ = leaks.hunt(name, count)
    assert failure is None and not grows


def test_what_grows_is_told():
    rounds = list(range(0, 240, 10))
    flat = {"memory": 1 << 26, "tensors": 0, "files": 4, "threads": 2, "shared": 0, "processes": 0, "objects": 1000}
    looks = [dict(flat, memory=(1 << 26) + place % 3 * 4096) for place, _ in enumerate(rounds)]
    assert not leaks.judge(rounds, looks)
    growing = [dict(look, objects=1000 + count, files=4 + place // 3, tensors=count * 64)
               for place, (look, count) in enumerate(zip(looks, rounds))]
    assert set(leaks.judge(rounds, growing)) == {"objects", "files", "tensors"}
