"""Random programs as ONNX models whose axes are all dynamic: exported at one choice of sizes, run at others."""
import random
import re
import warnings

import numpy
import onnxruntime

from dragon import onnx
from harness.size_programs import SizeProgram, difference, numbers, outcome

FAR = (2, 3, 5, 8, 9, 13, 16, 20, 24, 31, 33, 40, 47, 64)  # sizes of the calls after the first few
RANGE = re.compile(r"(\w+): (\d+)(?: to (\d+)| (and more))?(?:, multiples of (\d+)(?: and (\d+))?)?")
MODES = ('"nearest"', '"bilinear"', '"bilinear", align_corners=True', '"bicubic"', '"nearest-exact"')
RAN, LEFT_OUT, OUTSIDE = "ran", "left out", "outside"


def choose(predicate, one, other, operands):
    """Return what a branch returns."""
    return one(*operands) if predicate else other(*operands)


class ExportedProgram(SizeProgram):
    """A function of the operators that models are made of, beside those of a `SizeProgram`."""

    def _space(self, torch):
        """Return the names that lines use: Dragon's operators of control, or what Python makes of them."""
        own = torch is self.torch
        return {"torch": torch, "F": torch.nn.functional, "cond": torch.cond if own else choose}

    def shapes(self, call):
        """Return the shapes of the arguments of one call: near the first ones, then far beyond."""
        if call < 3:
            return super().shapes(call)
        chance = random.Random(f"{self.seed} far {call}")
        shapes = [tuple(chance.choice(FAR) for _ in range(rank)) for rank in self.ranks]
        return shapes if call % 2 else self._alike(shapes)

    def _alike(self, shapes):
        """Return shapes whose sizes are the same where those of the first call are."""
        chosen = {}
        return [tuple(chosen.setdefault(old, new) for old, new in zip(first, shape))
                for first, shape in zip(super().shapes(0), shapes)]

    def _line(self):
        pick, name = self._random, self._random.choice(self.names)
        if pick.random() < 0.4:
            return super()._line()
        rank, axis, size = self.values[name].ndim, pick.randint(-2, 1), self._size(name)
        count = f"{name}.new_ones({name}.shape).cumsum({axis}).long().sub(1).flip({axis})"
        other, few = pick.choice(self.names), pick.randint(1, 3)
        end = f"{pick.randint(0, 3)}, {pick.randint(0, 3)}"
        plane = f"{name}.reshape(1, 1, {name}.shape[0], -1)"
        line = f"{name}.reshape(1, 1, -1)[..., :200]"
        mode = pick.choice(MODES)
        axes, rows = "abcd"[:rank], f"torch.arange({name}.shape[0])"
        return "y = " + pick.choice((
            f"{name}[..., :{name}.shape[-1] // 2]", f"{name}[..., {name}.shape[-1] // 2:]", f"{name}[-{few}:]",
            f"{name}[:, -{few}:]", f"{name}[:-{few}]", f"{name}[..., {size}:-{few}]", f"{name}[::{few + 1}]",
            f"{name}.masked_fill({name}.abs() > 0.5, {size})", f"{name} * ({name} > {name}.mean())",
            f"{name}.masked_fill(torch.ones({name}.shape[-1], dtype=torch.bool).cumsum(0) > {size}, -1.0)",
            f"F.pad({name}, ({end}), value=0.5)", f"F.pad({plane}, ({end}, {end}), mode='reflect')[0, 0]",
            f"F.pad({plane}, ({end}, {end}), mode='replicate')[0, 0]", f"F.pad({line}, ({end}), mode='circular')[0]",
            f"F.pad({name}, (0, -{name}.shape[-1] % {few + 1}))",
            f"torch.cat([{name}, {name}[..., -{few}:]], -1)", f"torch.cat([{name}, {other}.reshape(-1)], 0)",
            f"F.max_pool2d({plane}, 2, {few})[0, 0]", f"F.avg_pool2d({plane}, 3, 2, 1)[0, 0]",
            f"F.avg_pool2d({plane}, 2, 2, ceil_mode=True)[0, 0]", f"F.max_pool1d({line}, 3, {few}, 1)[0, 0]",
            f"F.adaptive_avg_pool2d({plane}, (1, None))[0, 0]", f"F.adaptive_avg_pool1d({line}, 1)[0]",
            f"F.interpolate({plane}, scale_factor=2, mode={mode})[0, 0]",
            f"F.interpolate({plane}, size=({size}, {pick.randint(2, 6)}), mode={mode})[0, 0]",
            f"F.interpolate({plane}, size={other}.shape[-2:], mode={mode})[0, 0]",
            f"F.interpolate({line}, size={size}, mode='linear')[0, 0]",
            f"{name}.gather({axis}, {name}.argsort({axis}))", f"{name}.topk({few}, {axis}).values",
            f"{name}.topk({size}, {axis}).values", f"{name}.sort({axis}, descending=True).values",
            f"{name}.kthvalue({few}, {axis}).values", f"{name}[torch.arange({name}.shape[0] - 1, -1, -1)]",
            f"{name}[torch.arange({size})]", f"{name}.take_along_dim({name}.argmax({axis}, keepdim=True), {axis})",
            f"torch.zeros_like({name}).scatter({axis}, {count}, {name})",
            f"torch.zeros({name}.shape[0], 2).index_add(0, {rows}, {name}.reshape({name}.shape[0], -1)[:, :2])",
            f"{name}.index_select({axis}, torch.arange({size}))",
            f"torch.einsum('{axes},{axes}->{axes[:few]}', {name}, {name})",
            f"torch.einsum('ij,kj->ik', {name}, {other})",
            f"torch.einsum('i,j->ij', {name}.flatten()[:9], {other}.flatten()[:{size}])",
            f"{name}.cumsum({axis})", f"{name}.clamp(-1, 1).cumprod({axis})",
            f"{name}.flip({axis}).cumsum({axis}).flip({axis})", f"{name}.unfold({axis}, 2, {few})",
            f"F.unfold({plane}, 2)[0]", f"F.pixel_shuffle({name}.reshape(1, 4, 1, -1), 2)[0, 0]",
            f"{name}.reshape({name}.shape[0], -1, 2)", f"{name}.unflatten(-1, (-1, 2))", f"{name}.flatten(0, 1)",
            f"{name}.transpose(0, -1).reshape(-1, {name}.shape[0])", f"F.layer_norm({name}, {name}.shape[-1:])",
            f"{name}.var({axis})", f"{name}.std({axis}, keepdim=True)", f"{name}.amax({axis})",
            f"{name}.logsumexp({axis})",
            f"F.scaled_dot_product_attention({name}[None], {name}[None], {name}[None], is_causal=True, scale=0.5)[0]",
            f"torch.tril(torch.ones({name}.shape[-1], {name}.shape[-1])) @ {name}.reshape({name}.shape[-1], -1)",
            f"torch.triu({name}, {pick.randint(-2, 2)})", f"torch.linspace(0, 1, {size}) * {name}.max()",
            f"{name} + torch.arange({name}.shape[-1]) / {name}.shape[-1]",
            f"torch.full(({size}, 2), 0.5) * {name}.sum()", f"{name}.repeat_interleave({few}, {axis})",
            f"torch.where({name} > 0, {name}, {other}[..., :1].mean())",
            f"torch.bucketize({name}, torch.tensor([-0.5, 0.5])) * 0.5", f"F.one_hot({rows} % 3, 3) * {name}.sum()",
            f"torch.meshgrid(torch.arange({size}) * 1.0, {name}.flatten()[:4], indexing='ij')[0]",
            f"{name}.movedim(0, -1)", f"{name}.tile(2)", f"torch.stack({name}.unbind(-1)[:{few}])",
            f"F.conv1d({line}, torch.ones(1, 1, 3), stride={few}, padding=1)[0]",
            f"F.conv_transpose1d({line}, torch.ones(1, 1, 3), stride={few})[0]",
            f"F.normalize({name}, dim={axis})", f"{name}.tensor_split({few})[0]", f"{name}.chunk({few}, -1)[-1]",
            f"{name}.new_zeros({name}.shape).index_copy(0, {rows}, {name})", f"{name} / {size} ** 0.5",
            f"cond({name}.sum() > 0, lambda x: x[:{size}] * 2, lambda x: x[:{size}] - 1, ({name},))"))


def holds(model, sizes):
    """Return whether a model says that it holds for sizes; None where it says so with sizes that nobody has here."""
    told = "; ".join(item.value for item in model.metadata_props)
    for part in filter(None, told.split("; ")):
        found = RANGE.fullmatch(part)
        if found is None:
            if not part.startswith("where ") or "size " in part:
                return None
            if not eval(part.removeprefix("where "), {"min": min, "max": max}, sizes):
                return False
            continue
        name, low, high, more, step, rest = found.groups()
        size, low = sizes[name], int(low)
        if size < low or not more and size > int(high or low) or step and (size - int(rest or 0)) % int(step):
            return False
    return True


def axes_of(shapes):
    """Return a name for each axis of each argument."""
    return {f"x{place}": {axis: f"s{place}_{axis}" for axis in range(len(shape))} for place, shape in enumerate(shapes)}


def run(session, shapes):
    """Return what a model makes of numbers of these shapes, or an error."""
    feeds = {f"x{number}": numbers(shape, number) for number, shape in enumerate(shapes)}
    names = {item.name for item in session.get_inputs()}
    try:
        return session.run(None, {name: array for name, array in feeds.items() if name in names})
    except Exception as error:  # ONNX Runtime has classes of its own
        return f"an error: {error}"


def check_exported(program, torch, genuine, calls):
    """Return what differs between a program and its model.

    Parameters
    ----------
    program : ExportedProgram
        What is exported, at the sizes of its first call.
    torch : module
        Dragon's face of PyTorch.
    genuine : module
        Whose results count.
    calls : int
        At how many shapes, each of which the model may say that it does not hold for.

    Returns
    -------
    Tuple[Optional[str], str, List[str]]
        The first difference, with the shapes; why there is no model; and what became of each call.

    """
    examples = tuple(torch.from_numpy(numbers(shape, number)) for number, shape in enumerate(program.shapes(0)))
    named, function = axes_of(program.shapes(0)), program.function(genuine)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = onnx.export(program.function(torch), examples, input_names=list(named), dynamic_axes=named)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.log_severity_level = 1, 4
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    except onnx.ExportError as error:
        return None, str(error), []
    except Exception as error:  # ONNX Runtime has classes of its own
        text = str(error)
        return (None, text, []) if "NOT_IMPLEMENTED" in text else (f"{text}\n{program.text}", "", [])
    became = []
    for call in range(calls):
        shapes = program.shapes(call)
        sizes = {named[f"x{place}"][axis]: size for place, shape in enumerate(shapes)
                 for axis, size in enumerate(shape)}
        wanted = outcome(function, genuine, shapes, False)
        held = holds(model, sizes)
        mine = run(session, shapes) if held is not False and not isinstance(wanted, str) else ""
        arrays = [] if isinstance(wanted, str) else wanted
        if any(array.dtype.kind == "f" and numpy.isnan(array).any() for array in arrays):
            mine = ""  # the greatest of numbers that are none is another one in each runtime
        nothing = any(array.size == 0 for array in arrays)
        if isinstance(mine, str) and (mine == "" or held is None or nothing):  # runtimes refuse tensors of nothing
            became.append(LEFT_OUT if isinstance(wanted, str) else OUTSIDE)
            continue
        found = difference(mine, wanted)
        if found:
            told = "; ".join(item.value for item in model.metadata_props)
            return f"at {shapes} ({told}): {found}\n{program.text}", "", became
        became.append(RAN)
    return None, "", became
