"""What the workers of tests do; a module of its own, so that spawned workers can import it."""
import os
import time


class Start:
    """Give a worker a function; picklable, for spawned workers."""

    def __init__(self, function):
        self.function = function

    def __call__(self, index):
        return self.function


def answer(task):
    """Do what a task says."""
    what, value = task
    if what == "raise":
        raise value
    if what == "die":
        os.kill(os.getpid(), value)
    if what == "exit":
        os._exit(value)
    if what == "sleep":
        time.sleep(value)
    return value


class Count:
    """Numbers in order, without a length."""

    def __init__(self, count):
        self.count = count

    def __iter__(self):
        return iter(range(self.count))


def twice(number):
    """Return a number twice as large."""
    return 2 * number


def stretch(length):
    """Return numbers, so many of them."""
    import numpy as np
    return np.arange(length)


def with_draws(number, draws):
    """Return a random number of a sample's own."""
    return number + draws.uniform()


def broken(number):
    """Fail for 3, and return another shape for 9 than for other numbers."""
    import numpy as np
    if number == 3:
        raise ValueError("three is not to my taste")
    return np.full(3 if number == 9 else 2, number)


class Dies:
    """Kill the worker at a number: once, where there is a file to tell of it, or always."""

    def __init__(self, number, mark=None):
        self.number, self.mark = number, mark

    def __call__(self, number):
        import signal
        if number == self.number and not (self.mark and self.mark.exists()):
            if self.mark:
                self.mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return number


def lingering(path):
    """Begin a child that lives on, write its number down, and die."""
    import signal
    child = os.fork()
    if not child:
        time.sleep(120)
        os._exit(0)
    with open(path, "w") as file:
        file.write(str(child))
    os.kill(os.getpid(), signal.SIGKILL)
