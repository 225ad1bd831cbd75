"""What a function calls that is left to Python: the modules in it become graphs of their own."""
import threading
import weakref

from dragon.core.module import Module
from dragon.core.scopes import ExitStack, scope

LEAST = 10  # calls of operators that are worth a graph
LEAST_RECORDED = 16  # the same where gradients are wanted
MOST = 512  # modules of one function that have graphs of their own
REGION_GRAPHS = 8  # graphs of one module, before it is left to Python
SETTLED = 12  # calls of a function by which some module has a graph, or none ever will
PLAIN_RUNS = []  # one entry for each function that any thread runs as plain Python: empty as a rule


class _Local(threading.local):
    regions = None  # of the function that this thread runs as plain Python
    known = None  # what these know of modules
    under_way = ()  # the functions in modules' places that are called now


_local = _Local()


def _enter(stack, regions):
    stack.set(_local, "regions", regions)
    stack.set(_local, "known", None if regions is None else regions.known)


class Regions:
    """The modules that one function calls while it runs as plain Python, and the graphs of each.

    Parameters
    ----------
    owner : dragon.core.capture.function.Function
        The function.
    make : Callable[[Module, Regions], Function]
        Makes what is called in a module's place.

    """

    def __init__(self, owner, make):
        self._make = make
        self.outer = _local.regions  # of the function in whose plain run this one was left to Python
        self.small = 0  # modules with too few operators for a graph
        self.functions = {}  # id of a module -> the function in its place, also where that is left to Python
        self.known = {}  # id -> the function in its place; None where the module itself is called
        self._runs, self._run = 0, 0  # how many, as far as they are counted; and which one this is
        self._met = {}  # id -> a module and in which run; one that is made anew by each run has no graph
        self._lock = threading.RLock()  # held by who adds to these; reading takes none
        called = getattr(owner._function, "__self__", owner._function)
        self._module = called if isinstance(called, Module) else None
        if self._module is not None:
            self.known[id(self._module)] = None

    @property
    def is_barren(self):
        """bool: whether no module has a graph, nor will have one."""
        return self._runs >= SETTLED and not any(map(self.known.get, list(self.functions)))

    def run(self, function, args, kwargs):
        """Call the function; the modules that it calls are looked up here."""
        if self._runs < SETTLED:
            self._runs += 1
            if self.is_barren and self.outer is not None and self._module is not None:
                self.outer.known[id(self._module)] = None
        self._run += 1
        with ExitStack() as stack:
            _enter(stack, self)
            stack.push(PLAIN_RUNS, None)
            return function(*args, **kwargs)

    def meet(self, module):
        """Return what is called in the place of a module that nothing is known of yet, or None."""
        with self._lock:
            return self.known[id(module)] if id(module) in self.known else self._meet(module)

    def _meet(self, module):
        first, run = self._met.get(id(module), (None, 0))
        if first is None or first() is not module:
            if len(self._met) >= MOST:
                self._met.clear()
            self._met[id(module)] = weakref.ref(module), self._run
            return None
        if run == self._run:
            return None
        del self._met[id(module)]
        function = None if self._is_running(module) or not module.has_regions else self._make(module, self)
        self.known[id(module)] = function
        if function is not None:
            self.functions[id(module)] = function
            if len(self.functions) > MOST:
                oldest = next(iter(self.functions))
                del self.functions[oldest], self.known[oldest]
        return function

    def _is_running(self, module):
        """Return whether the module is left to Python itself, and called by what it calls."""
        regions = self
        while regions is not None and regions._module is not module:
            regions = regions.outer
        return regions is not None

    def pass_over(self, module):
        """Call a module and what is in it by themselves from now on: they are too small for graphs."""
        with self._lock:
            for part in module.modules():
                self.known[id(part)] = None
                self.functions.pop(id(part), None)
            self.small += 1

    def path_of(self, module):
        """Return what people call a module: its path in the one that is left to Python, or its class."""
        if self._module is not None:
            for path, part in self._module.named_modules():
                if part is module:
                    return f"self.{path}"
        return type(module).__name__


def find_region(module):
    """Return what is called in a module's place while this thread runs some function as plain Python, or None.

    Parameters
    ----------
    module : Module
        The module.

    Returns
    -------
    Optional[Function]
        None: the module itself is called.

    """
    known = _local.known
    if known is None:
        return None
    try:
        function = known[id(module)]
    except KeyError:
        function = _local.regions.meet(module)
    return None if function in _local.under_way else function


def call_in_place(function, call, args, kwargs):
    """Call a function that stands in a module's place; when it calls the module, that is the module itself."""
    with ExitStack() as stack:
        stack.set(_local, "under_way", (*_local.under_way, function))
        return call(*args, **kwargs)


def step_apart(stack):
    """Have this thread call modules themselves until an ExitStack ends, whatever function is left to Python around."""
    _enter(stack, None)


@scope
def apart(stack):
    """Step apart within a `with` block: for whoever looks at each call of an operator, which a graph would hide."""
    step_apart(stack)
