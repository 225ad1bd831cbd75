"""Compiled functions are as plain ones whatever of Python's state changes between their calls."""
import abc
import array
import builtins
import collections
import configparser
import contextvars
import ctypes
import dataclasses
import functools
import importlib
import io
import logging
import math
import operator
import os
import queue
import string
import sys
import tempfile
import threading
import time
import types
import weakref

import pytest

from dragon.core.capture.function import function
from dragon.vm import torch
from tests.harness.state_programs import PROGRAMS, source

pytestmark = pytest.mark.filterwarnings("ignore::dragon.core.capture.settings.CaptureWarning")
MODULES = (abc, array, builtins, collections, configparser, contextvars, ctypes, dataclasses, functools, importlib, io,
           logging, math, operator, os, queue, string, sys, tempfile, threading, time, types, weakref)


def within_thread(called):
    """Return what calls a function in another thread."""
    def call(x):
        found = []
        thread = threading.Thread(target=lambda: found.append(called(x)), name="a thread with a long name")
        thread.start()
        thread.join()
        return found[0]
    return call


def outcomes(row, wrap):
    """Return what the calls of a program come to."""
    names = {module.__name__: module for module in MODULES}
    names.update(torch=torch, Box=type("Box", (), {"alpha": 2.0}), within_thread=within_thread, __name__="programs")
    exec(source(row), names)
    x, found = torch.tensor([1.0, 2.0, 3.0]), []
    for called in names["program"](wrap):
        for _ in range(2):
            try:
                found.append(called(x).tolist())
            except Exception as error:
                found.append(type(error).__name__)
    return found


@pytest.fixture(autouse=True)
def tensors_as_found():
    """Take away what a program gave to the class of tensors."""
    before = set(vars(torch.Tensor))
    yield
    for name in set(vars(torch.Tensor)) - before:
        delattr(torch.Tensor, name)


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_compiled_function_is_stale(name):
    assert outcomes(PROGRAMS[name], torch.compile) == outcomes(PROGRAMS[name], lambda called: called)


def test_names_that_are_translated_do_not_keep_a_function_from_being_a_graph():
    class Settings:
        names = {"size": "hidden_size"}

        def __init__(self):
            self.hidden_size = 2.0

        def __getattribute__(self, name):
            return super().__getattribute__(super().__getattribute__("names").get(name, name))
    settings = Settings()
    compiled = torch.compile(lambda x: x * settings.size)
    assert compiled(torch.ones(1)).item() == 2
    settings.hidden_size = 5.0
    assert compiled(torch.ones(1)).item() == 5 and len(compiled.variants) == 2


def test_a_function_that_changes_the_default_device_ends():
    def step(x):
        torch.set_default_device("cpu" if torch.get_default_device().type == "meta" else "meta")
        return x * 2
    compiled = torch.compile(step)
    try:
        for _ in range(4):
            assert compiled(torch.ones(2, device="cpu")).tolist() == [2, 2]
    finally:
        torch.set_default_device(None)


def test_explain_says_what_the_next_call_waits_for():
    """A program fills caches of its own in its first call: the second one is captured."""
    cache = {}

    def cached(x):
        if "scale" not in cache:
            cache["scale"] = 2.0
        return x * cache["scale"]
    captured = function(cached, effects="retry")
    captured(torch.ones(2))
    assert "0 graphs" in captured.explain() and "the next call is captured" in captured.explain()
    assert "now with new 'scale'" in captured.explain()
    assert captured(torch.ones(2)).tolist() == [2, 2]
    assert "1 graphs" in captured.explain() and "the next call" not in captured.explain()
