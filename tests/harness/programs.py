"""Random tensor programs in PyTorch's words: one seed, one program, the same on every side that knows the words.

A program is grown statement by statement while it runs: a template is filled with names, axes and numbers, tried, and
kept if it raised nothing and its numbers stayed moderate. So templates may be generous about what fits. What comes out
is plain source of a function of tensors; a failing test prints it.
"""
import random
import re
import warnings

import pytest

from harness import answers

# Templates by the kind of tensor they start from: f floating, g floating with two axes or more, i integer, q boolean,
# t any. What `{x}` stands for in one: see `_Filler`.
VALUES = {
    "f": """relu({a}) | {a}.tanh() | {a}.sigmoid() | {a} * {c} | {a} + {c} | {c} - {a} | -{a} | {a}.abs()
        {a}.square() | {a}.clamp(-{p}, {p}) | torch.sin({a}) | torch.exp({a}.clamp(max=1.0)) | F.gelu({a})
        F.silu({a}) | {a}.sign() | torch.sqrt({a}.abs() + {p}) | torch.log1p({a}.abs()) | torch.erf({a}) | {a} ** 2
        F.leaky_relu({a}, 0.1) | F.softplus({a}) | F.elu({a}) | {a}.reciprocal().clamp(-5.0, 5.0) | {a}.floor()
        {a}.round() | F.hardswish({a}) | {a} + {b} | {a} * {b} | {a} - {b} | {a} / ({b}.abs() + {p})
        torch.maximum({a}, {b}) | torch.minimum({a}, {b}) | torch.where({a} > {c}, {a}, {b})
        torch.addcmul({a}, {b}, {b}, value={c}) | torch.lerp({a}, {b}, {p}) | {a}.add({b}, alpha={c})
        torch.hypot({a}, {b}) | torch.atan2({a}, {b}) | {a}.masked_fill({a} > {c}, {c}) | {a}.sum() | {a}.mean()
        {a}.sum({k}) | {a}.mean({k}, keepdim=True) | {a}.amax({k}) | {a}.amin({k}, keepdim=True)
        {a}.max({k}).values | {a}.max({k}) | {a}.var({k}) | {a}.std({k}, unbiased=False) | torch.logsumexp({a}, {k})
        F.softmax({a}, {k}) | F.log_softmax({a}, {k}) | {a}.cumsum({k}) | {a}.norm() | {a}.prod({k}) | {a}.median()
        F.layer_norm({a}, {a}.shape[-1:]) | {a} - {a}.mean({k}, keepdim=True)
        {a} / {a}.norm(dim={k}, keepdim=True).add({p}) | {a}.sort({k}).values | {a}.topk(1, {k}).values
        {a}.argmax({k}) | {a}.argsort({k}) | F.mse_loss({a}, {b}) | F.normalize({a}, dim={k})
        F.smooth_l1_loss({a}, {b}) | {a}.flip({k}) | {a}.roll({n}, {k}) | {a}.repeat(2, 1)
        torch.cat([{a}, {a}], {k}) | torch.stack([{a}, {b}]) | torch.cat([{a}, {b}], {k}) | {a}.clone()
        {a}.contiguous() | {a}.double() | {a}.float() | {a}.long() | {a} > {c} | {a}.isnan() | {a}.detach()
        {a}.to(torch.int32) | torch.zeros_like({a}) | torch.ones({a}.shape) | torch.full_like({a}, {c})
        torch.tensor([{c}, {c}])""",
    "g": """{a} @ {a}.transpose(-1, -2) | {a}.transpose(-1, -2) @ {a} | {a} @ {m} | F.linear({a}, {a})
        {a}.tril() | F.linear({a}, {m}.transpose(-1, -2)) | torch.einsum('...ij,...kj->...ik', {a}, {a})
        {a}.triu(1) | {a}.diagonal() | torch.addmm({b}, {a}, {a}.t()) | F.scaled_dot_product_attention({a}, {a}, {a})
        {a}.index_select(0, {i}) | F.conv1d({a}[None], {a}[None, :, :1].transpose(0, 1)) | F.max_pool1d({a}[None], 2)
        F.avg_pool1d({a}, 2) | F.pad({a}, (1, 0), value={c}) | {a}.gather(0, {a}.argsort(0))
        F.group_norm({a}[None], 1) | torch.outer({a}[0], {a}[0]) | F.batch_norm({a}, None, None, training=True)
        {a}[{i}] | F.cross_entropy({a}, {a}.argmax(1)) | {a}.trace() | F.interpolate({a}[None], scale_factor=2)
        F.instance_norm({a}[None]) | torch.bmm({a}[None], {m}[None])[0]""",
    "t": """{a}[{j}] | {a}[1:] | {a}[..., ::2] | {a}[:, {j}] | {a}[None] | {a}[..., None]
        {a}.transpose(0, {k}) | {a}.reshape(-1) | {a}.permute(*reversed(range({a}.dim()))) | {a}.flatten()
        {a}.unsqueeze({k}) | {a}.squeeze() | {a}.chunk(2, {k}) | {a}.narrow({k}, 0, 1) | {a}.unbind({k})
        {a}.split(1, {k})[-1] | {a}.view({a}.shape[0], -1) | {a}.reshape(2, -1) | {a}.expand(2, *{a}.shape)
        {a}[:1].expand({a}.shape) | {a}.contiguous().as_strided(({a}.numel() // 2, 2), (1, 1)) | {a}.select({k}, {j})
        torch.as_strided({a}.contiguous(), ({a}.numel() - 1,), (1,), 1) | {a}.movedim(0, -1) | {a}.unfold({k}, 2, 1)
        {a}.t() | {a}.mT | {a}.view(-1) | {a}.broadcast_to((2, *{a}.shape)) | {a}.alias() | {a}.detach()[:1]
        {a}.diagonal() | {a}.swapaxes(0, {k})""",
    "i": """{a} + {n} | {a} * {a} | {a}.float() | {a} % 3 | {a} // 2 | {a}.sum() | {a}.cumsum({k}) | {a} == {n}
        {a}.double() * {c} | F.one_hot({a} % 4, 4) | {a}.clamp(0, 3) | torch.bitwise_and({a}, 3) | {a}.abs()
        torch.arange({a}.shape[0]) + {a} | F.embedding({a} % 2, torch.ones(2, 3)) | {a}.to(torch.uint8)
        {a}.sort({k}).indices""",
    "q": """~{a} | {a} & {a}.flip(0) | {a}.float() | {a}.any() | {a}.all({k}) | {a}.sum({k})
        torch.where({a}, {c}, {c}) | {a}.logical_or({a}.roll(1)) | {a}.cumsum({k})""",
}
WRITES = {
    "f": """{a}.add_({b}) | {a}.mul_({c}) | {a} += {b} | {a} *= {c} | {a}.clamp_(-{p}, {p}) | {a}.relu_()
        {a}.tanh_() | {a}.neg_() | {a}.copy_({b}) | {a}.zero_() | {a}.fill_({c}) | {a}[{j}] = {c} | {a}[1:] = {b}
        {a}[..., ::2] *= {c} | {a}[:, {j}].add_({c}) | {a}.view(-1)[:2].fill_({c}) | {a}.transpose(0, {k}).mul_({c})
        {a}.select({k}, {j}).copy_({b}) | {a}.t()[{j}] -= {b} | {a}.masked_fill_({a} > {c}, {c})
        {a}[{a} > {c}] = {c} | {a}.unsqueeze(0)[0, 1:].sub_({b}) | {a}.diagonal().add_({c})
        {a}.addcmul_({b}, {b}, value={c}) | {a}.as_strided(({a}.numel() // 2,), (1,)).mul_({c})
        {a}.chunk(2)[0].exp_().clamp_(max=3.0) | {a}.unbind(0)[-1].mul_({c})
        {a}.index_add_(0, {i}, torch.ones_like({a}[{i}])) | {a}.index_fill_({k}, {i}, {c}) | {a}[:] = {a}.flip(0)
        {a}[1:] += {a}[:-1] | {a}.lerp_({b}, {p}) | {a}[{i}] = {c} | {a}.scatter_(0, {a}.argsort(0), {c})
        torch.add({a}, {b}, out={a}) | {a}.sigmoid_()[:1].mul_({c}) | {a}[..., -1:].copy_({a}[..., :1])
        {a}.squeeze().add_({c})""",
    "i": "{a}.add_({n}) | {a}[{j}] = {n} | {a} += 1 | {a}[..., 0].mul_(2)",
    "q": "{a}.logical_not_() | {a}[{j}] = True",
}
RANDOM = {
    "f": """F.dropout({a}, 0.5) | torch.randn_like({a}) | torch.rand({a}.shape) | torch.randn(2, 3)
        torch.bernoulli({a}.sigmoid()) | {a} + 0.1 * torch.randn({a}.shape) | torch.randint(0, 5, {a}.shape)
        {a}.clone().uniform_(-1.0, 1.0) | torch.randperm(4) | {a}.clone().normal_() | F.rrelu({a}, training=True)
        F.dropout1d({a}[None], 0.5)[0] | {a}[torch.randperm({a}.shape[0])]""",
}
BLOCKS = """
if {a}.shape[0] > {n}:
    {o} = {x}
else:
    {o} = {y}
---
if {a}.dim() == 2 and {a}.size(-1) % 2 == 0:
    {o} = {a}.reshape(-1, 2)
else:
    {o} = {y}
---
{o} = {a}.sum() * 0.0
for row in {a}.unbind(0):
    {o} = {o} + row * {c}
---
{o} = torch.zeros({a}.shape)
for index in range({a}.shape[0]):
    {o}[index] = {a}[index] * {c}
    {o}[: index + 1] += {c}
---
with torch.no_grad():
    {o} = {x}
---
{o} = {a}
for _ in range({n}):
    {o} = torch.tanh({o} @ {o}.transpose(-1, -2)) if {o}.dim() == 2 else {o} * 0.5
---
{o} = {a}.clone()
part = {o}[..., :1]
part.mul_({c})
{o} = {o} + part
"""
CHOICES = {kind: {letter: [text.strip() for text in re.split(r" \| |\n", lines)] for letter, lines in table.items()}
           for kind, table in (("value", VALUES), ("write", WRITES), ("random", RANDOM))}
SHAPES = [(2, 3), (3, 2), (4, 4), (3,), (4,), (2, 3, 4), (1, 3), (2, 1), (), (5, 2), (2, 2, 2), (1,), (0, 3), (6,)]
KINDS = {"f": ("float32", "float64", "float16"), "g": ("float32", "float64"), "i": ("int64", "int32", "uint8"),
         "q": ("bool",)}
MODERATE = 1e4
REJECTED = (RuntimeError, ValueError, TypeError, IndexError, NotImplementedError, AttributeError, ZeroDivisionError)


class Program:
    """One random program.

    Parameters
    ----------
    seed : int
        Which one.
    torch : module
        In whose words it is tried while it grows: PyTorch or its look-alike.
    statements : int, optional, default=12
        How many are tried at least; None for a program that shall not grow.

    """

    def __init__(self, seed, torch, statements=12):
        self.seed, self.torch, self.rng = seed, torch, random.Random(seed)
        self.inputs = self._choose_inputs()
        self.lines, self.result = [], ""
        self.differentiates = any(needs for _, _, needs in self.inputs) and self.rng.random() < 0.7
        if statements is None:
            return
        for _ in range(self.rng.randint(3, statements)):
            self._grow()
        self._finish()

    @classmethod
    def grown(cls, seed, lines, result):
        """Return the program of a seed that has grown before, to some lines and a result."""
        program = cls(seed, None, statements=None)
        program.lines, program.result = list(lines), result
        return program

    def _choose_inputs(self):
        """Return (shape, dtype, requires grad) of each input.

        Those that `outside` numbers are no arguments: they stay from call to call, as parameters and buffers do.
        """
        found = []
        for _ in range(self.rng.randint(1, 4)):
            dtype = self.rng.choice(["float32"] * 6 + ["float64", "int64", "bool"])
            found.append((self.rng.choice(SHAPES), dtype, dtype.startswith("float") and self.rng.random() < 0.4))
        self.outside = [number for number in range(1, len(found)) if self.rng.random() < 0.4]
        return found

    def _name(self, number):
        return f"w{number}" if number in self.outside else f"x{number}"

    def arguments(self, torch, call=0, rows=None):
        """Return fresh tensors for the arguments, the same ones for the same call; `rows` is another first size."""
        made = self._make(torch, call, rows)
        return [tensor for number, tensor in enumerate(made) if number not in self.outside]

    def _make(self, torch, call, rows=None):
        """Return tensors for all inputs."""
        state = random.Random(1000 * self.seed + call)
        made, usual = [], self.inputs[0][0][:1]
        for shape, dtype, needs in self.inputs:
            if rows is not None and usual and shape[:1] == usual:
                shape = (rows, *shape[1:])
            count = 1
            for size in shape:
                count *= size
            draw = {"f": lambda: state.uniform(-2, 2), "i": lambda: state.randint(0, 4),
                    "b": lambda: state.random() < 0.5}[dtype[0]]
            tensor = torch.tensor([draw() for _ in range(count)], dtype=getattr(torch, dtype))
            made.append(tensor.reshape(shape).clone().requires_grad_(needs))
        return made

    @property
    def source(self):
        """Return the program as a function's source."""
        names = ", ".join(f"x{number}" for number in range(len(self.inputs)) if number not in self.outside)
        body = "\n".join("    " + part for line in self.lines + [self.result] if line for part in line.split("\n"))
        return f"def program({names}):\n{body}\n"

    def function(self, torch):
        """Return the program as a function of tensors in a side's words, and the tensors outside that it speaks of."""
        names = {"torch": torch, "F": torch.nn.functional, "relu": torch.relu}
        outside = {f"w{number}": tensor for number, tensor in enumerate(self._make(torch, 0)) if number in self.outside}
        names.update(outside)
        exec(compile(self.source, f"<program {self.seed}>", "exec"), names)
        return names["program"], list(outside.values())

    def __str__(self):
        inputs = [f"# {self._name(number)}: {dtype} {shape}{' requires grad' if needs else ''}"
                  for number, (shape, dtype, needs) in enumerate(self.inputs)]
        return "\n".join([f"# program {self.seed}", *inputs, self.source])

    def _run(self, more=()):
        """Return the names after all statements and one more, or None if that raises."""
        torch = self.torch
        torch.manual_seed(self.seed)
        names = {"torch": torch, "F": torch.nn.functional, "relu": torch.relu}
        names.update((self._name(number), tensor) for number, tensor in enumerate(self._make(torch, 0)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                exec("\n".join([*self.lines, *more]), names)
            except REJECTED:
                return None
        return names

    def _tensors(self, names):
        """Return {name: tensor} of what a statement may speak of."""
        return {name: value for name, value in names.items()
                if isinstance(value, self.torch.Tensor) and name not in ("row", "part") and not name.startswith("_")}

    def _moderate(self, names):
        """Whether the numbers stay where rounding does not grow without bounds, and the tensors small."""
        for tensor in self._tensors(names).values():
            if tensor.numel() > 500 or tensor.dim() > 4:
                return False
            if tensor.is_floating_point() and tensor.numel() and not bool(
                    (tensor.detach().double().abs().amax() < MODERATE).item()):
                return False
        return True

    def _grow(self):
        """Add one statement; a few tries."""
        names = self._run()
        for _ in range(8):
            filler = _Filler(self.rng, self._tensors(names))
            statement = filler.statement(f"t{len(self.lines)}")
            after = statement and self._run([statement])
            if after and self._moderate(after):
                self.lines.append(statement)
                return

    def _finish(self):
        """Choose what is returned, and what is differentiated."""
        names = self._tensors(self._run())
        order = list(names)
        picks = [self.rng.choice(order[-6:]) for _ in range(self.rng.randint(1, 4))]
        picks = [f"{name}[..., :1]" if self.rng.random() < 0.1 and names[name].dim() else name for name in picks]
        if self.differentiates:
            self._differentiate(names, picks)
        elif self.rng.random() < 0.15:
            picks.append(self.rng.choice(["None", "3", "x0.shape[0]" if self.inputs[0][0] else "1.5"]))
        form = self.rng.choice(["({},)", "[{}]", "({},)", "[[{}]]"])
        self.result = "return " + form.format(", ".join(picks))

    def _differentiate(self, names, picks):
        """Add a loss of all floating results and its gradients, as a call or as a backward pass."""
        losing = [pick for pick in picks if names[pick.split("[")[0]].requires_grad]
        leaves = [self._name(number) for number, (_, _, needs) in enumerate(self.inputs) if needs]
        held = [name for name in leaves if name[0] == "w"] if self.rng.random() < 0.7 else leaves
        if not losing:
            return
        lines = ["loss = " + " + ".join(f"(({pick}).double() ** 2).mean()" for pick in losing)]
        backward = bool(held) and self.rng.random() < 0.5
        if backward:
            lines.append("loss.backward()" if held == leaves else f"loss.backward(inputs=[{', '.join(held)}])")
            lines += self._update(held)
        else:
            lines.append(f"grads = torch.autograd.grad(loss, [{', '.join(leaves)}], allow_unused=True)")
        if self._run(lines) is not None:
            self.lines += lines
            picks += ["loss.detach()"] + ([] if backward else ["[grad for grad in grads if grad is not None]"])

    def _update(self, held):
        """Return the lines of an optimizer's step on some leaves, of gradients left to grow, or of cleared ones."""
        way = self.rng.choice(["step", "keep", "clear", "zero"])
        if way == "keep":
            return []
        body = {"step": "    with torch.no_grad():\n        {0}.sub_(0.1 * {0}.grad)\n    {0}.grad = None",
                "clear": "    {0}.grad = None", "zero": "    {0}.grad.zero_()"}[way]
        return [("if {0}.grad is not None:\n" + body).format(name) for name in held]


def genuine_program(seed):
    """Return a program that has grown in genuine PyTorch; what it grew to is recorded."""
    def grow():
        program = Program(seed, pytest.importorskip("torch", reason="programs are grown in genuine PyTorch"))
        return program.lines, program.result
    return Program.grown(seed, *answers.ask("torch", ["program", Program, seed], grow))


class _Filler:
    """Fills one template.

    {a} is a tensor of the kind asked for, {b} one that broadcasts to it, {m} one it can be multiplied with, {i} a list
    of indices, {j} an index of the first axis, {k} an axis, {c} a number, {p} a positive one, {n} a small integer,
    {x} and {y} are further expressions of {a}, {o} is the new name.
    """

    def __init__(self, rng, tensors):
        self.rng, self.tensors = rng, tensors

    def statement(self, new):
        """Return a statement, or None if no tensor is of the kind it needs."""
        way = self.rng.choices(["value", "write", "random", "block"], [10, 4, 1, 1])[0]
        if way == "block":
            return self._fill(self.rng.choice(BLOCKS.strip().split("\n---\n")), "t", new)
        table = CHOICES[way]
        letter = self.rng.choices(list(table), [{"f": 8, "t": 6, "g": 4}.get(key, 1) for key in table])[0]
        text = self._fill(self.rng.choice(table[letter]), letter, new)
        if text is None or way == "write":
            # Writing `w1 += 1` would make the name a local one.
            return None if text and re.match(r"w\d+ [-+*]=", text) else text
        many = ".unbind(" in text or ".chunk(" in text or re.search(r"\.max\(-?\d\)$", text)
        return f"{new}, *_rest = {text}" if many else f"{new} = {text}"

    def _of_kind(self, letter):
        """Return the names of the tensors of a kind."""
        wanted = KINDS.get(letter)
        return [name for name, tensor in self.tensors.items()
                if (wanted is None or str(tensor.dtype).split(".")[-1] in wanted)
                and (letter != "g" or tensor.dim() > 1)]

    def _fill(self, template, letter, new):
        names = self._of_kind(letter)
        if not names:
            return None
        name = self.rng.choice(names[-5:] if self.rng.random() < 0.8 else names)
        if letter == "t" and self.tensors[name].is_floating_point():
            letter = "f"
        axes = max(1, self.tensors[name].dim())
        ask = {"a": lambda: name, "o": lambda: new, "b": lambda: self._partner(name), "m": lambda: self._factor(name),
               "i": lambda: str([self.rng.randint(0, 1) for _ in range(2)]),
               "j": lambda: str(self.rng.choice([0, -1, 1])),
               "k": lambda: str(self.rng.randrange(-1, axes)),
               "c": lambda: str(self.rng.choice([0.5, -1.5, 2.0, 0.0, 1.0, -0.25])),
               "p": lambda: str(self.rng.choice([0.5, 1.0, 0.25])), "n": lambda: str(self.rng.randint(0, 3)),
               "x": lambda: self._expression(letter, name), "y": lambda: self._expression(letter, name)}
        return re.sub(r"\{(\w)\}", lambda match: ask[match[1]](), template)

    def _expression(self, letter, name):
        """Return one further expression of a tensor."""
        only = _Filler(self.rng, {name: self.tensors[name]})
        table = VALUES if letter in VALUES else {"f": ""}
        return only._fill(self.rng.choice(CHOICES["value"][letter if letter in table else "t"]), letter, "") or name

    def _partner(self, name):
        """Return a tensor that broadcasts to another, mostly."""
        shape = tuple(self.tensors[name].shape)
        fitting = [other for other in self._of_kind("f")
                   if all(a == b or a == 1 for a, b in zip(reversed(self.tensors[other].shape), reversed(shape)))]
        return self.rng.choice(fitting or [name])

    def _factor(self, name):
        """Return a matrix whose rows are as many as a tensor's columns."""
        width = self.tensors[name].shape[-1]
        fitting = [other for other in self._of_kind("g") if self.tensors[other].shape[-2] == width]
        return self.rng.choice(fitting or [f"{name}.transpose(-1, -2)"])
