"""What goes into a module and what comes out of it, put on a mesh and moved there; its weights stay as they are."""
from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.distributed.tensor.parallel.style import ParallelStyle, moved, on_mesh


def _listed(value):
    """Return placements as a tuple; None as none."""
    return value if isinstance(value, tuple) or value is None else tuple(value) if isinstance(value, list) else (value,)


def _prepared(x, mesh, layout, wanted, use_local):
    """Return a tensor as a module shall get it, or as it shall be given."""
    if layout is None or not isinstance(x, Tensor):
        return x
    x = on_mesh(x, mesh, (layout,))
    if wanted is not None and wanted != layout:
        x = moved(x, (wanted,))
    return x.to_local() if use_local else x


class PrepareModuleInput(ParallelStyle):
    """Put the arguments of a module on a mesh, and move them.

    Parameters
    ----------
    input_layouts : Union[Placement, Tuple[Optional[Placement], ...]], optional
        For each positional argument, how parts make the whole; None leaves it.
    desired_input_layouts : Union[Placement, Tuple[Optional[Placement], ...]], optional
        How they shall lie.
    input_kwarg_layouts : Dict[str, Placement], optional
        How parts make the whole, of arguments by name.
    desired_input_kwarg_layouts : Dict[str, Placement], optional
        How these shall lie.
    use_local_output : bool, optional, default=False
        Whether the module gets parts, as plain tensors.

    """

    def __init__(self, *, input_layouts=None, desired_input_layouts=None, input_kwarg_layouts=None,
                 desired_input_kwarg_layouts=None, use_local_output=False):
        self.input_layouts, self.desired_input_layouts = _listed(input_layouts), _listed(desired_input_layouts)
        self.use_local_output = use_local_output
        if self.input_layouts is not None:
            if self.desired_input_layouts is None:
                raise AssertionError("desired module inputs should not be None!")
            if len(self.input_layouts) != len(self.desired_input_layouts):
                raise AssertionError("input_layouts and desired_input_layouts should have same length!")
        self.with_kwargs = input_kwarg_layouts is not None
        self.input_kwarg_layouts = input_kwarg_layouts or {}
        self.desired_input_kwarg_layouts = desired_input_kwarg_layouts or {}
        if self.with_kwargs and len(self.input_kwarg_layouts) != len(self.desired_input_kwarg_layouts):
            raise AssertionError("input_kwarg_layouts and desired_input_kwarg_layouts should have same length!")

    def _prepare(self, inputs, mesh):
        if self.input_layouts is None:
            return inputs
        inputs = inputs if isinstance(inputs, tuple) else (inputs,)
        if len(inputs) != len(self.input_layouts):
            raise ValueError("module inputs and input_layouts should have same length!")
        return tuple(_prepared(x, mesh, layout, wanted, self.use_local_output) for x, layout, wanted in zip(
            inputs, self.input_layouts, self.desired_input_layouts))

    def _apply(self, module, device_mesh):
        def take(owner, inputs, named):
            made = {name: _prepared(x, device_mesh, self.input_kwarg_layouts.get(name),
                                    self.desired_input_kwarg_layouts.get(name), self.use_local_output)
                    for name, x in named.items()}
            return self._prepare(inputs, device_mesh), made
        if self.with_kwargs:
            module.register_forward_pre_hook(take, with_kwargs=True)
        else:
            module.register_forward_pre_hook(lambda owner, inputs: self._prepare(inputs, device_mesh))
        return module

    def __repr__(self):
        return f"{type(self).__name__}(input_layouts={self.input_layouts}, desired_input_layouts=" \
               f"{self.desired_input_layouts}, input_kwarg_layouts={self.input_kwarg_layouts}, " \
               f"desired_input_kwarg_layouts={self.desired_input_kwarg_layouts}, use_local_output=" \
               f"{self.use_local_output})"


class PrepareModuleOutput(ParallelStyle):
    """Put the results of a module on a mesh, and move them.

    Parameters
    ----------
    output_layouts : Union[Placement, Tuple[Optional[Placement], ...]]
        For each result, how parts make the whole; None leaves it.
    desired_output_layouts : Union[Placement, Tuple[Optional[Placement], ...]]
        How they shall lie.
    use_local_output : bool, optional, default=True
        Whether parts are returned, as plain tensors.

    """

    def __init__(self, *, output_layouts, desired_output_layouts, use_local_output=True):
        self.output_layouts, self.desired_output_layouts = _listed(output_layouts), _listed(desired_output_layouts)
        self.use_local_output = use_local_output
        if len(self.output_layouts) != len(self.desired_output_layouts):
            raise AssertionError("output_layouts and desired_output_layouts should have same length!")

    def _prepare(self, outputs, mesh):
        many = isinstance(outputs, tuple)
        given = outputs if many else (outputs,)
        if len(given) != len(self.output_layouts):
            raise ValueError("module outputs and output_layouts should have same length!")
        made = tuple(_prepared(x, mesh, layout, wanted, self.use_local_output) for x, layout, wanted in zip(
            given, self.output_layouts, self.desired_output_layouts))
        return made if many else made[0]

    def _apply(self, module, device_mesh):
        module.register_forward_hook(lambda owner, inputs, outputs: self._prepare(outputs, device_mesh))
        return module

    def __repr__(self):
        return f"{type(self).__name__}(output_layouts={self.output_layouts}, desired_output_layouts=" \
               f"{self.desired_output_layouts}, use_local_output={self.use_local_output})"


class PrepareModuleInputOutput(ParallelStyle):
    """Put the arguments and the results of a module on a mesh, and move them.

    Parameters
    ----------
    input_layouts : Union[Placement, Tuple[Optional[Placement], ...]], optional
        For each positional argument, how parts make the whole; None leaves it.
    desired_input_layouts : Union[Placement, Tuple[Optional[Placement], ...]], optional
        How they shall lie.
    input_kwarg_layouts : Dict[str, Placement], optional
        How parts make the whole, of arguments by name.
    desired_input_kwarg_layouts : Dict[str, Placement], optional
        How these shall lie.
    use_local_input : bool, optional, default=False
        Whether the module gets parts, as plain tensors.
    output_layouts : Union[Placement, Tuple[Optional[Placement], ...]]
        For each result, how parts make the whole; None leaves it.
    desired_output_layouts : Union[Placement, Tuple[Optional[Placement], ...]]
        How they shall lie.
    use_local_output : bool, optional, default=True
        Whether parts are returned, as plain tensors.

    """

    def __init__(self, *, input_layouts=None, desired_input_layouts=None, input_kwarg_layouts=None,
                 desired_input_kwarg_layouts=None, use_local_input=False, output_layouts, desired_output_layouts,
                 use_local_output=True):
        self.prepare_module_input = PrepareModuleInput(
            input_layouts=input_layouts, desired_input_layouts=desired_input_layouts,
            input_kwarg_layouts=input_kwarg_layouts, desired_input_kwarg_layouts=desired_input_kwarg_layouts,
            use_local_output=use_local_input)
        self.prepare_module_output = PrepareModuleOutput(
            output_layouts=output_layouts, desired_output_layouts=desired_output_layouts,
            use_local_output=use_local_output)

    def _apply(self, module, device_mesh):
        self.prepare_module_input._apply(module, device_mesh)
        return self.prepare_module_output._apply(module, device_mesh)

    def __repr__(self):
        return f"{type(self).__name__}({self.prepare_module_input!r}, {self.prepare_module_output!r})"
