"""Ray, where it is installed: all modules of this package can be imported without, and say so when they are used."""
from dragon.core.distribution import install_words

try:
    import ray
    from ray.train.backend import Backend, BackendConfig
    from ray.train.v2.api.data_parallel_trainer import DataParallelTrainer
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] not in ("ray", "pandas", "pyarrow"):
        raise
    ray, Backend, BackendConfig, DataParallelTrainer = None, object, object, object


def require(who):
    """Raise where there is no Ray."""
    if ray is None:
        raise ImportError(f"{who}: got no package ray with its part for training, expected it: "
                          f"`{install_words('ray')}`", name="ray")
