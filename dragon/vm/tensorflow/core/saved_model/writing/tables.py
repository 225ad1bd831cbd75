"""Tables as objects of a file, which functions of the file make and fill."""
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import as_dtype
from dragon.vm.shared.tensors.type_spec import TensorSpec
from dragon.vm.shared.files.tensor_proto import make_proto
from dragon.vm.tensorflow.core.saved_model import messages
from dragon.vm.tensorflow.core.saved_model.writing.builder import Builder
from dragon.vm.tensorflow.core.saved_model.writing.encoding import encode, parameters


class TableWriter:
    """Adds a table to a folder in the making.

    Parameters
    ----------
    folder : Folder
        The folder.
    table : WrittenTable
        The table.
    name : str
        Its name, which no other has.

    """

    def __init__(self, folder, table, name):
        self.folder, self.table, self.name = folder, table, name

    def write(self, node, number):
        """Have an object of the file, which has a number, be the table."""
        node.resource.SetInParent()
        self._add(node, "_create_resource", self._create(), [], "resource")
        self._add(node, "_initialize", *self._fill(number), "int32")
        self._add(node, "_destroy_resource", self._done(Builder(f"__inference__destroyer_{self.name}")), [], "int32")

    def _add(self, node, name, builder, bound, dtype):
        """Add a function without arguments to the object."""
        self.folder.meta.graph_def.library.function.append(builder.definition.SerializeToString())
        concrete = messages.SavedConcrete(bound_inputs=bound)
        concrete.canonicalized_input_signature.MergeFrom(encode(((), {})))
        concrete.output_signature.MergeFrom(encode(TensorSpec([], dtype)))
        self.folder.meta.object_graph_def.concrete_functions.append(
            messages.Concretes(key=builder.name, value=concrete))
        made = messages.SavedObject()
        made.function.concrete_functions.append(builder.name)
        made.function.function_spec.MergeFrom(parameters([]))
        node.children.add(node_id=self.folder.add(made), local_name=name)

    def _create(self):
        b = Builder(f"__inference__creator_{self.name}")
        handle = b.named("HashTableV2", [], [("table_handle", "resource", 0)], container="", shared_name=self.name,
                         use_node_name_sharing=False, key_dtype=self.table.key_dtype,
                         value_dtype=self.table.value_dtype)[0]
        b.definition.signature.is_stateful = True
        b.result("output_0", b.unary("Identity", handle))
        return b

    def _fill(self, number):
        """Return the function that fills the table, and the objects that it reads."""
        b, bound = Builder(f"__inference__initializer_{self.name}"), [number]
        handle = b.argument("table", "resource")
        source = self.table.source
        if source is not None:
            bound.append(self.folder.add_asset(source.path))
            b.effect("InitializeTableFromTextFileV2", [handle, b.argument("filename", "string", 0)],
                     key_index=source.columns[0], value_index=source.columns[1], delimiter=source.delimiter.decode(),
                     vocab_size=-1 if source.vocab_size is None else source.vocab_size, offset=source.offset)
        else:
            ends = [_constant(b, items, dtype) for items, dtype in ((self.table.keys, self.table.key_dtype),
                                                                    (self.table.values, self.table.value_dtype))]
            b.effect("LookupTableImportV2", [handle, *ends], Tin=self.table.key_dtype, Tout=self.table.value_dtype)
        return self._done(b), bound

    @staticmethod
    def _done(b):
        b.result("output_0", b.unary("Identity", b.constant(1, "int32")))
        return b


def _constant(b, items, dtype):
    """Return a list as a vector, of strings or numbers."""
    dtype = as_dtype(dtype)
    if dtype.name == "string":
        import numpy as np
        array = np.empty(len(items), object)
        array[:] = items
        return b.node("Const", [], dtype, 1, value=make_proto(convert_to_tensor(array, dtype)), dtype=dtype)
    return b.constant(items, dtype)
