"""Write the public names of genuine PyTorch into `docs/torch/names.txt`: what the coverage page is measured against."""
import importlib
import inspect
import pathlib
import types

MODULES = """
torch torch.Tensor torch.nn torch.nn.functional torch.nn.init torch.nn.utils torch.nn.utils.rnn
torch.nn.utils.parametrize torch.nn.utils.parametrizations torch.nn.utils.prune torch.nn.parallel torch.autograd
torch.autograd.functional torch.autograd.graph torch.autograd.forward_ad torch.func torch.optim
torch.optim.lr_scheduler torch.optim.swa_utils torch.utils.data torch.utils.checkpoint torch.utils.dlpack
torch.utils.benchmark torch.linalg torch.fft torch.special torch.signal.windows torch.amp
torch.random torch.distributions torch.distributions.transforms torch.distributions.constraints torch.testing
torch.multiprocessing torch.jit torch.onnx torch.profiler torch.compiler torch.overrides torch.hub torch.backends
torch.cuda torch.cpu torch.distributed torch.fx torch.library torch.sparse torch.nested torch.export torch.serialization
torch.types torch.futures torch.return_types
""".split()


# Of what PyTorch's own C++ module pours into `torch`, users meet these; the others are parts of its compiler.
MET = {"Generator", "Size", "device", "dtype", "layout", "memory_format", "qscheme", "finfo", "iinfo", "Stream",
       "Event", "Tensor", "OutOfMemoryError", "DisableTorchFunctionSubclass", "Future"}


def public_names(holder):
    """Yield the names that a module or class shows: those it lists, else what is neither private nor imported."""
    listed = getattr(holder, "__all__", None)
    for name in sorted(set(listed or dir(holder))):
        value = getattr(holder, name, None)
        if name.startswith("_") or isinstance(value, types.ModuleType):
            continue
        poured = holder.__name__ == "torch" and value is getattr(holder._C, name, None)
        if poured and (inspect.isclass(value) or name.isupper()) and name not in MET:
            continue
        own = inspect.isclass(value) or inspect.isfunction(value)
        home = inspect.getmodule(value) if listed is None and own else None
        if home is None or home.__name__.startswith("torch"):
            yield name


def main():
    """Write the list."""
    import torch
    lines = []
    for path in MODULES:
        holder = torch.Tensor if path == "torch.Tensor" else importlib.import_module(path)
        lines += [f"{path}.{name}" for name in public_names(holder)]
    target = pathlib.Path(__file__).parents[1] / "docs" / "torch" / "names.txt"
    target.write_text("\n".join(dict.fromkeys(lines)) + "\n", encoding="utf-8")
    print(f"{len(lines)} names of PyTorch {torch.__version__}")


if __name__ == "__main__":
    main()
