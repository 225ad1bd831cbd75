"""Functions of random operators of the torch face under `torch.compile`, beside the same calls made eagerly.

    python tests/fuzz/compiled.py 0 2000 [--samples FILE] [--only PATTERN] [--report FILE]

An operator comes from the right calls of PyTorch's own tests (`samples.py`), amid up to seven small ones: pointwise,
views, writes. Dtypes, the layout of arguments, gradient modes and who asks for gradients vary; results, gradients and
arguments that were written must be those of eager calls, four times each.
"""
import argparse
import collections
import json
import pathlib
import pickle
import random
import re
import signal
import subprocess
import sys
import tempfile
import warnings

import numpy

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import pairs  # noqa: E402  (stands beside this file)

CALLS, SECONDS = 4, 20
SAME = ("ran", "refused", "stayed eager")  # what is no difference
DTYPES = ("float32", "float32", "float64", "float16", "bfloat16")
# What graphs may round otherwise: pointwise chains keep more digits than their dtype has between two steps.
WITHIN = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 1e-5, "complex64": 1e-5}
DRAWN = re.compile(r"(?i)rand|normal|dropout|bernoulli|multinomial|poisson|exponential|geometric|cauchy|uniform|rrelu|"
                   r"empty|gamma|binomial|resize|fractional|lowrank|nondeterministic|lobpcg")
BEFORE = ("x * {c}", "x + {c}", "x.clone()", "x.abs() + 0.5", "torch.tanh(x) + x", "x[...]",
          "x.transpose(0, -1).transpose(0, -1)", "x.reshape(-1).view(x.shape)", "x.contiguous()", "-x",
          "x.unsqueeze(0).squeeze(0)",
          "x.expand(x.shape)", "x.flip(0).flip(0)", "x.double().to(x.dtype)")
AFTER = ("r * {c}", "r + {c}", "r.relu()", "r.sum()", "r.sum(-1)", "r.reshape(-1)", "r.transpose(0, -1)", "r[..., :1]",
         "torch.sigmoid(r)", "r.float()", "r.half()", "r.clone().add_({c})", "r.mul_({c})", "r.mean()", "r.detach()",
         "torch.cat([r, r], -1)", "r.amax(-1)", "r.softmax(-1)", "r.abs().sqrt()", "r > {c}", "r.unsqueeze(0)",
         "r.cumsum(-1)", "r.square().mean(-1, keepdim=True)", "r.flatten()[::2]", "r.masked_fill(r > {c}, {c})",
         "r - r.mean()", "torch.where(r > 0, r, {c} * r)", "r.exp().clamp(max=4.0)", "r.bfloat16()", "r.clamp(-1, 1)")


def tolerance(name):
    """Return the relative difference that is rounding."""
    return WITHIN.get(name, 1e-11)


class Composed:
    """A function of tensors: an operator amid small ones.

    Parameters
    ----------
    seed : int
        Which one.
    calls : dict
        {name: [(args, kwargs)]} of right calls, in plain values.
    torch : module
        Whose functions are called.

    """

    def __init__(self, seed, calls, torch):
        self.torch, self.pick = torch, random.Random(seed)
        pick = self.pick
        self.name = pick.choice(sorted(calls))
        self.args, self.kwargs = pick.choice(calls[self.name])[:2]
        self.dtype = pick.choice(DTYPES)
        self.layout = pick.choice(("plain", "plain", "turned", "gaps"))
        self.mode = pick.choice(("outside", "outside", "inside", "none", "no_grad", "inference"))
        self.mask = pick.getrandbits(8)
        constant = str(pick.choice((0.5, -1.5, 2.0, 1.0)))
        self.before = [pick.choice(BEFORE).replace("{c}", constant) for _ in range(pick.choice((0, 0, 1, 2)))]
        self.after = [pick.choice(AFTER).replace("{c}", constant) for _ in range(pick.choice((0, 1, 2, 3, 5)))]
        self.function = eval(self.name, {"torch": torch})
        self.changes, self.ends = ([eval(f"lambda {name}: {text}", {"torch": torch}) for text in texts]
                                   for name, texts in (("x", self.before), ("r", self.after)))

    def __str__(self):
        return (f"{self.name} {self.dtype} {self.layout} {self.mode} before={self.before} after={self.after} "
                f"args={self._told(self.args)} kwargs={self._told(self.kwargs)}")

    def _told(self, value):
        if isinstance(value, list) and value[:1] == ["tensor"]:
            return f"<{value[1].dtype} {value[1].shape}>"
        if isinstance(value, dict):
            return {key: self._told(one) for key, one in value.items()}
        return [self._told(item) for item in value] if isinstance(value, list) else value

    def tensors(self, call):
        """Return fresh tensors for one call."""
        found = []
        self._visit([self.args, self.kwargs], lambda value: found.append(self._make(value, call, len(found))))
        return found

    def _visit(self, value, see):
        """Return arguments with each plain tensor replaced by what a function makes of it."""
        if isinstance(value, dict):
            return {key: self._visit(one, see) for key, one in value.items()}
        if not isinstance(value, list):
            return value
        if value[:1] == ["tensor"]:
            return see(value)
        if value[:1] == ["dtype"]:
            return getattr(self.torch, value[1])
        return [self._visit(item, see) for item in (value[1:] if value[:1] == ["list"] else value)]

    def _make(self, value, call, place):
        torch, array = self.torch, numpy.array(value[1])
        if array.dtype.kind == "f" and call % 2:
            array = (array * 0.875).astype(array.dtype)
        tensor = torch.from_numpy(array)
        if tensor.is_floating_point() and self.dtype != "float32":
            tensor = tensor.to(getattr(torch, self.dtype))
        if self.layout == "turned" and tensor.dim() > 1:
            tensor = tensor.transpose(0, -1).contiguous().transpose(0, -1)
        elif self.layout == "gaps" and tensor.dim():
            tensor = torch.stack([tensor, tensor], -1)[..., 0]
        floating = tensor.is_floating_point() or tensor.is_complex()
        return tensor.requires_grad_(floating and self.mode in ("outside", "inside") and value[2] and
                                     not self.mask >> place & 1)

    def __call__(self, *tensors):
        torch, queue = self.torch, iter(tensors)

        def one(value):
            x = next(queue)
            for change in self.changes if x.is_floating_point() and x.dim() else ():
                x = change(x)
            return x
        args, kwargs = self._visit([self.args, self.kwargs], one)
        if self.mode == "no_grad":
            with torch.no_grad():
                found = self.function(*args, **kwargs)
        else:
            found = self.function(*args, **kwargs)
        leaves = [leaf for leaf in flat(found) if isinstance(leaf, torch.Tensor)]
        for end in self.ends:
            leaves = [end(r) if r.is_floating_point() and r.dim() else r for r in leaves]
        if self.mode == "inside":
            leaves += self.gradients(leaves, tensors)
        return leaves

    def gradients(self, results, tensors):
        """Return the gradients of what results are, weighed; zeros where there are none."""
        torch = self.torch
        losing = [r for r in results if r.requires_grad and not r.is_complex()]
        learning = [x for x in tensors if x.requires_grad]
        if not losing or not learning:
            return []
        total = sum((r.double() * torch.arange(1, r.numel() + 1).reshape(r.shape).cos()).sum() for r in losing)
        return [grad for grad in torch.autograd.grad(total, learning, allow_unused=True) if grad is not None]


def flat(value):
    """Return the leaves of nested results."""
    return [leaf for item in value for leaf in flat(item)] if isinstance(value, (list, tuple)) else [value]


def shown(torch, tensors):
    """Return tensors as pairs.py compares them."""
    found = []
    for tensor in tensors:
        name, plain = str(tensor.dtype).rpartition(".")[2], tensor.detach()
        plain = plain.resolve_conj().resolve_neg()
        plain = plain.float() if name in ("bfloat16", "float16") else plain
        array = numpy.array(plain.numpy()) if plain.layout == torch.strided and not plain.is_quantized else None
        found.append(("tensor", name, array, tuple(tensor.shape)))
    return found


def outcome(program, function, call):
    """Return what one call gives: ("results", leaves) or ("error", class, words)."""
    torch, tensors = program.torch, program.tensors(call)
    torch.manual_seed(call)
    try:
        if program.mode == "inference":
            with torch.inference_mode():
                results = function(*tensors)
        else:
            results = function(*tensors)
        grads = program.gradients(results, tensors) if program.mode == "outside" else []
        return "results", shown(torch, [*results, *grads, *tensors])
    except Exception as error:
        return "error", type(error).__name__, str(error)[:300]


def differs(program):
    """Return what differs between compiled calls and eager ones, or None, or how there was nothing to compare."""
    compiled = program.torch.compile(program.__call__)
    refused = 0
    for call in range(CALLS):
        wanted, got = outcome(program, program, call), outcome(program, compiled, call)
        if wanted[0] == "error":
            refused += 1
            if got[0] != "error":
                return f"call {call}: runs, eager {wanted[1]}: {wanted[2]}"
            continue
        if got[0] == "error":
            return f"call {call}: {got[1]}: {got[2]}"
        if len(got[1]) != len(wanted[1]):
            return f"call {call}: {len(got[1])} tensors, eager {len(wanted[1])}"
        for place, (one, other) in enumerate(zip(wanted[1], got[1])):
            words = pairs.leaf_differs(one, other, False, tolerance, 1.0)
            if words:
                return f"call {call}: tensor {place} of {len(wanted[1])}: {words}"
    return "refused" if refused == CALLS else None if compiled.graphs else "stayed eager"


def load(path, only=""):
    """Return the right calls of PyTorch's functions, but for those that draw."""
    calls = pickle.loads(pathlib.Path(path).read_bytes())
    from dragon.vm import torch
    found = {}
    for name, rows in calls.items():
        name = name if name.startswith("torch.") else f"torch.{name}"
        try:
            eval(name, {"torch": torch})
        except AttributeError:
            continue
        if rows and re.search(only, name) and not DRAWN.search(name):
            found[name] = rows
    return found


def make_samples():
    """Return the path of a file of right calls, made where there is none."""
    path = pathlib.Path(tempfile.gettempdir()) / "samples.pickle"
    if not path.exists():
        subprocess.run([sys.executable, str(pathlib.Path(__file__).resolve().with_name("samples.py")), str(path)],
                       check=True, cwd=path.parent)
    return path


def walk(seeds, calls):
    """Yield (seed, what differs or one of SAME, the program)."""
    from dragon.vm import torch
    warnings.simplefilter("ignore")
    for seed in seeds:
        program = Composed(seed, calls, torch)
        signal.alarm(SECONDS)
        found = differs(program)
        signal.alarm(0)
        yield seed, found or "ran", program


def main():
    """Hunt among a range of seeds; return 1 if anything was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--samples")
    parser.add_argument("--only", default="")
    parser.add_argument("--report")
    options = parser.parse_args()
    calls, counts = load(options.samples or make_samples(), options.only), collections.Counter()
    for seed, found, program in walk(range(options.first, options.first + options.count), calls):
        counts[found if found in SAME else "differs"] += 1
        if found not in SAME:
            print(f"seed {seed} {found}\n    {program}", flush=True)
            if options.report:
                with open(options.report, "a", encoding="utf-8") as file:
                    file.write(json.dumps([seed, found, str(program)]) + "\n")
    print(dict(counts))
    return bool(counts["differs"])


if __name__ == "__main__":
    sys.exit(main())
