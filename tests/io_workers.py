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
