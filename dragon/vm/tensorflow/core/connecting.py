"""Single operators on other processes: there are none, which each name says; `core/servers` sends functions."""


def _refusal(who, what):
    return NotImplementedError(f"{who}: got {what!r}, expected work for this process alone: no other one is served or "
                               "asked")


def experimental_connect_to_host(remote_host=None, job_name="worker"):
    """Raise: no other process is asked to work.

    Parameters
    ----------
    remote_host : Union[str, Sequence[str]]
        Its address.
    job_name : str, optional, default="worker"
        What it does.

    """
    if not remote_host:
        raise ValueError(f"Must provide at least one remote_host. Received: {remote_host!r}")
    raise _refusal("tf.config.experimental_connect_to_host", remote_host)


def experimental_connect_to_cluster(cluster_spec_or_resolver, job_name="localhost", task_index=0, protocol=None,
                                    make_master_device_default=True, cluster_device_filters=None):
    """Raise: no other process is asked to work.

    Parameters
    ----------
    cluster_spec_or_resolver : Union[ClusterSpec, ClusterResolver]
        The cluster.
    job_name, task_index, protocol, make_master_device_default, cluster_device_filters : optional
        Which task this process is, and how it speaks to the others.

    """
    raise _refusal("tf.config.experimental_connect_to_cluster", cluster_spec_or_resolver)
