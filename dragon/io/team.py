"""Worker threads with the face of `WorkerPool`: for work that holds no interpreter lock, as decoding pictures does."""
import time
from queue import Empty, SimpleQueue

from dragon.io.pool import NoAnswer, attempt
from dragon.io.stages.threads import END, Worker


class Member:
    """One thread and what it is asked."""

    def __init__(self, index, start, answers, name):
        self.index, self.tasks, self.idle = index, SimpleQueue(), 0.0
        tasks = self.tasks  # the thread holds no more than this, so that it ends with its team
        self.thread = Worker(_serve, (index, start, tasks, answers, name), lambda: tasks.put(END))


class Team:
    """Threads that answer tasks.

    Parameters
    ----------
    count : int
        How many threads.
    start : Callable[[int], Callable]
        Called in each thread with its number; what it returns is called with every task.
    name : str, optional, default="io"
        What messages call the threads' owner.

    """

    def __init__(self, count, start, name="io"):
        self.name, self.closed, self._answers = name, False, SimpleQueue()
        self.workers = [Member(index, start, self._answers, name) for index in range(count)]
        self.restarted = 0

    def put(self, worker, key, task):
        """Give a worker a task; its answer will come with the key."""
        self.workers[worker].tasks.put((key, task))

    def stop(self, worker):
        """Let one worker end when it is done with what it has."""
        self.workers[worker].tasks.put(END)

    def get(self, timeout=None):
        """Return (worker, key, answer) of the next answer of any worker."""
        try:
            worker, key, answer, idle = self._answers.get(timeout=timeout)
        except Empty:
            raise NoAnswer(f"{self.name}: got no answer within {timeout} seconds, expected one") from None
        self.workers[worker].idle += idle
        return worker, key, answer

    def close(self, patience=None):
        """Have all threads end after what they are at: nobody can make them, so `patience` is of no use."""
        self.closed = True
        for member in self.workers:
            while not member.tasks.empty():
                try:
                    member.tasks.get_nowait()
                except Empty:
                    break
            member.tasks.put(END)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if hasattr(self, "workers"):
            self.close()


def _serve(index, start, tasks, answers, name):
    where = f"in {name} worker thread {index}"
    answer = attempt(where, start, index, BaseException)  # a thread that ends would be waited for
    free = time.perf_counter()
    while (task := tasks.get()) is not END:
        idle = time.perf_counter() - free
        key, value = task
        result = attempt(where, answer, value, BaseException) if callable(answer) else answer
        free = time.perf_counter()
        answers.put((index, key, result, idle))
        del task, value, result
