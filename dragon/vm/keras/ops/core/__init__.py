"""The functions of keras.ops that are no mathematics: conversion, places, control flow."""
from dragon.vm.guest import gather as _gather
from dragon.vm.keras.ops.core import basics, control

_gather(globals(), basics, control)
