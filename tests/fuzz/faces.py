"""Every public callable of a face, and which are left out of a hunt, each with its reason."""
import importlib
import inspect
import pathlib
import pkgutil
import re
import types

import kits

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
# Per face: the module that stands behind it, the guest's name for it, and what makes its tensors.
FACES = {
    "native": ("dragon", "dragon", kits.Native, "dragon"),
    "torch": ("dragon.vm.torch", "torch", kits.Torch, "dragon.vm.torch"),
    "torchvision": ("dragon.vm.torchvision", "torchvision", kits.Torch, "dragon.vm.torch"),
    "tensorflow": ("dragon.vm.tensorflow", "tensorflow", kits.Tensorflow, "dragon.vm.tensorflow"),
    "keras": ("dragon.vm.keras", "keras", kits.Tensorflow, "dragon.vm.tensorflow"),
}
# Patterns of whole names, and why a hunt does not call them.
LEFT_OUT = {
    r"dragon\.(vm|command|core|onnx)\b.*": "other faces, the command line, and the workshop behind the face",
    r"dragon\.(tensor\.(?!Tensor)|tape\.as_|random\.on_|creation\.|io\.(block|parcel|pool|failure)).*": "the workshop",
    r"dragon\.io\.(\w+\.)?(Failure|WorkerPool)\b.*": "starts processes, and what they send home",
    r"(keras|tensorflow)\.(core|trainers|ops\.common|saving\.(files|legacy_h5))\b.*": "the workshop",
    r"torch\.(core|_|onnx|version|torch_version|testing|backends)\b.*": "the workshop, or switches of the process",
    r"torch\.(hub|multiprocessing|distributed)\b.*": "downloads, or starts processes",
    r"torch\.utils\.(cpp_extension|collect_env|bottleneck|tensorboard|model_zoo)\b.*": "starts compilers, downloads",
    r"torch\.(library|package|profiler|monitor|overrides|autograd\.profiler)\b.*": "registers things for the process",
    r"torch\.(cuda|mps|xpu|mtia|accelerator)\b.*": "devices that this machine may lack",
    r"torch\.(set_|use_|enable_|autograd\.(set_|graph\.set_)|cpu\.set_)\w+": "switches of the process",
    r"torch\.random\.(set_rng_state|fork_rng)": "switches of the process",
    r"torch\.(serialization|utils\.serialization)\.(add|clear|set|get|register|location)\w*": "switches of the process",
    r"torch\.nn\.modules\.module\.register_\w+": "hooks for every module of the process",
    r"torch\.optim\.\w+\.(options|run|has|start)": "the workshop",
    r"torch\.(seed|initial_seed|futures\..*|jit\.(enable|set|last|optimized|fuser).*)": "switches of the process",
    r"torch\.(from_file|autograd\.(detect_anomaly|set_detect_anomaly))": "maps files of the process, or switches it",
    r"(torch\.)?\w*\.?(Storage|UntypedStorage|TypedStorage)\.from_(buffer|file)": "memory that the caller vouches for",
    r".*\.(data_ptr|from_dlpack|__dlpack__|__del__|share_memory_?|pin_memory)": "memory that the caller vouches for",
    r"torchvision\.(datasets|models|io)\b.*": "downloads, or takes minutes per call",
    r"torchvision\.(ops\.(\w+_loss\.(reduced|enclosing)|deform_conv\.pair|poolers\.convert_\w+)|"
    r"transforms\.(autoaugment\.(apply_op|below|space_of)|functional\.through_\w+|transforms\.(Module|uniform))|"
    r"utils\.(pil_to_tensor|save_picture|to_pil_image))": "the workshop",
    r"(dragon|tensorflow)\.(set_|load_library|function\b|Graph\.load).*": "switches of the process, or code of it",
    r"tensorflow\.keras\b.*": "the face `keras`",
    r"tensorflow\.(config|test|distribute|debugging|summary|profiler|experimental|io|compat|saved_model)\b.*":
        "switches of the process, files and servers",
    r"keras\.(config|datasets|applications|utils\.get_file|backend\.set_.*|distribution|wrappers)\b.*":
        "switches of the process, downloads",
    r"keras\..*\.(fit|evaluate|predict)": "takes seconds per call",
}
PATTERN = re.compile("|".join(f"(?:{pattern})" for pattern in LEFT_OUT))
DUNDERS = frozenset(f"__{name}__" for name in """call len getitem setitem delitem iter contains repr eq ne
    lt gt add radd sub rsub mul rmul truediv rtruediv floordiv mod pow rpow matmul and or xor lshift rshift iadd
    isub imul itruediv neg abs invert bool int float complex index format copy deepcopy reduce_ex enter exit
    array array_wrap setstate getstate hash reversed round bytes""".split())


class Target:
    """One callable: a function, a class whose instances are used as well, or a property that is set."""

    def __init__(self, name, found, kind):
        self.name, self.found, self.kind = name, found, kind

    def methods(self):
        """Return the names of what instances of a class can do."""
        return sorted(name for name in dir(self.found)
                      if (name in DUNDERS or not name.startswith("_")) and not PATTERN.fullmatch(f"{self.name}.{name}")
                      and callable(inspect.getattr_static(self.found, name, None)))


def public_names(face):
    """Yield the public names of a face: of a guest those its coverage is counted by, of others those without a `_`."""
    path, guest, _, _ = FACES[face]
    listed = DOCS / guest / "names.txt"
    if listed.exists():
        yield from sorted(listed.read_text(encoding="utf-8").split(), key=lambda name: (name.count("."), name))
        return
    top = importlib.import_module(path)
    modules = [path] + [entry.name for entry in pkgutil.walk_packages(top.__path__, path + ".", lambda name: None)]
    for module in sorted(modules, key=lambda name: (name.count("."), name)):
        name = guest + module[len(path):]
        if not any(part.startswith("_") for part in name.split(".")) and not PATTERN.fullmatch(name):
            for attribute in sorted(vars(importlib.import_module(module))):
                yield f"{name}.{attribute}"


def belongs(value):
    """Return whether something is Dragon's own, not a module's import of something else."""
    return (type(value).__module__.startswith("dragon")
            or (getattr(value, "__module__", None) or "").startswith(("dragon", "torch", "tensorflow", "keras")))


def targets(face):
    """Return ({name: Target}, {other name: name}) of a face, each object once, by its shortest name."""
    path, _, _, _ = FACES[face]
    top = importlib.import_module(path)
    found, seen, aliases = {}, {}, {}
    for name in public_names(face):
        last, value = name.rpartition(".")[2], resolve(top, name)
        if last.startswith("_") or PATTERN.fullmatch(name) or not callable(value) or not belongs(value):
            continue
        if id(value) in seen:
            aliases[name] = seen[id(value)]
            continue
        seen[id(value)] = name
        if isinstance(value, type) and issubclass(value, BaseException):
            continue
        found[name] = Target(name, value, "class" if isinstance(value, type) else "function")
        if last in ("Tensor", "Variable") and isinstance(value, type):
            found.update(members(name, value))
            seen.update({id(target.found): target.name for target in found.values()})
    return found, aliases


def members(name, cls):
    """Return {name: Target} of a class of tensors: methods as functions, properties as setters."""
    found = {}
    for attribute in dir(cls):
        value = inspect.getattr_static(cls, attribute)
        whole = f"{name}.{attribute}"
        if attribute.startswith("_") and attribute not in DUNDERS or PATTERN.fullmatch(whole):
            continue
        if callable(getattr(cls, attribute, None)):
            found[whole] = Target(whole, getattr(cls, attribute), "function")
        elif hasattr(type(value), "__set__"):
            found[whole] = Target(whole, attribute, "property")
    return found


def resolve(module, name):
    """Return what a dotted name means in another module of the guest, as the genuine one; None if it is not there."""
    found = module
    for part in name.split(".")[1:]:
        inside = isinstance(found, types.ModuleType) and found.__name__.startswith(module.__name__)
        if inside and not hasattr(found, part):
            try:
                importlib.import_module(f"{found.__name__}.{part}")
            except ImportError:  # is not there, or asks for an optional package
                return None
        found = getattr(found, part, None)
        if found is None:
            return None
    return found
