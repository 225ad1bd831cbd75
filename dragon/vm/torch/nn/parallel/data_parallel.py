"""`DataParallel`: one batch over several devices."""
from dragon.vm.torch.core.device import as_device, device_count
from dragon.vm.torch.nn.modules.module import Module
from dragon.vm.torch.nn.parallel.parallel_apply import parallel_apply
from dragon.vm.torch.nn.parallel.replicate import replicate
from dragon.vm.torch.nn.parallel.scatter_gather import gather, scatter_kwargs


def _devices(device_ids):
    """Return the devices to use: those named, or all of CUDA."""
    if device_ids is None:
        device_ids = range(device_count("cuda"))
    return [as_device(device) for device in device_ids]


class DataParallel(Module):
    """A module that shares its batches out over devices; without CUDA, the module alone.

    Parameters
    ----------
    module : Module
        The module, kept as `module`.
    device_ids : Sequence[Union[int, device]], optional
        The devices; all of CUDA by default.
    output_device : Union[int, device], optional
        Where results come together; the first device by default.
    dim : int, optional, default=0
        The axis of the batch.

    """

    def __init__(self, module, device_ids=None, output_device=None, dim=0):
        super().__init__()
        self.dim = dim
        self.module = module
        self.device_ids = _devices(device_ids) if device_count("cuda") else []
        if self.device_ids:
            self.output_device = self.device_ids[0] if output_device is None else as_device(output_device)
            self.src_device_obj = self.device_ids[0]
            if len(self.device_ids) == 1:
                self.module.to(self.src_device_obj)

    def forward(self, *inputs, **kwargs):
        """Return what the module makes of its arguments."""
        if not self.device_ids:
            return self.module(*inputs, **kwargs)
        parts, keyword_parts = self.scatter(inputs, kwargs, self.device_ids)
        if len(self.device_ids) == 1:
            return self.module(*parts[0], **keyword_parts[0])
        replicas = self.replicate(self.module, self.device_ids[:len(parts)])
        return self.gather(self.parallel_apply(replicas, parts, keyword_parts), self.output_device)

    def replicate(self, module, device_ids):
        """Return a copy of a module for each device."""
        return replicate(module, device_ids)

    def scatter(self, inputs, kwargs, device_ids):
        """Return parts of positional and of keyword arguments for each device."""
        return scatter_kwargs(inputs, kwargs, device_ids, self.dim)

    def parallel_apply(self, replicas, inputs, kwargs):
        """Return what each copy makes of its arguments."""
        return parallel_apply(replicas, inputs, kwargs, self.device_ids[:len(replicas)])

    def gather(self, outputs, output_device):
        """Return the results of all devices as one."""
        return gather(outputs, output_device, self.dim)


def data_parallel(module, inputs, device_ids=None, output_device=None, dim=0, module_kwargs=None):
    """Return what a module makes of a batch that is shared out over devices."""
    inputs = inputs if isinstance(inputs, tuple) else (inputs,)
    devices = _devices(device_ids) if device_count("cuda") else []
    if not devices:
        return module(*inputs, **(module_kwargs or {}))
    parts, keyword_parts = scatter_kwargs(inputs, module_kwargs, devices, dim)
    if len(devices) == 1:
        return module(*parts[0], **keyword_parts[0])
    used = devices[:len(parts)]
    results = parallel_apply(replicate(module, used), parts, keyword_parts, used)
    return gather(results, devices[0] if output_device is None else output_device, dim)
