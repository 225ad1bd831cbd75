"""Call several modules with their own arguments."""


def parallel_apply(modules, inputs, kwargs_tup=None, devices=None):
    """Return what each module makes of its arguments; devices work at the same time, as their queues allow.

    Parameters
    ----------
    modules : Sequence[Module]
        The modules.
    inputs : Sequence[Any]
        A tuple of arguments, or the only one, for each.
    kwargs_tup : Sequence[Dict[str, Any]], optional
        Keyword arguments for each.
    devices : Sequence[Union[int, device]], optional
        Where the modules are.

    Returns
    -------
    List[Any]
        The results.

    """
    if len(modules) != len(inputs):
        raise AssertionError(f"The number of modules {len(modules)} is not equal to the number of inputs {len(inputs)}")
    kwargs_tup = [{}] * len(modules) if kwargs_tup is None else kwargs_tup
    return [module(*(given if isinstance(given, (list, tuple)) else (given,)), **keywords)
            for module, given, keywords in zip(modules, inputs, kwargs_tup)]
