"""The objects of a file: variables with their numbers, tables, files, lists, and what holds them by name."""
import os

from dragon.core.capture.rules import Rules
from dragon.vm.shared.errors import DataLossError, NotFoundError
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import as_dtype
from dragon.vm.shared.tensors.shape import TensorShape
from dragon.vm.shared.tensors.variable import Variable
from dragon.vm.tensorflow.core.checkpoint import trackable
from dragon.vm.tensorflow.core.saved_model import functions
from dragon.vm.tensorflow.core.saved_model.values import Constant

KEYS, VALUES = "-keys", "-values"  # of a table that changes, in a checkpoint


class UserObject:
    """An object of a file: its parts are attributes."""

    def _checkpoint_parts(self):
        return dict(vars(self))

    def __repr__(self):
        return f"<{type(self).__name__} with {', '.join(sorted(vars(self))) or 'nothing'}>"


class CallableObject(UserObject):
    """An object of a file that can be called."""

    def __call__(self, *args, **kwargs):
        return vars(self)["__call__"](*args, **kwargs)


class Signatures(dict):
    """The functions that a file offers to servers, by name."""

    def __repr__(self):
        return f"_SignatureMap({super().__repr__()})"


class Asset:
    """A file beside the program.

    Parameters
    ----------
    path : str
        Where it is.

    """

    def __init__(self, path):
        self.asset_path = convert_to_tensor(path)

    def value(self):
        """Return what functions take: the path."""
        return self.asset_path


Rules.never[Asset] = frozenset(("asset_path",))  # strings, which graphs do not have


class Captured:
    """A tensor that functions read.

    Parameters
    ----------
    find : Callable
        Returns its message.

    """

    def __init__(self, find):
        self._find, self._made = find, None

    def value(self):
        """Return the tensor."""
        if self._made is None:
            self._made = Constant(self._find())
        return self._made.value()


class Resource:
    """A table or the like, made when it is first used.

    Parameters
    ----------
    saved : Optional[Callable]
        Returns the keys and values that a checkpoint has.

    """

    def __init__(self, saved):
        self._saved, self._made = saved, None

    def value(self):
        """Return what functions take."""
        if self._made is None:
            make, start = getattr(self, "_create_resource", None), getattr(self, "_initialize", None)
            if make is None:
                raise NotImplementedError("saved_model: got a resource that no function of the file makes")
            self._made = make()
            try:
                if start is not None:
                    start()
            except BaseException:
                self._made = None
                raise
            if self._saved is not None:
                held = self._made.held()
                held.insert(*(convert_to_tensor(one) for one in self._saved()))
        return self._made

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.value(), name)


class Unreadable:
    """A variable that the engine cannot hold; whoever reads it is told."""

    def __init__(self, reason):
        self._reason = reason

    def value(self):
        """Raise what hinders."""
        raise NotImplementedError(self._reason)


class Objects:
    """All objects of a file.

    Parameters
    ----------
    graph : ObjectGraph
        What the file tells.
    library : Library
        The functions' bodies.
    folder : str
        Where the file is.
    assets : Sequence[AssetFile]
        The files beside it.
    constants : Callable
        Returns a node of the outermost graph by its name.
    bundle : Optional[Bundle]
        The variables' numbers.
    partial : bool
        Whether variables without numbers are passed over.

    """

    def __init__(self, graph, library, folder, assets, constants, bundle, partial):
        self._nodes, self._library, self._folder = list(graph.nodes), library, folder
        self._concretes = {pair.key: pair.value for pair in graph.concrete_functions}
        self._assets, self._constants, self._bundle, self._partial = assets, constants, bundle, partial
        if not self._nodes:
            raise DataLossError(None, None, f"The program in {folder} has no objects")
        self._saved = self._match()
        self._traces = {}
        self.made = [self._make(number, node) for number, node in enumerate(self._nodes)]
        self._join()

    def _match(self):
        """Return what the checkpoint has for each object, found by going both trees from their roots."""
        if self._bundle is None or trackable.GRAPH not in self._bundle:
            return {}
        found, order = {}, [(0, trackable.read_graph(self._bundle.read(trackable.GRAPH)[()]))]
        for number, saved in order:
            if number in found:
                continue
            found[number] = saved
            for child in self._node(number).children:
                below = saved.children.get(child.local_name)
                if below is not None and child.node_id not in found:
                    order.append((child.node_id, below))
        return found

    def _node(self, number):
        if not 0 <= number < len(self._nodes):
            raise DataLossError(None, None, f"The program in {self._folder} names object {number} of "
                                f"{len(self._nodes)}")
        return self._nodes[number]

    def value(self, number):
        """Return what a function takes for an object that it reads."""
        self._node(number)
        made = self.made[number]
        return made if isinstance(made, Variable) or not hasattr(type(made), "value") else made.value()

    # --- one object

    def _make(self, number, node):
        kind = node.WhichOneof("kind")
        maker = getattr(self, f"_make_{kind}", None)
        return UserObject() if maker is None else maker(number, node, getattr(node, kind))

    def _make_user_object(self, number, node, described):
        identifier = described.identifier
        if identifier in ("trackable_list_wrapper", "trackable_tuple_wrapper"):
            return []
        if identifier == "trackable_dict_wrapper":
            return {}
        if identifier == "signature_map":
            return Signatures()
        return CallableObject() if any(child.local_name == "__call__" for child in node.children) else UserObject()

    def _make_variable(self, number, node, described):
        dtype, saved = as_dtype(described.dtype), self._saved.get(number)
        name = described.name or "Variable"
        if saved is None or saved.key is None or saved.key not in self._bundle:
            if self._bundle is not None and not self._partial:
                raise NotFoundError(None, None, f"Variable '{name}' has no numbers in the checkpoint of {self._folder}")
            return Unreadable(f"saved_model: variable '{name}' has no numbers: the checkpoint was not read")
        if dtype.name == "string":
            return Unreadable(f"saved_model: variables of strings are not supported. Received: '{name}'")
        try:
            numbers = convert_to_tensor(self._bundle.read(saved.key))
        except NotImplementedError as error:
            return Unreadable(f"{error} (variable '{name}')")
        sizes = described.shape
        shape = None if sizes.unknown_rank else [None if dim.size == -1 else dim.size for dim in sizes.dim]
        if not TensorShape(shape).is_compatible_with(numbers.shape) or numbers.dtype is not dtype:
            raise DataLossError(None, None, f"Variable '{name}' is {dtype.name}{shape}, its numbers are "
                                f"{numbers.dtype.name}{list(numbers.shape)}")
        declared = None if shape is not None and None not in shape else TensorShape(shape)
        made = Variable(numbers, trainable=described.trainable, shape=declared)
        made._name = name
        return made

    def _make_constant(self, number, node, described):
        name = described.operation

        def find():
            definition = self._constants(name)
            value = next((pair.value for pair in definition.attr if pair.key == "value"), None)
            if definition.op != "Const" or value is None:
                raise DataLossError(None, None, f"Constant '{name}' of {self._folder} is {definition.op}, expected "
                                    "Const")
            return value.tensor
        return Captured(find)

    def _make_asset(self, number, node, described):
        place = described.asset_file_def_index
        if not 0 <= place < len(self._assets):
            raise DataLossError(None, None, f"The program in {self._folder} names file {place} of {len(self._assets)}")
        name = self._assets[place].filename
        parts = name.replace("\\", "/").split("/")
        if not name or os.path.isabs(name) or ".." in parts or "\0" in name:
            raise DataLossError(None, None, f"The program in {self._folder} names a file outside of it: {name!r}")
        return Asset(os.path.join(self._folder, "assets", name))

    def _make_resource(self, number, node, described):
        saved = self._saved.get(number)
        key = next((key for key in saved.attributes.values() if key + KEYS in self._bundle
                    and key + VALUES in self._bundle), None) if saved else None
        if key is None:
            return Resource(None)
        return Resource(lambda: (self._bundle.read(key + KEYS), self._bundle.read(key + VALUES)))

    def _make_function(self, number, node, described):
        name = next((child.local_name for parent in self._nodes for child in parent.children
                     if child.node_id == number), "function")
        traces = [self._trace(one) for one in described.concrete_functions]
        return functions.RestoredFunction(name, traces, functions.parameters(described.function_spec, name))

    def _make_bare_concrete_function(self, number, node, described):
        return functions.RestoredConcreteFunction(self._trace(described.concrete_function_name),
                                                  described.argument_keywords,
                                                  described.allowed_positional_arguments)

    def _trace(self, name):
        found = self._traces.get(name)
        if found is None:
            described = self._concretes.get(name)
            if described is None:
                raise DataLossError(None, None, f"The program in {self._folder} names function '{name}', which it does "
                                    "not describe")
            found = self._traces[name] = functions.Trace(
                name, lambda: self._library.find(name, "saved_model.load"), described, self.value)
        return found

    # --- together

    def _join(self):
        """Give objects their parts."""
        for node, made in zip(self._nodes, self.made):
            if isinstance(made, (functions.RestoredFunction, functions.RestoredConcreteFunction, Variable)):
                continue
            parts = {child.local_name: self._part(child.node_id) for child in node.children}
            if isinstance(made, list):
                made.extend(parts[key] for key in sorted((key for key in parts if key.isdigit()), key=int))
            elif isinstance(made, dict):
                made.update(parts)
            else:
                vars(made).update(parts)
        for number, node in enumerate(self._nodes):
            if node.user_object.identifier == "trackable_tuple_wrapper":
                self._freeze(number)
        for trace in self._traces.values():
            read = [self._part(number) for number in trace.bound]
            trace.read = [value for value in read if isinstance(value, Variable)]

    def _part(self, number):
        self._node(number)
        return self.made[number]

    def _freeze(self, number):
        """Have whoever holds a list that was a tuple hold a tuple."""
        frozen = tuple(self.made[number])
        for node, made in zip(self._nodes, self.made):
            for child in node.children:
                if child.node_id != number or isinstance(made, (functions.RestoredFunction, Variable)):
                    continue
                if isinstance(made, list) and child.local_name.isdigit() and int(child.local_name) < len(made):
                    made[int(child.local_name)] = frozen
                elif isinstance(made, dict):
                    made[child.local_name] = frozen
                elif not isinstance(made, (list, tuple)):
                    vars(made)[child.local_name] = frozen
