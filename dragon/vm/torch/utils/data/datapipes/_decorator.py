"""Classes of pipes as methods of all pipes."""
from dragon.vm.torch.utils.data.datapipes.datapipe import IterDataPipe, MapDataPipe


class functional_datapipe:
    """Make the decorated class a method of all pipes of its kind.

    Parameters
    ----------
    name : str
        The method's name.
    enable_df_api_tracing : bool, optional, default=False
        Must be False: there are no data frames.

    """

    def __init__(self, name, enable_df_api_tracing=False):
        if enable_df_api_tracing:
            raise NotImplementedError("functional_datapipe: got enable_df_api_tracing=True, expected False")
        self.name = name

    def __call__(self, cls):
        kind = next((kind for kind in (IterDataPipe, MapDataPipe) if issubclass(cls, kind)), None)
        if kind is None:
            raise TypeError("`functional_datapipe` can only decorate IterDataPipe or MapDataPipe")
        kind.register_datapipe_as_function(self.name, cls)
        return cls
