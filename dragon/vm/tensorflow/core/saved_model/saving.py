"""`tf.saved_model.save`: functions and variables in a folder that TensorFlow loads."""
import inspect
import os
import secrets

from dragon import _C
from dragon.core import files
from dragon.vm.shared.files.system_errors import translated
from dragon.vm.shared.letters import expect
from dragon.vm.shared.recording.concrete import ConcreteFunction
from dragon.vm.shared.recording.function import Function
from dragon.vm.shared.tensors.host import host_array
from dragon.vm.shared.tensors.dtypes import as_dtype
from dragon.vm.shared.tensors.strings import StringTensor
from dragon.vm.shared.tensors.type_spec import TensorSpec
from dragon.vm.tensorflow.core import tables
from dragon.vm.tensorflow.core.checkpoint import trackable
from dragon.vm.tensorflow.core.checkpoint.bundle import write_bundle
from dragon.vm.tensorflow.core.module import Module
from dragon.vm.tensorflow.core.saved_model import messages, structures
from dragon.vm.tensorflow.core.saved_model.functions import RestoredFunction
from dragon.vm.tensorflow.core.saved_model.loading import FILE, VARIABLES
from dragon.vm.tensorflow.core.saved_model.objects import Asset
from dragon.vm.tensorflow.core.saved_model.writing.encoding import encode, parameters, set_shape
from dragon.vm.tensorflow.core.saved_model.writing.tables import TableWriter
from dragon.vm.tensorflow.core.saved_model.writing.trace import SavedTrace, fill

GRAPH_VERSION = 1395  # of TensorFlow's graphs: what the nodes here mean
SERVING = "serving_default"  # the signature that is meant where none is named
# What a program's folder holds that is written anew: here, or by TensorFlow.
PARTS = frozenset((FILE, "saved_model.pbtxt", "fingerprint.pb", "variables", "assets"))
WRAPPERS = {list: "trackable_list_wrapper", dict: "trackable_dict_wrapper", tuple: "trackable_tuple_wrapper"}


class SaveOptions:
    """How a program is written; nothing can be chosen.

    Parameters
    ----------
    **options : Any
        Must be empty, or what is done anyway.

    """

    def __init__(self, **options):
        given = {name: value for name, value in options.items() if value and name != "experimental_custom_gradients"}
        if given:
            raise NotImplementedError(f"SaveOptions: not supported. Received: {given}")


class Folder:
    """A program in the making.

    Parameters
    ----------
    root : Any
        The object that is saved.

    """

    def __init__(self, root):
        self.objects = trackable.walk(root)
        self.nodes = [self._node(value, parts) for value, parts, _ in self.objects]
        self.places = {id(value): place for place, (value, _, key) in enumerate(self.objects) if key is not None}
        self.weights = {}
        for value, _, key in self.objects:
            if key is not None:
                self.weights[key.removesuffix(trackable.SUFFIX)] = value
        self.meta = messages.MetaGraph()
        self.traces, self.assets = {}, {}
        self.tables = {}  # {table: the number of the object that it is}
        for place, (value, _, _) in enumerate(self.objects):
            if isinstance(value, tables._Table):
                self._write_table(value.written(), self.nodes[place], place)

    def _node(self, value, parts):
        node = messages.SavedObject()
        for name, number in parts.items():
            node.children.add(node_id=number, local_name=name)
        if trackable.is_variable(value):
            dtype = _C.Tensor.dtype.__get__(value)
            node.variable.dtype = as_dtype(dtype).as_datatype_enum
            set_shape(node.variable.shape, tuple(value.shape))
            node.variable.trainable = bool(value.trainable)
            node.variable.name = str(getattr(value, "path", None) or getattr(value, "_name", None) or "Variable")
            return node
        kind = next((word for base, word in WRAPPERS.items() if isinstance(value, base)), "_generic_user_object")
        return self._user(node, kind)

    @staticmethod
    def _user(node, kind):
        node.user_object.identifier = kind
        node.user_object.version.producer = node.user_object.version.min_consumer = 1
        return node

    def add(self, node):
        """Add an object; returns its number."""
        self.nodes.append(node)
        return len(self.nodes) - 1

    def place_of(self, table):
        """Return the number of a table; one that no part of what is saved holds, as a layer's own, joins it."""
        if table not in self.tables:
            node = messages.SavedObject()
            self._write_table(table, node, self.add(node))
            self.nodes[0].children.add(node_id=self.tables[table], local_name=f"table_{len(self.tables)}")
        return self.tables[table]

    def _write_table(self, table, node, place):
        self.tables[table] = place
        TableWriter(self, table, f"table_{place}_{secrets.token_hex(8)}").write(node, place)

    def add_asset(self, path):
        """Add a file that stands beside the program; returns the number of the object."""
        if path not in self.assets:
            name, taken = os.path.basename(path), {one.filename for one in self.meta.asset_file_def}
            while name in taken:
                name = f"_{name}"
            self.meta.asset_file_def.append(messages.AssetFile(
                tensor_info=messages.TensorInfo(name=f"asset_{len(self.assets)}:0"), filename=name))
            node = messages.SavedObject()
            node.asset.asset_file_def_index = len(self.assets)
            node.asset.SetInParent()
            self.assets[path] = self.add(node), name
        return self.assets[path][0]

    def add_list(self, name):
        """Add a list of nothing to the object that is saved."""
        number = self.add(self._user(messages.SavedObject(), WRAPPERS[list]))
        self.nodes[0].children.add(node_id=number, local_name=name)

    def trace(self, name, function, args, kwargs, is_signature=False):
        """Write a trace, once for each name; results of a signature are called as their keys are."""
        if name not in self.traces:
            made = self.traces[name] = SavedTrace(name, function, args, kwargs, self.weights)
            if is_signature:
                made.outputs = {key: TensorSpec(spec.shape, spec.dtype, key) for key, spec in made.outputs.items()}
            self.meta.graph_def.library.function.extend(one.SerializeToString() for one in made.definitions)
            concrete = messages.SavedConcrete(bound_inputs=[self.places[id(one)] for one in made.variables]
                                              + [self.place_of(table) for table in made.tables])
            concrete.canonicalized_input_signature.MergeFrom(encode((made.args, made.kwargs)))
            concrete.output_signature.MergeFrom(encode(made.outputs))
            self.meta.object_graph_def.concrete_functions.append(messages.Concretes(key=name, value=concrete))
        return self.traces[name]

    def add_function(self, traces, spec):
        """Add a tf.function of traces; returns its number."""
        node = messages.SavedObject()
        node.function.concrete_functions.extend(trace.name for trace in traces)
        node.function.function_spec.MergeFrom(spec)
        return self.add(node)

    def add_signatures(self, signatures):
        """Add the functions for servers: {name: (function, args, kwargs)}."""
        node = self._user(messages.SavedObject(), "signature_map")
        number = self.add(node)
        for name, (function, args, kwargs) in signatures.items():
            made = self._signature(name, function, args, kwargs)
            bare = messages.SavedObject()
            bare.bare_concrete_function.concrete_function_name = made.name
            bare.bare_concrete_function.argument_keywords.extend(sorted(made.kwargs))
            bare.bare_concrete_function.allowed_positional_arguments = 1 if len(made.kwargs) == 1 else 0
            bare.bare_concrete_function.function_spec.MergeFrom(parameters([], (), dict.fromkeys(sorted(made.kwargs))))
            node.children.add(node_id=self.add(bare), local_name=name)
            self._describe(name, made)
        self.nodes[0].children.add(node_id=number, local_name="signatures")

    def _signature(self, name, function, args, kwargs):
        """Write a trace whose arguments and results have names."""
        specs = [leaf for leaf in structures.leaves((args, kwargs)) if isinstance(leaf, TensorSpec)]
        names = _argument_names(function, args, kwargs, specs)
        order = sorted(range(len(specs)), key=lambda place: names[place])

        def call(**tensors):
            given = [tensors[one] for one in names]
            inner_args, inner_kwargs = fill((tuple(args), dict(kwargs)), iter(given))
            return _named_results(name, _body_of(function)(*inner_args, **inner_kwargs))
        by_name = {names[place]: TensorSpec(specs[place].shape, specs[place].dtype, names[place]) for place in order}
        return self.trace(f"__inference_signature_wrapper_{name}", call, (), by_name, True)

    def _describe(self, name, made):
        """Tell of a signature what tools list."""
        found = messages.SignatureDef(method_name="tensorflow/serving/predict")
        for group, specs, prefix in ((found.inputs, made.kwargs, f"{name}_"), (found.outputs, made.outputs, "")):
            for key, spec in specs.items():
                info = messages.TensorInfo(name=f"{prefix}{key}:0", dtype=spec.dtype.as_datatype_enum)
                set_shape(info.tensor_shape, spec.shape)
                group.append(messages.NamedInfo(key=key, value=info))
        self.meta.signature_def.append(messages.NamedSignature(key=name, value=found))

    def write(self, folder):
        """Write the files."""
        self.meta.object_graph_def.nodes.extend(self.nodes)
        self.meta.meta_info_def.tags.append("serve")
        self.meta.meta_info_def.tensorflow_version = "2.21.0"
        self.meta.graph_def.versions.producer = GRAPH_VERSION
        with files.replacing_folder(folder, PARTS) as place:
            self._write_parts(place)

    def _write_parts(self, folder):
        model = messages.SavedModel(saved_model_schema_version=1, meta_graphs=[self.meta.SerializeToString()])
        os.mkdir(os.path.join(folder, "assets"))
        os.mkdir(os.path.dirname(os.path.join(folder, VARIABLES)))
        for path, (_, name) in self.assets.items():
            files.copy(path, os.path.join(folder, "assets", name))
        import numpy as np
        text = np.empty((), object)
        text[()] = trackable.write_graph(self.objects)
        write_bundle(os.path.join(folder, VARIABLES), {
            trackable.GRAPH: text, **{key: host_array(value) for value, _, key in self.objects if key is not None}})
        files.write(os.path.join(folder, FILE), model.SerializeToString())


def _argument_names(function, args, kwargs, specs):
    """Return a name for each tensor among the arguments: its spec's, or its parameter's."""
    try:
        known = list(inspect.signature(getattr(function, "python_function", function)).parameters)
    except (TypeError, ValueError):
        known = []
    if not kwargs and len(args) == len(specs) and len(known) >= len(args):
        hints = known[:len(args)]
    else:
        hints = [f"args_{place}" for place in range(len(specs))]
    names = []
    for spec, hint in zip(specs, hints):
        name = spec.name or hint
        names.append(name if name not in names else f"{name}_{len(names)}")
    return names


def _named_results(name, results):
    if isinstance(results, dict):
        if not all(isinstance(one, (_C.Tensor, StringTensor)) for one in results.values()):
            raise ValueError(f"saved_model.save: signature '{name}' returns nested results, expected one tensor for "
                             "each name")
        return results
    flat = [one for one in structures.leaves(results) if isinstance(one, (_C.Tensor, StringTensor))]
    return {f"output_{place}": one for place, one in enumerate(flat)}


def _body_of(function):
    """Return what a tf.function calls when it is traced; other functions are what is called."""
    if not isinstance(function, Function):
        return function
    return lambda *args, **kwargs: function.traced_body(args, kwargs)


def _traces_of(function):
    """Return [(args, kwargs)] of what a function was called with, or says that it takes, defaults among them."""
    return [_canonical(function, args, kwargs) for args, kwargs in _found_traces(function)]


def _canonical(function, args, kwargs):
    """Return arguments as files have them: by position all but those that are given by name only."""
    bound = inspect.signature(function.python_function).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.args, bound.kwargs


def _found_traces(function):
    if function.input_signature is not None:
        return [(tuple(function.input_signature), {})]
    found = [(tuple(kept._args), dict(kept._kwargs)) for kept in function._kept.values()]
    if function.first_signature is not None and (tuple(function.first_signature), {}) not in found:
        found.append((tuple(function.first_signature), {}))
    return found


def _refuse_parts(obj):
    """Raise for parts of an object that are not written."""
    for name, value in getattr(obj, "__dict__", {}).items():
        if isinstance(value, (Asset, RestoredFunction)):
            raise NotImplementedError(f"saved_model.save: files and loaded functions are not written. Received: "
                                      f"{type(obj).__name__}.{name}={value!r}")


def _functions_of(obj):
    """Return {name: tf.function} of an object's attributes."""
    found = {}
    for name in dir(type(obj)):
        if isinstance(inspect.getattr_static(type(obj), name), Function):
            found[name] = getattr(obj, name)
    found.update((name, value) for name, value in vars(obj).items() if isinstance(value, Function))
    return found


def _spec_of(function):
    """Return what is told of the parameters of a tf.function."""
    signature = inspect.signature(function.python_function)
    names, defaults, named_only, rest = [], [], {}, {}
    for parameter in signature.parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            rest["rest" if parameter.kind is parameter.VAR_POSITIONAL else "named_rest"] = parameter.name
        elif parameter.kind is parameter.KEYWORD_ONLY:
            named_only[parameter.name] = None if parameter.default is parameter.empty else parameter.default
        elif parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
            names.append(parameter.name)
            if parameter.default is not parameter.empty:
                defaults.append(parameter.default)
    return parameters(names, defaults, named_only, **rest)


def _choose_signatures(signatures):
    """Return {name: (function, args, kwargs)} of the functions for servers."""
    if not isinstance(signatures, dict):
        signatures = {SERVING: signatures}
    found = {}
    for name, function in signatures.items():
        if isinstance(function, ConcreteFunction):
            found[name] = (function._function, *_canonical(function._function, function._args, function._kwargs))
        elif isinstance(function, Function) and len(_traces_of(function)) == 1:
            found[name] = (function, *_traces_of(function)[0])
        else:
            raise ValueError(f"saved_model.save: got {function!r} for signature '{name}', expected a tf.function with "
                             "an input_signature or one trace, or its get_concrete_function(...)")
    return found


def _default_signatures(obj, traces):
    """Return the functions for servers where nobody names them: a model's call, or the only function of a signature.

    Parameters
    ----------
    obj : Any
        What is saved.
    traces : Dict[str, Tuple[Function, List[SavedTrace]]]
        Its functions, written.

    """
    if hasattr(obj, "_default_signature"):
        return obj._default_signature()
    if len(traces) != 1:
        return {}
    function, (trace, *others) = next(iter(traces.values()))
    outputs = trace.outputs.values() if isinstance(trace.outputs, dict) else structures.leaves(trace.outputs)
    fits = not others and function.input_signature is not None and all(isinstance(one, TensorSpec) for one in outputs)
    return _choose_signatures(function) if fits else {}


def save(obj, export_dir, signatures=None, options=None):
    """Write an object's variables and functions into a folder that TensorFlow loads.

    Parameters
    ----------
    obj : Module
        The object: its variables, modules, lists and dictionaries, and each `tf.function` among its attributes for the
        arguments that it has an `input_signature` or a trace for. Functions read variables and write them.
    export_dir : str
        The folder.
    signatures : Union[Function, Dict[str, Function]], optional
        The functions for servers; without them a model's call, or the only function if it has an `input_signature`.
    options : SaveOptions, optional
        Accepted.

    """
    if not trackable.is_trackable(obj) or trackable.is_variable(obj):
        raise ValueError(f"Expected an object of variables and functions, such as a tf.Module. Received: {obj!r}")
    folder = os.fsdecode(os.fspath(expect(export_dir, (str, bytes, os.PathLike), "saved_model.save", "export_dir")))
    made, own = Folder(obj), {}
    for number, (value, _, _) in enumerate(made.objects):
        if number == 0 or isinstance(value, Module):
            _refuse_parts(value)
            for name, function in _functions_of(value).items():
                traces = [made.trace(f"__inference_{name}_{number}_{place}", _body_of(function), args, kwargs)
                          for place, (args, kwargs) in enumerate(_traces_of(function))]
                made.nodes[number].children.add(node_id=made.add_function(traces, _spec_of(function)), local_name=name)
                if number == 0 and traces:
                    own[name] = function, traces
    made.add_signatures(_default_signatures(obj, own) if signatures is None else _choose_signatures(signatures))
    with translated(folder):
        made.write(folder)
