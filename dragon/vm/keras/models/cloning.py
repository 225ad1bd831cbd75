"""`clone_model`: the same layers anew, with weights of their own."""
from dragon.vm.keras.core import tree
from dragon.vm.keras.core.keras_tensor import KerasTensor
from dragon.vm.keras.layers.core.input_layer import Input, InputLayer
from dragon.vm.keras.models.functional import Functional, takes_graph
from dragon.vm.keras.models.sequential import Sequential


def clone_model(model, input_tensors=None, clone_function=None, call_function=None, recursive=False, **kwargs):
    """Return a model like another one, with new weights.

    Parameters
    ----------
    model : Model
        What is copied.
    input_tensors : Any, optional
        Symbolic tensors to begin with.
    clone_function : Callable, optional
        Makes a layer of a layer; by its configuration without it.
    call_function : Callable, optional
        Calls a layer with arguments in a graph.
    recursive : bool, optional, default=False
        Whether inner models are cloned layer by layer too.
    **kwargs : Any
        Nothing further.

    Returns
    -------
    Model
        Of the same class, where that can be made again.

    Examples
    --------
    >>> model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    >>> copy = keras.models.clone_model(model)
    >>> copy is model, copy.output_shape
    (False, (None, 1))

    """
    cache = kwargs.pop("cache", None)
    if kwargs:
        raise ValueError(f"Unexpected keyword argument(s): {tuple(kwargs)}")
    if isinstance(model, Sequential):
        if call_function is not None:
            raise ValueError("`call_function` argument is not supported with Sequential models. Use `call_function` "
                             f"with Functional models only. Received model of type '{type(model).__name__}', with "
                             f"call_function={call_function}")
        return _clone_list(model, _wrapped(clone_function, None, recursive, cache), input_tensors)
    if isinstance(model, Functional):
        clone = _wrapped(clone_function, call_function, recursive, cache)
        return _clone_graph(model, clone, input_tensors, call_function)
    if clone_function or input_tensors or call_function:
        raise ValueError("Arguments `clone_function`, `input_tensors` and `call_function` are only supported for "
                         f"Sequential models or Functional models. Received model of type '{type(model).__name__}', "
                         f"with clone_function={clone_function} and input_tensors={input_tensors}")
    from dragon.vm.keras.saving.serialization import deserialize_keras_object, serialize_keras_object
    return deserialize_keras_object(serialize_keras_object(model), custom_objects={type(model).__name__: type(model)})


def _wrapped(clone_function, call_function, recursive, cache):
    """Return what clones a layer once, and inner models too if that is wanted."""
    cache = {} if cache is None else cache
    clone_layer = clone_function or (lambda layer: type(layer).from_config(layer.get_config()))

    def clone(layer):
        if id(layer) not in cache:
            if recursive and isinstance(layer, (Sequential, Functional)):
                more = {} if isinstance(layer, Sequential) else {"call_function": call_function}
                cache[id(layer)] = clone_model(layer, clone_function=clone_layer, recursive=True, cache=cache, **more)
            else:
                cache[id(layer)] = clone_layer(layer)
        return cache[id(layer)]
    return clone


def _clone_list(model, clone, input_tensors):
    layers = [clone(layer) for layer in model.layers]
    first = model._layers[0] if model._layers and isinstance(model._layers[0], InputLayer) else None
    name, optional = (None, False) if first is None else (first.name, first.optional)
    if input_tensors is not None:
        tensors = tree.flatten(input_tensors)
        if len(tensors) != 1 or not isinstance(tensors[0], KerasTensor):
            raise ValueError("Argument `input_tensors` must be a single KerasTensor. "
                             f"Received invalid value: input_tensors={input_tensors}")
        layers.insert(0, Input(tensor=tensors[0], name=name, optional=optional))
    elif first is not None:
        layers.insert(0, Input(batch_shape=first.batch_shape, dtype=first.dtype, name=name, optional=optional))
    return _compiled_as(model, Sequential(layers, name=model.name, trainable=model.trainable))


def _clone_graph(model, clone, input_tensors, call_function):
    if input_tensors is None:
        input_tensors = tree.map_structure(
            lambda x: Input(batch_shape=x.shape, dtype=x.dtype, name=x.name), model.input)
    else:
        if not all(isinstance(x, KerasTensor) for x in tree.flatten(input_tensors)):
            raise ValueError("All entries in `input_tensors` must be KerasTensors. "
                             f"Received invalid values: inputs_tensors={input_tensors}")
        try:
            tree.assert_same_structure(input_tensors, model.input)
        except ValueError as error:
            raise ValueError("`input_tensors` must have the same structure as model.input\n"
                             f"Reference structure: {model.input}\nReceived structure: {input_tensors}") from error

    def cloned(operation):
        made = clone(operation)
        if call_function is None:
            return made
        return lambda *args, **kwargs: call_function(made, *args, **kwargs)
    outputs = model._run_through_graph(input_tensors, cloned)
    cls = type(model) if takes_graph(type(model)) else Functional
    return _compiled_as(model, cls(input_tensors, outputs, name=model.name))


def _compiled_as(model, made):
    if model.compiled:
        made.compile_from_config(model.get_compile_config())
    return made
