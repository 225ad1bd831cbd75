"""Branches and loops: over steps of time, over elements, by a condition."""
from dragon.vm.keras import ops as _ops
from dragon.vm.keras.core import tree as _tree
from dragon.vm.keras.core.convert import convert_to_tensor as _tensor


def switch(condition, then_expression, else_expression):
    """Return one of two tensors, or results of functions, by a condition of as many elements, or of one.

    Parameters
    ----------
    condition : Tensor
        With no more axes than the tensors.
    then_expression, else_expression : Union[Tensor, Callable]
        What is returned.

    """
    condition = _ops.cast(_tensor(condition), "bool")
    if not condition.shape:
        made = [item if callable(item) else (lambda item=item: item) for item in (then_expression, else_expression)]
        return _ops.cond(condition, *made)
    first, second = (_tensor(item() if callable(item) else item) for item in (then_expression, else_expression))
    beyond = len(first.shape) - len(condition.shape)
    if beyond < 0:
        raise ValueError("Rank of `condition` should be less than or equal to rank of `then_expression` and "
                         f"`else_expression`. ndim(condition)={len(condition.shape)}, "
                         f"ndim(then_expression)={len(first.shape)}")
    if len(condition.shape) > 1:
        condition = _ops.reshape(condition, (*condition.shape, *[1] * beyond))
    return _ops.where(condition, first, second)


def map_fn(fn, elems, name=None, dtype=None):
    """Return what a function makes of each slice along the first axis. ..."""
    made = _ops.map(fn, _tree.map_structure(_tensor, elems))
    return made if dtype is None else _tree.map_structure(lambda item: _ops.cast(item, dtype), made)


def _fold(fn, elems, initializer, places):
    found = initializer
    for place in places:
        element = _tree.map_structure(lambda item: item[place], elems)
        found = element if found is None else fn(found, element)
    return found


def foldl(fn, elems, initializer=None, name=None):
    """Return what a function makes of a result so far and each slice, from the first one on. ..."""
    elems = _tree.map_structure(_tensor, elems)
    return _fold(fn, elems, initializer, range(_tree.flatten(elems)[0].shape[0]))


def foldr(fn, elems, initializer=None, name=None):
    """Return what a function makes of a result so far and each slice, from the last one on. ..."""
    elems = _tree.map_structure(_tensor, elems)
    return _fold(fn, elems, initializer, reversed(range(_tree.flatten(elems)[0].shape[0])))


def gradients(loss, variables):
    """Refuse: tensors have no graph behind them; `tf.GradientTape` says what gradients are."""
    raise RuntimeError("keras.backend.gradients: gradients are those of calls within a `tf.GradientTape`. Received: "
                       f"loss={loss}, variables={variables}")


def rnn(step_function, inputs, initial_states, go_backwards=False, mask=None, constants=None, unroll=False,
        input_length=None, time_major=False, zero_output_for_mask=False, return_all_outputs=True):
    """Call a function at each step of time, with the states that it returned at the one before.

    Parameters
    ----------
    step_function : Callable
        Takes a slice of the inputs and the states with the constants, returns outputs and states.
    inputs : Any
        Tensors of the shape (batch, time, ...).
    initial_states : List[Tensor]
        The first states.
    go_backwards : bool, optional, default=False
        Begin with the last step.
    mask : Tensor, optional
        Which steps of which samples count; at others, states and outputs stay as they were.
    constants : List[Tensor], optional
        What is handed to each step behind the states.
    unroll : bool, optional, default=False
        Nothing changes by it: steps are written down one by one.
    input_length : int, optional
        How many steps there are; as many as the inputs have by default.
    time_major : bool, optional, default=False
        Whether time is the first axis.
    zero_output_for_mask : bool, optional, default=False
        Whether outputs are zero where steps do not count.
    return_all_outputs : bool, optional, default=True
        Whether all outputs are returned, or the last one alone.

    Returns
    -------
    Tuple[Tensor, Tensor, List[Tensor]]
        The last output, all of them, and the last states.

    """
    axis = 0 if time_major else 1
    inputs = _tree.map_structure(_tensor, inputs)
    steps = input_length if isinstance(input_length, int) else _tree.flatten(inputs)[0].shape[axis]
    mask = None if mask is None else _ops.cast(_tensor(mask), "bool")
    states, outputs, output = list(initial_states), [], None
    for step in reversed(range(steps)) if go_backwards else range(steps):
        current = _tree.map_structure(lambda item: _ops.take(item, step, axis=axis), inputs)
        made, following = step_function(current, (*states, *(constants or ())))
        if mask is not None:
            counts = _ops.take(mask, step, axis=axis)
            before = made if output is None else output
            before = _tree.map_structure(_ops.zeros_like, before) if output is None or zero_output_for_mask else before
            made = _tree.map_structure(lambda new, old: _choose(counts, new, old), made, before)
            following = [_choose(counts, new, old) for new, old in zip(following, states)]
        output, states = made, list(following)
        outputs = [*outputs, output] if return_all_outputs else [output]
    whole = _tree.map_structure(lambda *items: _ops.stack(items, axis=axis), *outputs)
    return output, whole, states


def _choose(counts, new, old):
    counts = _ops.reshape(counts, (*counts.shape, *[1] * (len(new.shape) - len(counts.shape))))
    return _ops.where(counts, new, old)
