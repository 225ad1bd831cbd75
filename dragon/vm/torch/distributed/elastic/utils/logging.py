"""Loggers, whose level the environment sets (LOGLEVEL)."""
import logging
import os
import sys


def get_logger(name=None):
    """Return a logger; of the caller's module unless one is named."""
    name = name or sys._getframe(1).f_globals.get("__name__")
    logger = logging.getLogger(name)
    logger.setLevel(os.environ.get("LOGLEVEL", "WARNING"))
    return logger
