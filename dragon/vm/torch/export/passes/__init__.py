"""`torch.export.passes`: what is done with exported programs."""
from dragon.vm.torch.core.device import device as Device
from dragon.vm.torch.nn.parameter import Parameter


def move_to_device_pass(ep, location):
    """Move a program's state, and what its graph says of devices.

    Parameters
    ----------
    ep : ExportedProgram
        The program; it is changed.
    location : Union[torch.device, str, Dict[str, str]]
        Where to, or a dictionary of places.

    Returns
    -------
    ExportedProgram
        The program.

    """
    def moved(place):
        if isinstance(location, dict):
            return Device(location.get(str(place), str(place)))
        return Device(location)
    for table in (ep.state_dict, ep.constants):
        for name, value in list(table.items()):
            if hasattr(value, "device"):
                found = value.detach().to(moved(value.device))
                table[name] = Parameter(found, value.requires_grad) if isinstance(value, Parameter) else found
    for node in ep.graph.nodes:
        if "device" in node.kwargs:
            node.kwargs = {**node.kwargs, "device": moved(node.kwargs["device"])}
        elif str(node.target) == "aten.to.device":
            node.args = (node.args[0], moved(node.args[1]), *node.args[2:])
    ep.graph_module.recompile()
    return ep
