"""`tf.test.Benchmark`, and what decides whether tests run."""
import errno
import functools
import json
import os
import platform
import time

from dragon.core import files


def _run_times(function, repeats):
    """Return how long each call of a function took."""
    found = []
    for _ in range(repeats):
        begin = time.perf_counter()
        function()
        found.append(time.perf_counter() - begin)
    return found


class Benchmark:
    """A class of measurements: methods whose names begin with `benchmark` report what they found."""

    @classmethod
    def is_abstract(cls):
        """Return whether there is no measurement in the class."""
        return not any(name.startswith("benchmark") for name in dir(cls))

    def report_benchmark(self, iters=None, cpu_time=None, wall_time=None, throughput=None, extras=None, name=None,
                         metrics=None):
        """Print what was found, and write it into the folder that `TEST_REPORT_FILE_PREFIX` begins the names of.

        Parameters
        ----------
        iters : int, optional
            How many times something was done.
        cpu_time, wall_time : float, optional
            Seconds.
        throughput : float, optional
            Megabytes a second.
        extras : Dict[str, Union[float, str]], optional
            Further numbers and texts.
        name : str, optional
            Of the measurement; that of the calling method by default.
        metrics : Sequence[dict], optional
            Dictionaries of `name`, `value` and, if wanted, `min_value` and `max_value`.

        """
        import inspect
        name = name or next((frame.function for frame in inspect.stack()[1:]
                             if frame.function.startswith("benchmark")), "report_benchmark")
        for value in (extras or {}).values():
            if not isinstance(value, (int, float, str)):
                raise TypeError(f"report_benchmark: got extras={extras!r}, expected numbers and texts")
        for metric in metrics or ():
            if not {"name", "value"} <= set(metric) <= {"name", "value", "min_value", "max_value"}:
                raise ValueError(f"report_benchmark: got metric {metric!r}, expected a name and a value")
        entry = {"name": f"{type(self).__name__}.{name}", "iters": iters, "cpu_time": cpu_time,
                 "wall_time": wall_time, "throughput": throughput, "extras": extras, "metrics": metrics}
        entry = {key: value for key, value in entry.items() if value is not None}
        print(f"entry {json.dumps(entry)}")
        prefix = os.environ.get("TEST_REPORT_FILE_PREFIX")
        if prefix:
            path = f"{prefix}{entry['name'].replace('/', '__')}"
            if os.path.exists(path):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
            files.write(path, json.dumps(entry))

    def evaluate(self, tensors):
        """Return the values of tensors as NumPy arrays."""
        from dragon.vm.shared import nest
        from dragon.vm.shared.tensors.convert import convert_to_tensor
        return nest.map_structure(lambda item: convert_to_tensor(item).numpy(), tensors)

    def run_op_benchmark(self, sess, op_or_tensor, feed_dict=None, burn_iters=2, min_iters=10, store_trace=False,
                         store_memory_usage=True, name=None, extras=None, mbs=0):
        """Time a function, and report it.

        Parameters
        ----------
        sess : Any
            Must be None: there are no sessions.
        op_or_tensor : Callable
            What is timed.
        feed_dict : dict, optional
            Must be None.
        burn_iters, min_iters : int, optional, default=2, 10
            How many calls go before, and how many are timed.
        store_trace, store_memory_usage : bool, optional
            A trace is refused; memory is not measured.
        name : str, optional
            Of the measurement.
        extras : dict, optional
            Further numbers and texts.
        mbs : int, optional, default=0
            How many megabytes a call goes through.

        Returns
        -------
        Dict[str, Any]
            What was found.

        """
        if sess is not None or feed_dict is not None or store_trace or not callable(op_or_tensor):
            raise NotImplementedError("Benchmark.run_op_benchmark: functions are timed, without sessions, feeds and "
                                      f"traces. Received: sess={sess!r}, op_or_tensor={op_or_tensor!r}, "
                                      f"feed_dict={feed_dict!r}, store_trace={store_trace}")
        _run_times(op_or_tensor, burn_iters)
        times = sorted(_run_times(op_or_tensor, min_iters))
        middle = times[len(times) // 2] if times else 0.0
        throughput = mbs / middle if mbs and middle else None
        self.report_benchmark(iters=min_iters, wall_time=middle, throughput=throughput, extras=extras, name=name)
        return {"iters": min_iters, "wall_time": middle, "throughput": throughput, "extras": extras or {}, "name": name}


def disable_with_predicate(pred, skip_message):
    """Return a decorator for a test that is skipped where a function returns True.

    Parameters
    ----------
    pred : Callable
        Asked when the test is about to run.
    skip_message : str
        Why.

    Returns
    -------
    Callable
        The decorator.

    """
    def decorate(test):
        @functools.wraps(test)
        def asked(self, *args, **kwargs):
            if pred():
                self.skipTest(skip_message)
            return test(self, *args, **kwargs)
        return asked
    return decorate


def with_eager_op_as_function(cls=None, only_as_function=False):
    """Return a class of tests as it is: calls go one way only.

    Parameters
    ----------
    cls : type, optional
        The class; without it, a decorator is returned.
    only_as_function : bool, optional, default=False
        Changes nothing.

    Returns
    -------
    Union[type, Callable]
        The class, or the decorator.

    """
    return cls if cls is not None else lambda tests: tests


# The names that processors have, by the kinds that programs ask for.
_PROCESSORS = {"aarch64": ("aarch64", "arm64"), "arm": ("arm",), "pcc": ("ppc",), "systemz": ("s390",),
               "x86": ("x86_64", "amd64", "i386", "i686")}


def is_cpu_target_available(target):
    """Return whether code can be made for a kind of processor: for that of this machine.

    Parameters
    ----------
    target : str
        "x86", "aarch64", "arm", "pcc" or "systemz".

    Returns
    -------
    bool
        Whether it can.

    """
    if target not in _PROCESSORS:
        raise AssertionError(f"Unknown CPU target: {target}")
    return platform.machine().lower().startswith(_PROCESSORS[target])
