"""A numbered content: so many numbers, which all are the same one."""
import numpy

SIZE = 40000  # numbers in each content: long enough in the writing for a process to die meanwhile


def same(numbers):
    """Return the number that all of many are; raise if they are not."""
    numbers = numpy.asarray(numbers)
    if numbers.size != SIZE or not (numbers == numbers.flat[0]).all():
        raise AssertionError(f"got a mixture of contents: {numpy.unique(numbers)[:5]}, {numbers.size} numbers")
    return int(numbers.flat[0])
