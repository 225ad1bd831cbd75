"""`tf.saved_model.load`: a folder that TensorFlow wrote, as objects whose functions run here."""
import os

from dragon.vm.shared.errors import DataLossError
from dragon.vm.shared.letters import expect
from dragon.vm.tensorflow.core.checkpoint.bundle import Bundle
from dragon.vm.tensorflow.core.saved_model import messages, operators  # noqa: F401: operators fill the table
from dragon.vm.tensorflow.core.saved_model.body import Library
from dragon.vm.tensorflow.core.saved_model.objects import Objects, Signatures
from dragon.vm.tensorflow.core.saved_model.table import names

FILE, TEXT_FILE = "saved_model.pb", "saved_model.pbtxt"
VARIABLES = os.path.join("variables", "variables")


class LoadOptions:
    """How a program is read.

    Parameters
    ----------
    allow_partial_checkpoint : bool, optional, default=False
        Whether variables without numbers are passed over until somebody reads them.
    experimental_io_device : str, optional
        Must be None or a device of this machine: files are read here.
    experimental_skip_checkpoint : bool, optional, default=False
        Whether the variables' numbers are left alone.
    experimental_variable_policy : Any, optional
        Must be None.
    experimental_load_function_aliases : bool, optional, default=False
        Must be False.

    """

    def __init__(self, allow_partial_checkpoint=False, experimental_io_device=None,
                 experimental_skip_checkpoint=False, experimental_variable_policy=None,
                 experimental_load_function_aliases=False):
        for name, given in (("experimental_variable_policy", experimental_variable_policy),
                            ("experimental_load_function_aliases", experimental_load_function_aliases)):
            if given:
                raise NotImplementedError(f"LoadOptions: {name} is not supported. Received: {name}={given!r}")
        self.allow_partial_checkpoint = bool(allow_partial_checkpoint)
        self.experimental_io_device = experimental_io_device
        self.experimental_skip_checkpoint = bool(experimental_skip_checkpoint)


def contains_saved_model(export_dir):
    """Return whether a folder holds a program that TensorFlow wrote.

    Parameters
    ----------
    export_dir : str
        The folder.

    Returns
    -------
    bool
        Whether there is a file saved_model.pb or saved_model.pbtxt.

    """
    path = os.fspath(expect(export_dir, (str, bytes, os.PathLike), "contains_saved_model", "export_dir"))
    folder = os.fsdecode(path)
    return any(os.path.isfile(os.path.join(folder, name)) for name in (FILE, TEXT_FILE))


def _read_file(folder):
    path = os.path.join(folder, FILE)
    if not os.path.isfile(path):
        if os.path.isfile(os.path.join(folder, TEXT_FILE)):
            raise NotImplementedError(f"saved_model.load: {TEXT_FILE} is not read, {FILE} is. Received: {folder}")
        raise OSError(f"SavedModel file does not exist at: {folder}{os.path.sep}{{{TEXT_FILE}|{FILE}}}")
    with open(path, "rb") as file:
        return messages.read(messages.SavedModel, file.read(), path)


def _choose(model, tags, folder):
    """Return the program of a file that has these tags."""
    graphs = [messages.read(messages.MetaGraph, data, folder) for data in model.meta_graphs]
    if not graphs:
        raise DataLossError(None, None, f"No program in {folder}")
    if tags is None:
        if len(graphs) > 1:
            raise ValueError("Importing a SavedModel with `tf.saved_model.load` requires a `tags=` argument if there "
                             f"is more than one MetaGraph. Got `tags=None`, but there are {len(graphs)} MetaGraphs in "
                             f"the SavedModel with tag sets: {[list(one.meta_info_def.tags) for one in graphs]}.")
        return graphs[0]
    wanted = {tags} if isinstance(tags, str) else set(tags)
    for graph in graphs:
        if set(graph.meta_info_def.tags) == wanted:
            return graph
    raise RuntimeError(f"MetaGraphDef associated with tags {sorted(wanted)} could not be found in SavedModel, with "
                       f"available tags '{[list(one.meta_info_def.tags) for one in graphs]}'.")


class _Constants:
    """The nodes of the outermost graph by name, read when one is first asked for."""

    def __init__(self, data):
        self._data, self._found = data, None

    def __call__(self, name):
        if self._found is None:
            nodes = [messages.read(messages.NodeDef, one, "a node") for one in self._data]
            self._found = {node.name: node for node in nodes}
        if name not in self._found:
            raise DataLossError(None, None, f"The program has no node '{name}', which it needs")
        return self._found[name]


def load(export_dir, tags=None, options=None):
    """Read a program that TensorFlow wrote, or `tf.saved_model.save`.

    Parameters
    ----------
    export_dir : str
        The folder.
    tags : Union[str, Sequence[str]], optional
        Those of the program, where the folder has several.
    options : LoadOptions, optional
        How it is read.

    Returns
    -------
    Any
        The object that was saved: its variables, tables and functions are attributes, and `signatures` maps names
        to functions. Functions run on Dragon's operators; gradients flow through them.

    """
    folder = os.fsdecode(os.fspath(expect(export_dir, (str, bytes, os.PathLike), "saved_model.load", "export_dir")))
    options = LoadOptions() if options is None else expect(options, LoadOptions, "saved_model.load", "options")
    chosen = _choose(_read_file(folder), tags, folder)
    if not chosen.HasField("object_graph_def"):
        raise NotImplementedError("saved_model.load: programs of TensorFlow 1, which have no objects, are not read; "
                                  f"load and save it with TensorFlow 2 first. Received: {folder}")
    bundle, partial = None, options.allow_partial_checkpoint or options.experimental_skip_checkpoint
    if not options.experimental_skip_checkpoint and os.path.isfile(os.path.join(folder, f"{VARIABLES}.index")):
        bundle = Bundle(os.path.join(folder, VARIABLES))
    graph = chosen.graph_def
    objects = Objects(chosen.object_graph_def, Library(graph.library.function), folder, list(chosen.asset_file_def),
                      _Constants(list(graph.node)), bundle, partial)
    root = objects.made[0]
    if not isinstance(root, (list, dict)) and not hasattr(root, "signatures"):
        root.signatures = Signatures()
    if hasattr(root, "__dict__"):
        root.tensorflow_version = chosen.meta_info_def.tensorflow_version
    return root


def list_operators():
    """Return the names of TensorFlow's operators that programs may have.

    Returns
    -------
    List[str]
        Their names.

    """
    return sorted(names())
