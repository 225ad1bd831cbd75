"""The functions of keras.ops that are no mathematics: conversion, places, control flow."""
from dragon.vm.keras.ops.core.basics import (
    cast, convert_to_numpy, convert_to_tensor, dtype, is_tensor, saturate_cast, scatter, scatter_update, shape,
    slice, slice_update, stop_gradient, unstack)
from dragon.vm.keras.ops.core.control import (
    associative_scan, cond, custom_gradient, fori_loop, map, scan, switch, vectorized_map, while_loop)
