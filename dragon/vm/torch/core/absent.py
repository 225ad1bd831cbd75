"""Modules of PyTorch that libraries import and Dragon cannot serve: importing works, each use raises by name.

Packages import such modules at their top, to ask `isinstance(x, DTensor)` where there can be none. The table has a
line per module; a `*` marks classes, of which there can be no instance, a `@` decorators, whose functions raise.
"""
import importlib.abc
import importlib.machinery
import sys

from dragon.vm.guest import lookup

ROOT = __name__.removesuffix("core.absent")  # "torch." where our modules carry the guest's names
TABLE = """
distributed.tensor.experimental context_parallel
distributed.tensor.experimental._attention set_rotate_method
distributed._composable replicate checkpoint contract
distributed.checkpoint QuantizedHuggingFaceStorageReader* load_sharded_optimizer_state_dict
distributed.checkpoint.optimizer load_sharded_optimizer_state_dict
distributed.optim DistributedOptimizer*
distributed.rpc init_rpc shutdown rpc_async rpc_sync remote get_worker_info RRef* TensorPipeRpcBackendOptions*
    BackendType*
distributed.rpc.api _all_gather _require_initialized@
distributed.rpc.functions async_execution@
distributed.autograd backward context get_gradients
distributed.utils _sync_module_states
distributed._symmetric_memory enable_symm_mem_for_group
fx.passes.splitter_base _SplitterBase* _SplitterSettingBase* FxNetAccNodesFinder* FxNetSplitterInternalError* Subgraph*
    SplitResult* generate_inputs_for_submodules
fx.passes.net_min_base _MinimizerBase* _MinimizerSettingBase* FxNetMinimizerBadModuleError*
    FxNetMinimizerResultMismatchError* FxNetMinimizerRunFuncError*
fx.passes.split_utils Component* getattr_recursive setattr_recursive split_by_tags move_non_tensor_nodes_on_boundary
fx.passes.fake_tensor_prop FakeTensorProp*
fx.passes.graph_manipulation replace_target_nodes_with size_bytes get_size_of_all_nodes get_tensor_meta get_size_of_node
fx.passes.graph_transform_observer GraphTransformObserver*
fx.passes.param_fetch lift_lowering_attrs_to_nodes extract_attrs_for_lowering default_matching
fx.passes.pass_manager PassManager* inplace_wrapper log_hook loop_pass this_before_that_pass_constraint
    these_before_those_pass_constraint
fx.passes.annotate_getitem_nodes annotate_getitem_nodes
fx.passes.reinplace reinplace
fx.experimental.graph_gradual_typechecker GraphTypeChecker* Refine*
fx.experimental.schema_type_annotation AnnotateTypesWithSchema*
fx.experimental.merge_matmul merge_matmul
fx.experimental.meta_tracer MetaTracer* symbolic_trace
fx.experimental.accelerator_partitioner Partitioner* DAG*
fx.experimental.unification unify reify Var* var
fx.experimental.symbolic_shapes ShapeEnv*
fx.experimental.proxy_tensor ProxyTorchDispatchMode* get_proxy_mode
package PackageExporter* PackageImporter*
mobile
ao.quantization HistogramObserver* FixedQParamsObserver* FixedQParamsFakeQuantize* quantize quantize_qat prepare
    prepare_qat fuse_modules fuse_modules_qat get_default_qconfig get_default_qat_qconfig
utils.mobile_optimizer optimize_for_mobile
utils.bundled_inputs augment_model_with_bundled_inputs bundle_inputs
utils.cpp_extension load load_inline CppExtension CUDAExtension SyclExtension BuildExtension* include_paths
    library_paths verify_ninja_availability is_ninja_available
utils.hipify
utils.hipify.hipify_python hipify
utils._sympy
utils._sympy.numbers IntInfinity*
onnx.symbolic_helper parse_args cast_pytorch_to_onnx
onnx.symbolic_opset9 masked_fill
onnx.symbolic_opset11 select unsqueeze squeeze
onnx.operators shape_as_tensor
sparse.semi_structured SparseSemiStructuredTensor* SparseSemiStructuredTensorCUTLASS*
    SparseSemiStructuredTensorCUSPARSELT*
"""


def read_table():
    """Return the names of each module."""
    modules, last = {}, None
    for line in TABLE.split("\n"):
        words = line.split()
        if line.startswith(" "):
            modules[last].extend(words)
        elif words:
            last = words[0]
            modules[last] = words[1:]
    return modules


MODULES = read_table()


def explain(module, name):
    """Return what using a name raises."""
    return NotImplementedError(f"torch.{module}.{name}: Dragon does not have it (yet); code that asks for it only to "
                               "compare classes runs, code that uses it cannot")


def make_class(module, name):
    """Return a class for `isinstance` and annotations, of which there can be no instance."""
    def __new__(cls, *args, **kwargs):
        raise explain(module, name)
    return type(name, (), {"__new__": __new__, "__module__": f"torch.{module}", "__slots__": (),
                           "__doc__": "Not in Dragon (yet): making one raises."})


def make_function(module, name):
    """Return a function that raises."""
    def use(*args, **kwargs):
        raise explain(module, name)
    use.__name__ = use.__qualname__ = name
    use.__module__ = f"torch.{module}"
    use.__doc__ = "Raise: Dragon does not have it (yet)."
    return use


def make_decorator(module, name):
    """Return a decorator of functions that raise."""
    def decorate(function):
        return make_function(module, name)
    return decorate


MAKERS = {"*": make_class, "@": make_decorator}


def fill(namespace, module, names=None):
    """Put stand-ins into a module, beside what it has: of the table's line for it unless they are named here."""
    for word in MODULES[module] if names is None else names:
        name = word.rstrip("*@")
        namespace.setdefault(name, MAKERS.get(word[-1], make_function)(module, name))


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Find the modules of the table, after all others."""

    def find_spec(self, fullname, path=None, target=None):
        """Return the spec of a module of the table."""
        if fullname.startswith(ROOT) and fullname[len(ROOT):] in MODULES:
            return importlib.machinery.ModuleSpec(fullname, self, is_package=True)
        return None

    def create_module(self, spec):
        """Return None: an ordinary module will do."""
        return None

    def exec_module(self, module):
        """Fill a module."""
        name = module.__name__[len(ROOT):]
        module.__doc__ = f"`torch.{name}`: what Dragon does not have (yet), by name."
        fill(vars(module), name)
        module.__getattr__, module.__dir__ = lookup(vars(module))


def install():
    """Have imports find the modules of the table."""
    if not any(type(finder).__name__ == "Finder" and type(finder).__module__ == __name__ for finder in sys.meta_path):
        sys.meta_path.append(Finder())
