"""What an operator is: a function of one sample, which says by its signature what it takes, and its name."""
import inspect

REQUIRED = inspect.Parameter.empty
OPERATORS = {}
COMMON = ("device", "name", "bytes_per_sample_hint", "preserve", "preserve_name", "seed")
# What tunes DALI's own memory, threads and devices and asks for no other numbers.
HINTS = frozenset("""affine cache_batch_copy cache_debug cache_size cache_threshold cache_type device_memory_padding
device_memory_padding_jpeg2k host_memory_padding host_memory_padding_jpeg2k hw_decoder_load hybrid_huffman_threshold
memory_stats preallocate_height_hint preallocate_width_hint split_stages use_chunk_allocator minibatch_size
temp_buffer_hint read_ahead prefetch_queue_depth tensor_init_bytes lazy_init skip_cached_images dont_use_mmap
use_o_direct cuda_stream use_copy_kernel blocking no_copy synchronize_stream cache_header_information
cache_boxes cache_objects register_buffers
max_streams jpeg_fancy_upsampling use_fast_idct""".split())


class Laid:
    """A result with a layout of its own.

    Parameters
    ----------
    array : numpy.ndarray
        The numbers.
    layout : str
        A letter for each axis, or none.

    """

    __slots__ = ("array", "layout")

    def __init__(self, array, layout=""):
        self.array, self.layout = array, layout


class Context:
    """What an operator may know of its call besides its inputs.

    Parameters
    ----------
    layouts : Sequence[str]
        Of the inputs.
    draws : dragon.io.Draws
        The sample's random numbers.
    source : str
        Where the first input came from.

    """

    __slots__ = ("layouts", "draws", "source")

    def __init__(self, layouts, draws=None, source=""):
        self.layouts, self.draws, self.source = layouts, draws, source

    @property
    def layout(self):
        """Return the layout of the first input."""
        return self.layouts[0] if self.layouts else ""


class Operator:
    """One operator.

    Parameters
    ----------
    name : str
        As below `fn`: "decoders.image".
    function : Callable
        Takes inputs by place and arguments by name, among these `context`, if it asks for it.
    kind : str
        "sample" works on one sample, "batch" on lists of them, "source" is a class that gives samples.
    outputs : Union[int, Callable]
        How many results there are, or a function of the arguments that says it.
    instead : Callable, optional
        As for `operator`.

    """

    def __init__(self, name, function, kind, outputs, instead=None):
        self.name, self.function, self.kind, self.outputs = name, function, kind, outputs
        self.instead = instead
        parameters = inspect.signature(function).parameters.values()
        places = [one for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
        self.variadic = any(one.kind is one.VAR_POSITIONAL for one in parameters)
        self.least = sum(one.default is REQUIRED for one in places)
        self.most = 999 if self.variadic else len(places)
        named = {one.name: one.default for one in parameters if one.kind is one.KEYWORD_ONLY}
        self.wants_context = named.pop("context", None) is not None or "context" in [one.name for one in parameters]
        named.pop("count", None)  # of samples, for operators of whole batches
        self.arguments = named
        self.doc = inspect.getdoc(function) or ""

    @property
    def class_name(self):
        """Return the name of the operator's class: "CropMirrorNormalize"."""
        return "".join(word[:1].upper() + word[1:] for word in self.name.rpartition(".")[2].split("_"))

    def list_keywords(self):
        """Return the names of the arguments that a call takes."""
        return sorted({*self.arguments, *COMMON, *HINTS})

    def check(self, count, arguments):
        """Raise for a number of inputs, or names of arguments, that the operator does not take."""
        if not self.least <= count <= self.most:
            raise ValueError(f"Operator nvidia.dali.fn.{self.name} expects from {self.least} to {self.most} inputs, "
                             f"but received {count}.")
        for name in arguments:
            if name not in self.arguments and name not in COMMON and name not in HINTS:
                raise KeyError(f'Argument "{name}" is not defined for operator "{self.class_name}".')
        for name, default in self.arguments.items():
            if default is REQUIRED and name not in arguments:
                raise RuntimeError(f'Not all required arguments were specified for op "{self.class_name}". Please '
                                   f'specify values for arguments: "{name}".')

    def count_outputs(self, arguments, inputs):
        """Return how many results a call with these arguments, and so many inputs, has."""
        return self.outputs({**arguments, "_inputs": inputs}) if callable(self.outputs) else self.outputs


def operator(name=None, outputs=1, kind="sample", instead=None):
    """Enter a function as an operator.

    Parameters
    ----------
    name : str, optional
        As below `fn`; the function's own by default.
    outputs : Union[int, Callable], optional, default=1
        How many results it has.
    kind : str, optional, default="sample"
        "sample", "batch" or "source".
    instead : Callable, optional
        Takes the arguments, and returns the name of the operator that stands for this one with them, or None.

    """
    def enter(function):
        named = name or function.__name__
        OPERATORS[named] = Operator(named, function, kind, outputs, instead)
        return function
    return enter
