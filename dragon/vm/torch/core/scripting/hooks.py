"""Hooks of modules that are scripted: functions that run before and after `forward` where a script calls the module."""
import functools
import inspect

from dragon.vm.torch.core.scripting import frontend
from dragon.vm.torch.core.scripting.failures import Missing, refuse
from dragon.vm.torch.core.scripting.types import NONE, TupleType, fits

TABLES = {"pre_hooks": ("_forward_pre_hooks", "Pre-hook"), "hooks": ("_forward_hooks", "Hook")}


def enter_hooks(kind, module):
    """Enter a module's hooks in its type, by name."""
    for place, (table, word) in TABLES.items():
        names = getattr(kind, place)
        for hook in module.__dict__.get(table, {}).values():
            if not inspect.isfunction(hook):
                raise Missing(f"torch.jit.script: got {type(module).__name__} with a hook that is a "
                              f"{type(hook).__name__}, expected a function")
            name = hook.__name__
            known = kind.hook_sources.setdefault(name, hook)
            if known is not hook and name in names:
                raise RuntimeError(f"{word} '{name}' on {type(module).__name__} has at least two different python "
                                   "definitions. Please use unique names for all hooks.")
            if known is not hook or hasattr(type(module), name):
                raise RuntimeError(f"Can't define hook: {name} on class: {kind.qualified} because a method or hook "
                                   "with that name already exists.")
            names.append(name)


def hooks_key(kind):
    """Return what the hooks of modules of one type have in common."""
    return (tuple(kind.pre_hooks), tuple(kind.hooks), tuple(map(id, kind.hook_sources.values())))


def hook_of(scripts, kind, name):
    """Return the compiled function of a hook."""
    if name not in kind.hook_methods:
        found = kind.hook_sources[name]
        source, tree = frontend.read_function(found)
        kind.hook_methods[name] = scripts.method_of(kind, name, found, source, tree)
    return kind.hook_methods[name]


def ready_hooks(scripts, kind, forward):
    """Compile the hooks of a type, whose signatures must fit that of `forward`, and return (pre-hooks, hooks)."""
    wanted = TupleType([argument.type for argument in forward.arguments[1:]])
    before = [hook_of(scripts, kind, name) for name in kind.pre_hooks]
    for function in before:
        check_pre_hook(function, kind, wanted)
    after, result = [hook_of(scripts, kind, name) for name in kind.hooks], forward.result
    for function in after:
        schema = check_input(function, kind, wanted, "Hook", 3)
        given = schema.arguments[2].type
        if given != result:
            wrong("Hook", function, kind, "has the wrong type for the output argument. Received type: "
                  f"'{given.annotation()}'. Expected type: '{result.annotation()}'")
        function.ready()
        if function.schema.result != NONE:
            result = function.schema.result
    return before, after


def wrong(word, function, kind, what):
    """Refuse a hook."""
    refuse(f"{word} '{function.name}' on {kind.qualified.rpartition('.')[2]} {what}", None, RuntimeError)


def check_input(function, kind, wanted, word, count):
    """Return the schema of a hook, whose input must be the tuple of what `forward` takes."""
    schema = function.declare() if hasattr(function, "declare") else function.schema
    if len(schema.arguments) != count:
        wrong(word, function, kind, f"was expected to only have exactly {count} inputs but it had "
              f"{len(schema.arguments)} inputs")
    given = schema.arguments[1].type
    if not isinstance(given, TupleType):
        wrong(word, function, kind, "expected the input argument to be typed as a Tuple but found type: "
              f"'{given.annotation()}' instead.")
    if len(given.elements) != len(wanted.elements):
        wrong(word, function, kind, "has the wrong number of contained types for the input argument's Tuple. "
              f"Received type: '{given.annotation()}'")
    if not all(map(fits, wanted.elements, given.elements)):
        wrong(word, function, kind, "has the wrong inner types for the input tuple argument. Received type: "
              f"'{given.annotation()}'. Expected type: '{wanted.annotation()}'")
    return schema


def check_pre_hook(function, kind, wanted):
    """Check what a pre-hook takes and gives, and compile it."""
    schema = check_input(function, kind, wanted, "Pre-hook", 2)
    if schema.result is None:
        wrong("Pre-hook", function, kind, "is missing a return annotation. Return annotations are required, please "
              "add one.")
    is_single = len(wanted.elements) == 1
    if schema.result in (NONE, wanted):
        function.ready()
        return
    if is_single and isinstance(wanted.elements[0], TupleType):
        wrong("Pre-hook", function, kind, f"returned the wrong type of: '{schema.result.annotation()}'. When forward "
              "has a single tuple input argument, the return needs to be 'None' or a nested tuple containing "
              f"forward's input tuple argument as in: '{wanted.annotation()}'")
    if not is_single or schema.result != wanted.elements[0]:
        wrong("Pre-hook", function, kind, f"returned the wrong type of: '{schema.result.annotation()}'")
    function.ready()


def call_hooked(compiler, owner, args, kwargs, node):
    """Return what a call of a module with hooks gives."""
    kind, scripts = owner.type, compiler.scripts
    forward = scripts.method(kind, "forward", compiler.place(node))
    before, after = ready_hooks(scripts, kind, forward.schema)
    values = [compiler.as_value(part, node) for part in args]
    values = [compiler.fitted(value, argument.type, node) for value, argument in zip(
        values, forward.schema.arguments[1:])] + values[len(forward.schema.arguments) - 1:]
    row = compiler.tuple_of(values, node)
    for function in before:
        found = compiler.call_schema(function, [owner, row], {}, node)
        if found.type != NONE:
            row = found if isinstance(found.type, TupleType) else compiler.tuple_of([found], node)
    values = compiler.unpacked(row, 0, node, any_count=True)
    named = {name: compiler.as_value(part, node) for name, part in kwargs.items()}
    result = compiler.call_schema(forward, [owner, *values], named, node, method="forward")
    for function in after:
        found = compiler.call_schema(function, [owner, row, result], {}, node)
        if found.type != NONE:
            result = found
    return result


def attach(module, kind, call):
    """Give a scripted module the hooks that calls from Python run."""
    for place, (table, _) in TABLES.items():
        for number, name in enumerate(getattr(kind, place)):
            module.__dict__[table][number] = functools.partial(run_hook, call, kind, name)


def run_hook(call, kind, name, *values):
    """Run a hook's script."""
    return call(hook_of(kind.unit, kind, name), values, {})
