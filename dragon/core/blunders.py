"""Whose fault an error is: told by the innermost line that ran."""
import os

FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def is_ours(error):
    """Return whether an error came out of Dragon's own Python code, and not out of code of the caller's.

    Parameters
    ----------
    error : BaseException
        What was raised.

    """
    place, file = error.__traceback__, ""
    while place is not None:
        code = place.tb_frame.f_code
        # A name that is not there is the fault of who asked for it, not of what answers.
        if code.co_name != "__getattr__" or not code.co_filename.startswith(FOLDER):
            file = code.co_filename
        place = place.tb_next
    return file.startswith(FOLDER)
