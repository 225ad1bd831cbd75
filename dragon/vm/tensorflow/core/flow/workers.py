"""The processes of a strategy, as the environment variable TF_CONFIG tells them."""
import json
import os

ORDER = ("chief", "master", "worker")  # of jobs that train, the first task first


def told(resolver=None):
    """Return (addresses of all that train, which one this process is, the kind of its task), as a cluster is told.

    Parameters
    ----------
    resolver : ClusterResolver, optional
        Who tells it; the environment variable `TF_CONFIG` by default.

    """
    if resolver is not None:
        cluster = resolver.cluster_spec().as_dict()
        kind, number = resolver.task_type, resolver.task_id
    else:
        try:
            config = json.loads(os.environ.get("TF_CONFIG") or "{}")
        except ValueError as error:
            raise ValueError(f"TF_CONFIG: got {os.environ['TF_CONFIG']!r}, expected JSON ({error})") from None
        cluster, task = config.get("cluster", {}), config.get("task", {})
        kind, number = task.get("type"), task.get("index", 0)
    if kind == "evaluator":  # it trains with nobody
        return [], 0, kind
    places = [(job, index, address) for job in ORDER for index, address in enumerate(cluster.get(job, ()))]
    if len(places) < 2:
        return [address for _, _, address in places], 0, kind
    mine = [at for at, (job, index, _) in enumerate(places) if (job, index) == (kind, int(number or 0))]
    if not mine:
        raise ValueError(f"TF_CONFIG: got the task {kind!r} {number!r}, expected one of the cluster's that train: "
                         f"{[(job, index) for job, index, _ in places]}")
    return [address for _, _, address in places], mine[0], kind
