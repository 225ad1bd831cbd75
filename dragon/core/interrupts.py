"""Exceptions that signal handlers raise: they end a call, and are no answer of the code that they came upon."""
import signal


def is_interrupt(error):
    """Return whether an error comes from a signal handler, so that whoever would go on without it must raise it.

    Parameters
    ----------
    error : BaseException
        What was caught.

    Returns
    -------
    bool
        Whether it is none that programs catch, such as KeyboardInterrupt, or has a signal handler in its traceback.

    """
    if not isinstance(error, Exception):
        return True
    codes = None
    trace = error.__traceback__
    while trace is not None:
        if codes is None:
            codes = _codes_of_handlers()
        if trace.tb_frame.f_code in codes:
            return True
        trace = trace.tb_next
    return False


def _codes_of_handlers():
    found = set()
    for number in signal.valid_signals():
        handler = signal.getsignal(number)
        handler = getattr(handler, "__func__", handler)
        code = getattr(handler, "__code__", None)
        if code is not None:
            found.add(code)
    return found
