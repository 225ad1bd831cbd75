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
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    return place is not None and place.tb_frame.f_code.co_filename.startswith(FOLDER)
