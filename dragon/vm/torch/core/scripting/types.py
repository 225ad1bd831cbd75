"""The types of scripts: what a value is, what fits where, and how graphs and programs write it."""


class Type:
    """A type without parts, by its name.

    Parameters
    ----------
    name : str
        As graphs write it.
    annotation : str, optional
        As programs write it, where that differs.

    """

    parts = ()

    def __init__(self, name, annotation=None):
        self.name, self.told = name, annotation or name

    def __str__(self):
        return self.name

    def __repr__(self):
        return self.annotation()

    def annotation(self):
        """Return the type as a program's annotation."""
        return self.told

    annotation_str = property(lambda self: self.annotation(), doc="str: the type as a program's annotation.")

    def kind(self):
        """Return PyTorch's name of what sort of type this is, such as "ListType"."""
        return KINDS.get(self.name, "Type") if type(self) is Type else type(self).__name__

    def containedTypes(self):
        """Return the types of which this one is made."""
        return list(self.parts)

    def isSubtypeOf(self, other):
        """Return whether values of this type are values of another one."""
        return fits(self, other)

    def key(self):
        """Return what equal types have in common."""
        return self.name

    def __eq__(self, other):
        return isinstance(other, Type) and self.key() == other.key()

    def __hash__(self):
        return hash(self.key())


TENSOR, INT, FLOAT, BOOL, STRING, COMPLEX = (
    Type("Tensor"), Type("int"), Type("float"), Type("bool"), Type("str"), Type("complex"))
NONE, ANY, NUMBER, DEVICE = Type("NoneType", "NoneType"), Type("Any"), Type("Scalar", "number"), Type("Device")
GENERATOR, STREAM, STORAGE, ANY_LIST, ANY_TUPLE, ANY_ENUM, ANY_CLASS = (
    Type("Generator"), Type("Stream"), Type("Storage"), Type("list"), Type("tuple"), Type("AnyEnumType"),
    Type("AnyClassType"))
KINDS = {"Tensor": "TensorType", "int": "IntType", "float": "FloatType", "bool": "BoolType", "str": "StringType",
         "complex": "ComplexType", "NoneType": "NoneType", "Any": "AnyType", "Scalar": "NumberType",
         "Device": "DeviceObjType", "Generator": "GeneratorType", "Stream": "StreamObjType", "Storage": "StorageType",
         "list": "AnyListType", "tuple": "AnyTupleType", "AnyEnumType": "AnyEnumType", "AnyClassType": "AnyClassType"}
NOTHING = Type("NoReturn")  # of what is never reached: it fits everywhere
SIMPLE = {kind.told: kind for kind in (TENSOR, INT, FLOAT, BOOL, STRING, COMPLEX, NONE, ANY, NUMBER, DEVICE, GENERATOR,
                                       STREAM, STORAGE)}


class ListType(Type):
    """A list of one kind of elements."""

    def __init__(self, element):
        self.element = element
        self.parts = (element,)

    def getElementType(self):
        """Return the type of the elements."""
        return self.element

    def __str__(self):
        return f"{self.element}[]"

    def annotation(self):
        """Return the type as a program's annotation."""
        return f"List[{self.element.annotation()}]"

    def key(self):
        """Return what equal types have in common."""
        return ("list", self.element.key())


class FutureType(ListType):
    """What a fork gives."""

    def __str__(self):
        return f"Future({self.element})"

    def annotation(self):
        """Return the type as a program's annotation."""
        return f"Future[{self.element.annotation()}]"

    def key(self):
        """Return what equal types have in common."""
        return ("future", self.element.key())


class DictType(Type):
    """A dictionary."""

    def __init__(self, index, value):
        self.index, self.value = index, value
        self.parts = (index, value)

    def getKeyType(self):
        """Return the type of the keys."""
        return self.index

    def getValueType(self):
        """Return the type of the values."""
        return self.value

    def __str__(self):
        return f"Dict({self.index}, {self.value})"

    def annotation(self):
        """Return the type as a program's annotation."""
        return f"Dict[{self.index.annotation()}, {self.value.annotation()}]"

    def key(self):
        """Return what equal types have in common."""
        return ("dict", self.index.key(), self.value.key())


class TupleType(Type):
    """A tuple, whose elements may have names: those of a class, or those that an operator's results have."""

    def __init__(self, elements, fields=None, qualified=None, made=None, defaults=()):
        self.elements = self.parts = tuple(elements)
        self.fields, self.qualified, self.made, self.defaults = fields, qualified, made, tuple(defaults)

    def __str__(self):
        if self.fields:
            inner = ", ".join(f"{name} : {kind}" for name, kind in zip(self.fields, self.elements))
            return f"NamedTuple({inner})"
        return f"({', '.join(map(str, self.elements))})"

    def annotation(self):
        """Return the type as a program's annotation."""
        if self.qualified:
            return self.qualified
        if not self.elements:
            return "Tuple[()]"
        return f"Tuple[{', '.join(kind.annotation() for kind in self.elements)}]"

    def key(self):
        """Return what equal types have in common."""
        return ("tuple", self.qualified, self.fields, *(kind.key() for kind in self.elements))


class OptionalType(Type):
    """A value or None."""

    def __init__(self, element):
        self.element = element
        self.parts = (element,)

    def getElementType(self):
        """Return the type of what is not None."""
        return self.element

    def __str__(self):
        return f"{self.element}?"

    def annotation(self):
        """Return the type as a program's annotation."""
        return f"Optional[{self.element.annotation()}]"

    def key(self):
        """Return what equal types have in common."""
        return ("union", frozenset((self.element.key(), NONE.key())))


class UnionType(Type):
    """One of several types."""

    def __init__(self, options):
        self.options = self.parts = tuple(options)

    def __str__(self):
        return f"Union({', '.join(map(str, self.options))})"

    def annotation(self):
        """Return the type as a program's annotation."""
        return f"Union[{', '.join(kind.annotation() for kind in self.options)}]"

    def key(self):
        """Return what equal types have in common."""
        return ("union", frozenset(kind.key() for kind in self.options))


class Variable(Type):
    """A type that a call decides, `t` in `list(t[] l) -> t[]`."""

    def key(self):
        """Return what equal types have in common."""
        return ("variable", self.name)


class Named(Type):
    """The base of types that programs define."""

    def __init__(self, qualified):
        self.qualified = self.name = self.told = qualified

    def key(self):
        """Return what equal types have in common."""
        return ("named", id(self))


class ClassType(Named):
    """A class or a module: its attributes, constants and methods.

    Parameters
    ----------
    qualified : str
        Its full name.
    is_module : bool, optional, default=False
        Whether instances are modules.

    """

    def __init__(self, qualified, is_module=False):
        super().__init__(qualified)
        self.is_module = is_module
        self.attributes, self.constants, self.methods, self.properties = {}, {}, {}, {}
        self.parameters, self.buffers = [], []
        self.failed = {}  # attributes that have no type, and why
        self.made = None  # the Python class of instances
        self.bases = ()
        self.unit = None
        self.around = {}  # what names stand for where the class was scripted
        self.pre_hooks, self.hooks = [], []  # names, in the order in which they run
        self.hook_sources, self.hook_methods = {}, {}

    def method(self, name):
        """Return a compiled method; those that wait are compiled first."""
        found = self.methods.get(name)
        return found.ready() if found is not None else None


class InterfaceType(Named):
    """What modules or classes of many kinds have in common."""

    def __init__(self, qualified, is_module=False):
        super().__init__(qualified)
        self.is_module, self.methods = is_module, {}


class EnumType(Named):
    """An enumeration."""

    def __init__(self, qualified, made, value):
        super().__init__(qualified)
        self.made, self.value = made, value

    def __str__(self):
        return f"Enum<{self.qualified}>"

    def key(self):
        """Return what equal types have in common."""
        return ("enum", id(self.made))


def optional(kind):
    """Return a type that may also be None."""
    if kind in (NONE, ANY) or isinstance(kind, OptionalType):
        return kind
    if isinstance(kind, UnionType):
        return kind if NONE in kind.options else UnionType((*kind.options, NONE))
    return OptionalType(kind)


def options_of(kind):
    """Return the alternatives of a type."""
    if isinstance(kind, OptionalType):
        return (*options_of(kind.element), NONE)
    if isinstance(kind, UnionType):
        return tuple(option for part in kind.options for option in options_of(part))
    return (kind,)


def one_of(kinds):
    """Return the type of what is one of several."""
    found = []
    for kind in kinds:
        for option in options_of(kind):
            if not any(fits(option, other) for other in found):
                found = [other for other in found if not fits(other, option)] + [option]
    rest = [kind for kind in found if kind != NONE]
    if not rest:
        return NONE
    inner = rest[0] if len(rest) == 1 else UnionType(rest)
    return optional(inner) if len(rest) < len(found) else inner


def fits(kind, wanted):
    """Return whether a value of a type may stand where another is wanted."""
    if kind == wanted or wanted == ANY or kind == NOTHING:
        return True
    if isinstance(wanted, (OptionalType, UnionType)) or isinstance(kind, (OptionalType, UnionType)):
        if isinstance(kind, (OptionalType, UnionType)):
            return all(fits(option, wanted) for option in options_of(kind))
        return any(fits(kind, option) for option in options_of(wanted))
    if wanted == NUMBER:
        return kind in (INT, FLOAT, COMPLEX, BOOL)
    if wanted == ANY_LIST:
        return type(kind) is ListType
    if wanted == ANY_TUPLE:
        return isinstance(kind, TupleType)
    if wanted == ANY_ENUM:
        return isinstance(kind, EnumType)
    if wanted == ANY_CLASS:
        return isinstance(kind, ClassType)
    if isinstance(kind, TupleType) and isinstance(wanted, TupleType):
        named = not wanted.fields or (wanted.fields, wanted.qualified) == (kind.fields, kind.qualified)
        return named and len(kind.elements) == len(wanted.elements) and all(map(fits, kind.elements, wanted.elements))
    if isinstance(wanted, InterfaceType):
        return offers(kind, wanted)
    if isinstance(wanted, FutureType) and isinstance(kind, FutureType):
        return fits(kind.element, wanted.element)
    return False


def offers(kind, interface):
    """Return whether a class has the methods of an interface."""
    if not isinstance(kind, (ClassType, InterfaceType)) or interface.is_module and not kind.is_module:
        return False
    for name, wanted in interface.methods.items():
        schema = told_schema(kind, name)
        if schema is None or len(schema.arguments) != len(wanted.arguments):
            return False
        for one, other in zip(schema.arguments[1:], wanted.arguments[1:]):
            if not fits(other.type, one.type) or one.name != other.name:
                return False
        if not fits(schema.result, wanted.result):
            return False
    return True


def told_schema(kind, name):
    """Return the signature of a method, as far as it is known without the code of others, or None."""
    found = kind.methods.get(name)
    if found is None and getattr(kind, "made", None) is not None:
        found = kind.unit.method(kind, name, optional=True)
    if getattr(found, "schema", found) is None:
        found = found.ready() if not found.is_compiling else None
    return getattr(found, "schema", found)


def join(one, other):
    """Return the type of what is one thing or another, or None if there is none."""
    if fits(one, other):
        return other
    if fits(other, one):
        return one
    if NONE in (one, other):
        return optional(other if one == NONE else one)
    if isinstance(one, OptionalType) or isinstance(other, OptionalType):
        inner = join(*(kind.element if isinstance(kind, OptionalType) else kind for kind in (one, other)))
        return None if inner is None else optional(inner)
    if isinstance(one, TupleType) and isinstance(other, TupleType) and len(one.elements) == len(other.elements):
        elements = list(map(join, one.elements, other.elements))
        return None if None in elements else TupleType(elements)
    if isinstance(one, FutureType) and isinstance(other, FutureType):
        inner = join(one.element, other.element)
        return inner and FutureType(inner)
    return None


def parts_of(kind):
    """Yield a type and all types within."""
    yield kind
    for part in kind.parts:
        yield from parts_of(part)
