"""`ExportArchive`: functions of models, each with the inputs that it takes, in files for other programs."""
import inspect
import pathlib

from dragon import _C
from dragon.vm.keras.core import tree
from dragon.vm.keras.core.dtypes import standardize_dtype
from dragon.vm.keras.core.variable import Variable
from dragon.vm.keras.export.onnx import write_onnx
from dragon.vm.keras.layers import Layer


def _spec_of(given):
    """Return what describes a tensor as a TensorSpec."""
    from dragon.vm.shared.tensors.dtypes import as_dtype
    from dragon.vm.shared.tensors.type_spec import TensorSpec
    if isinstance(given, TensorSpec):
        return given
    if getattr(given, "shape", None) is None or getattr(given, "dtype", None) is None:
        raise ValueError("The `input_signature` must say the shape and the dtype of each tensor. "
                         f"Received: {given} of type {type(given)}")
    return TensorSpec(tuple(given.shape), as_dtype(standardize_dtype(given.dtype)), getattr(given, "name", None))


def _input_names(function, signature):
    """Return a name for each tensor of a signature: its own, or its parameter's."""
    try:
        parameters = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        parameters = []
    names = []
    for place, argument in enumerate(signature):
        leaves = tree.flatten(argument)
        base = parameters[place] if place < len(parameters) and parameters[place] != "args" else f"input_{place}"
        for number, leaf in enumerate(leaves):
            name = leaf.name or (base if len(leaves) == 1 else f"{base}_{number}")
            names.append(name if name not in names else f"{name}_{len(names)}")
    return names


class _Endpoint:
    """A function of flat tensors, with the names of the weights that it reads."""

    def __init__(self, function, signature, weights):
        self.function, self.signature, self.weights = function, signature, weights

    def __call__(self, *tensors):
        return tuple(tree.flatten(self.function(*tree.pack_sequence_as(self.signature, list(tensors)))))

    def state_dict(self, **options):
        """Return the weights by their names."""
        from dragon.vm.shared.tensors.tensor import Tensor
        return {name: _C.as_class(weight, Tensor) for name, weight in self.weights.items()}


class ExportArchive:
    """Functions of models, to be written for programs that run them without training and without Python.

    Parameters
    ----------
    format : str, default="saved_model"
        What `write_out` writes if nothing else is said there: that, or "onnx".

    Examples
    --------
    >>> from dragon.vm import keras
    >>> model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    >>> archive = keras.export.ExportArchive(format="onnx")
    >>> archive.track(model)
    >>> serve = archive.add_endpoint("serve", model.call, [keras.InputSpec(shape=(None, 3), dtype="float32")])
    >>> serve(keras.ops.ones((2, 3))).shape
    TensorShape([2, 2])

    """

    def __init__(self, format="saved_model", **kwargs):
        if kwargs or format not in ("saved_model", "onnx", "neptune_model"):
            raise ValueError(f"Unsupported format: {format}. Received: {kwargs}" if kwargs
                             else f"Unsupported format: {format}")
        if format == "neptune_model":
            raise NotImplementedError(f"ExportArchive: 'onnx' is what can be written. Received: format={format!r}")
        self._format, self._endpoints, self._signatures, self._collections, self._tracked = format, {}, {}, {}, []

    def _listed(self, attribute):
        return [weight for resource in self._tracked for weight in getattr(resource, attribute, ())]

    variables = property(lambda self: self._listed("variables"), doc="The variables of all that is tracked.")
    trainable_variables = property(lambda self: self._listed("trainable_variables"),
                                   doc="Those of them that training changes.")
    non_trainable_variables = property(lambda self: self._listed("non_trainable_variables"),
                                       doc="Those of them that training does not change.")

    def track(self, resource):
        """Have the variables of a layer, a model or a `tf.Module` known by name.

        Parameters
        ----------
        resource : Layer or Module
            What the endpoints use.

        """
        if isinstance(resource, Layer) and not resource.built:
            raise ValueError("The layer provided has not yet been built. It must be built before export. "
                             f"Received: {resource}")
        if not hasattr(resource, "variables"):
            raise ValueError("Invalid resource type. Expected a Keras `Layer` or `Model` or a TensorFlow `Trackable` "
                             f"object. Received object {resource} of type '{type(resource)}'. ")
        if not any(resource is one for one in self._tracked):
            self._tracked.append(resource)

    def add_endpoint(self, name, fn, input_signature=None, **kwargs):
        """Register a function and return it as a `tf.function`.

        Parameters
        ----------
        fn : Callable
            The function, of tensors.
        input_signature : Sequence[Any], optional
            For each argument nested specs; what a `tf.function` was made with, or called with first, without it.

        """
        from dragon.vm.shared.recording.function import Function, function
        if kwargs:
            raise ValueError(f"'jax2tf_kwargs' and 'is_static' are for JAX alone. Received: {kwargs}")
        if name in self._endpoints:
            raise ValueError(f"Endpoint name '{name}' is already taken.")
        if input_signature is None:
            if not isinstance(fn, Function):
                raise ValueError("If the `fn` argument provided is not a `tf.function`, you must provide an "
                                 f"`input_signature` argument: shape and dtype of the arguments. Received: fn={fn}")
            input_signature = fn.input_signature or fn.first_signature
            if input_signature is None:
                raise ValueError(f"The provided tf.function '{fn}' has never been called: you must either "
                                 "provide a function that has been called, or pass an `input_signature` argument. "
                                 "Received: input_signature=None")
            found = fn
        else:
            input_signature = tree.map_structure(_spec_of, input_signature)
            found = function(fn, input_signature=input_signature, autograph=False)
        owner = getattr(fn, "__self__", None)  # whose method it is, has the variables
        if isinstance(owner, Layer) and owner.built:
            self.track(owner)
        self._signatures[name], self._endpoints[name] = list(input_signature), found
        return found

    def track_and_add_endpoint(self, name, resource, input_signature, **kwargs):
        """Track a layer or model and register its call.

        Parameters
        ----------
        resource : Layer
            What is tracked and called.
        input_signature : Sequence[Any]
            For each argument nested specs.

        """
        self.track(resource)
        return self.add_endpoint(name, resource.__call__, input_signature, **kwargs)

    def add_variable_collection(self, name, variables):
        """Have variables written under a name, whether or not an endpoint uses them.

        Parameters
        ----------
        name : str
            The name.
        variables : Sequence[Variable]
            The variables.

        """
        from dragon.vm.shared.tensors.variable import Variable as Theirs
        if not isinstance(variables, (list, tuple, set)):
            raise ValueError("Expected `variables` to be a list/tuple/set. "
                             f"Received instead object of type '{type(variables)}'.")
        if not all(isinstance(variable, (Variable, Theirs)) for variable in variables):
            raise ValueError("Expected all elements in `variables` to be `tf.Variable` instances. Found instead the "
                             f"following types: {list({type(variable) for variable in variables})}")
        self._collections[name] = list(variables)

    def write_out(self, filepath, options=None, verbose=True, format=None):
        """Write the endpoints into a folder that TensorFlow loads, or as ONNX.

        Of ONNX's files there is one for one endpoint, and for several there are `<endpoint>.onnx` in a folder.

        Each file has every collection's variables, among its initializers as `<collection>/<number>/<name>`.

        Parameters
        ----------
        filepath : str
            The file or folder.
        options : Any, optional
            Options of SavedModel; there are none for ONNX.
        verbose : bool, default=True
            Whether to say what was written.
        format : str, optional
            "saved_model" or "onnx"; what the archive was made with, without it.

        """
        if not self._endpoints:
            raise ValueError("No endpoints have been set yet. Call add_endpoint(). Received: no endpoints")
        format = format or self._format
        if format not in ("saved_model", "onnx"):
            raise NotImplementedError("ExportArchive.write_out: 'saved_model' and 'onnx' are what can be written. "
                                      f"Received: format={format!r}")
        if format == "saved_model":
            self._write_saved_model(filepath, options, verbose)
            return
        if options is not None:
            raise ValueError(f"There are no options for format='onnx'. Received: options={options}")
        target = pathlib.Path(filepath)
        single = len(self._endpoints) == 1
        if not single:
            target.mkdir(parents=True, exist_ok=True)
        told = []
        for name in self._endpoints:
            told.append(self._write(name, target if single else target / f"{name}.onnx"))
        if verbose:
            from dragon.vm.keras.core.messages import print_msg
            print_msg(f"Saved artifact at '{filepath}'. The following endpoints are available:\n\n" + "\n\n".join(told))

    def _write_saved_model(self, filepath, options, verbose):
        """Write all endpoints into a folder that TensorFlow loads."""
        from dragon.vm.keras.export.folders import write_endpoints
        if options is not None:
            raise NotImplementedError(f"ExportArchive.write_out: there are no options. Received: options={options}")
        write_endpoints(self, {name: (function.python_function, self._signatures[name])
                               for name, function in self._endpoints.items()}, str(filepath), self._collections)
        if verbose:
            from dragon.vm.keras.core.messages import print_msg
            print_msg(f"Saved artifact at '{filepath}'. The following endpoints are available: "
                      f"{', '.join(self._endpoints)}")

    def _write(self, name, path):
        """Write one endpoint and return what it takes, as text."""
        function, signature = self._endpoints[name].python_function, self._signatures[name]
        weights = {getattr(weight, "path", weight.name).replace("/", "."): weight for weight in self.variables}
        specs = tree.flatten(signature)
        names = _input_names(function, signature)
        extra = {f"{collection}/{number}/{getattr(variable, 'path', variable.name)}": variable
                 for collection, variables in self._collections.items() for number, variable in enumerate(variables)}
        write_onnx(_Endpoint(function, signature, weights), specs, names, path, extra=extra)
        takes = "\n".join(f"    {given}: {standardize_dtype(spec.dtype)}{tuple(spec.shape)}"
                          for given, spec in zip(names, specs))
        return f"* Endpoint '{name}'\n  Args:\n{takes}"
