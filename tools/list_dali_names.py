"""Write the public names of genuine DALI into `docs/dali/names.txt`: what the coverage page is measured against.

Run it where DALI is installed, and PyTorch, TensorFlow and JAX beside it: plugins of what is not there are left out.
"""
import importlib
import inspect
import pathlib
import sys
import types

ROOMS = "readers decoders random noise transforms reductions segmentation experimental io.file".split()
MODULES = ["", "fn", *(f"fn.{room}" for room in ROOMS), "ops", *(f"ops.{room}" for room in ROOMS), *"""
types math pipeline tfrecord plugin_manager plugin.base_iterator plugin.pytorch plugin.pytorch.fn plugin.tf plugin.jax
plugin.jax.fn plugin.numba.fn.experimental plugin.triton auto_aug.augmentations auto_aug.core auto_aug.auto_augment
auto_aug.rand_augment auto_aug.trivial_augment experimental.dynamic
""".split(), *(f"experimental.dynamic.{room}" for room in ROOMS[:7])]
WHOLE = "nvidia.dali"


def is_public(holder, name):
    """Return whether a name is DALI's own, and meant to be found: no module, and nothing of its workshop."""
    value = getattr(holder, name, None)
    if name.startswith("_") or isinstance(value, types.ModuleType) or value is None:
        return False
    home = value.__module__ if inspect.isclass(value) or inspect.isroutine(value) else type(value).__module__
    return bool(home) and home.startswith(WHOLE) and "._utils" not in home and name not in ("hidden", "pipeline_tls")


def main():
    """Write the list."""
    lines = []
    for path in MODULES:
        place = f"{WHOLE}.{path}" if path else WHOLE
        try:
            holder = importlib.import_module(place)
        except ImportError as error:
            print(f"left out {place}: {error}", file=sys.stderr)
            continue
        lines += [f"dali.{path}.{name}" if path else f"dali.{name}" for name in sorted(dir(holder))
                  if is_public(holder, name)]
    target = pathlib.Path(__file__).parents[1] / "docs" / "dali" / "names.txt"
    target.parent.mkdir(exist_ok=True)
    target.write_text("\n".join(dict.fromkeys(lines)) + "\n", encoding="utf-8")
    print(f"{len(lines)} names of DALI {sys.modules[WHOLE].__version__}")


if __name__ == "__main__":
    main()
