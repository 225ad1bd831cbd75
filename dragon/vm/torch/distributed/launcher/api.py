"""Programs and functions in several processes of this machine, started anew when one of them ends badly."""
import os
import signal
import tempfile
import uuid
from dataclasses import dataclass, field

from dragon.distributed.functions import FunctionLauncher
from dragon.distributed.errors import StoreError
from dragon.distributed.launch import Launcher, RankFailed
from dragon.distributed.nodes import JOIN_SECONDS, LAST_CALL_SECONDS, Nodes, check_numbers, is_here
from dragon.distributed.stores.prefix import PrefixStore
from dragon.distributed.stores.tcp import TCPStore
from dragon.vm.torch.distributed.elastic.multiprocessing.api import DefaultLogsSpecs, LogsSpecs
from dragon.vm.torch.distributed.elastic.multiprocessing.errors import ChildFailedError, ProcessFailure, record
from dragon.vm.torch.distributed.elastic.utils.distributed import get_free_port

DEFAULT_PORT = 29500  # where launchers of several machines meet


@dataclass
class LaunchConfig:
    """How processes are started.

    Parameters
    ----------
    min_nodes, max_nodes : int
        How many machines there have to be, and may be.
    nproc_per_node : int
        How many processes.
    logs_specs : LogsSpecs, optional
        Where outputs go.
    run_id : str, optional
        The name of this run.
    role : str, optional
        What the processes are called.
    rdzv_endpoint : str, optional
        host:port where they meet; a free port of this machine unless given.
    rdzv_backend : str, optional
        "static": the machine's number is `rdzv_configs["rank"]`; with any other, the endpoint's machine is the first.
    rdzv_configs : Dict[str, Any], optional
        "rank", and in seconds "join_timeout" and "last_call_timeout" of several machines.
    rdzv_timeout : int, optional
        Put into `rdzv_configs`.
    max_restarts : int, optional, default=3
        How often all are started anew after one has ended badly.
    monitor_interval : float, optional
        Accepted: ends are noticed at once.
    start_method : str, optional, default="spawn"
        How functions get their processes: spawn, fork or forkserver.
    log_line_prefix_template : str, optional
        Accepted: lines are as the processes write them.
    metrics_cfg, local_addr, event_log_handler, numa_options
        Accepted: of services that a machine alone does not have.
    signals_to_handle : str, optional, default="SIGTERM,SIGINT,SIGHUP,SIGQUIT"
        Signals that end all processes, and then the launcher.
    virtual_local_rank : bool, optional, default=False
        Whether each process finds LOCAL_RANK=0: a GPU of its own would be its first one.
    shutdown_timeout : int, optional
        Seconds from a process being asked to end until it is made to; 30 unless the environment says otherwise.
    duplicate_stdout_filters, duplicate_stderr_filters : List[str], optional
        Accepted: outputs are not written twice.

    """

    min_nodes: int
    max_nodes: int
    nproc_per_node: int
    logs_specs: LogsSpecs | None = None
    run_id: str = ""
    role: str = "default_role"
    rdzv_endpoint: str = ""
    rdzv_backend: str = "etcd"
    rdzv_configs: dict = field(default_factory=dict)
    rdzv_timeout: int = -1
    max_restarts: int = 3
    monitor_interval: float = 0.1
    start_method: str = "spawn"
    log_line_prefix_template: str | None = None
    metrics_cfg: dict = field(default_factory=dict)
    local_addr: str | None = None
    event_log_handler: str = "null"
    numa_options: object = None
    signals_to_handle: str = "SIGTERM,SIGINT,SIGHUP,SIGQUIT"
    duplicate_stdout_filters: list | None = None
    duplicate_stderr_filters: list | None = None
    virtual_local_rank: bool = False
    shutdown_timeout: int | None = None

    def __post_init__(self):
        if self.rdzv_timeout != -1:
            self.rdzv_configs["timeout"] = self.rdzv_timeout
        self.rdzv_configs.setdefault("timeout", 900)
        self.logs_specs = self.logs_specs or DefaultLogsSpecs()
        if self.shutdown_timeout is None:
            self.shutdown_timeout = int(os.environ.get("TORCH_ELASTIC_SHUTDOWN_TIMEOUT", "30"))
        elif self.shutdown_timeout < 0:
            raise ValueError(f"shutdown_timeout must be non-negative, got {self.shutdown_timeout}")


class elastic_launch:
    """A function, or a program, that runs in several processes when it is called.

    Parameters
    ----------
    config : LaunchConfig
        How they are started.
    entrypoint : Union[Callable, str]
        The function, or the program's path.
    health_check_server : Any, optional
        Accepted: nobody asks a machine alone whether it is well.

    """

    def __init__(self, config, entrypoint, health_check_server=None):
        self._config, self._entrypoint = config, entrypoint

    def __call__(self, *args):
        return launch_agent(self._config, self._entrypoint, list(args))


def _place(config, port_of_many=None):
    """Return the address and the port of rank 0; a free one where none is told, unless others have to know it."""
    host, _, port = config.rdzv_endpoint.strip().rpartition(":")
    if host and port.isdigit() and int(port):
        return host.strip("[]"), int(port)
    return host or port or "127.0.0.1", port_of_many or get_free_port()


def _signal(word):
    """Return a signal by its name."""
    try:
        return signal.Signals[word.strip()]
    except KeyError:
        raise ValueError(f"elastic_launch: got the signal {word.strip()!r}, expected one of this system's, such as "
                         "SIGTERM") from None


def join_nodes(launcher, nodes, rank, endpoint, configs, run, local_address=None):
    """Have a launcher run its part of a program of several machines.

    Parameters
    ----------
    launcher : dragon.distributed.launch.Launcher
        What starts the processes of this machine.
    nodes : Tuple[int, int]
        How many machines there have to be, and may be.
    rank : int, optional
        The number of this machine; without it the one with the endpoint is the first.
    endpoint : Tuple[str, int]
        Where the launchers meet: an address and a port of the first machine.
    configs : Dict[str, Any]
        "join_timeout" (or "timeout") and "last_call_timeout", in seconds.
    run : str
        The name of the program's run, the same on all machines.
    local_address : str, optional
        The name of this machine, to be compared with the endpoint's.

    """
    check_numbers(*nodes, rank)
    host, port = endpoint
    keeps = rank == 0 if rank is not None else is_here(host) or host == local_address
    wait = float(configs.get("join_timeout", configs.get("timeout", JOIN_SECONDS)))
    try:
        store = TCPStore(host, port, keeps, wait)
    except StoreError:
        if rank is not None or not keeps:
            raise
        keeps = False  # another launcher of this machine does
        store = TCPStore(host, port, keeps, wait)
    launcher.nodes = Nodes(PrefixStore(f"torchrun/{run}", store), keeps, launcher.count, *nodes, rank, wait,
                           float(configs.get("last_call_timeout", LAST_CALL_SECONDS)))
    launcher.words_of = lambda place: {
        "MASTER_ADDR": host, "MASTER_PORT": str(place.port), "GROUP_RANK": str(place.node),
        "GROUP_WORLD_SIZE": str(place.nodes), "ROLE_WORLD_SIZE": str(place.world_size)}


def worker_environment(role, count, host, port, restarts, run):
    """Return what each process of a run finds in its environment, besides its rank."""
    environment = {"MASTER_ADDR": host, "MASTER_PORT": str(port), "GROUP_RANK": "0", "GROUP_WORLD_SIZE": "1",
                   "ROLE_NAME": role, "ROLE_WORLD_SIZE": str(count), "TORCHELASTIC_MAX_RESTARTS": str(restarts),
                   "TORCHELASTIC_RUN_ID": run, "TORCHELASTIC_USE_AGENT_STORE": "False"}
    if "OMP_NUM_THREADS" not in os.environ and count > 1:
        environment["OMP_NUM_THREADS"] = "1"
    return environment


def run_watched(launcher, name, virtual=False):
    """Run a launcher's processes; raise `ChildFailedError` with what they have written of their errors.

    Parameters
    ----------
    launcher : dragon.distributed.launch.Launcher
        What starts and watches them.
    name : str
        What they run.
    virtual : bool, optional, default=False
        Whether each process is told that it is the first of its machine.

    Returns
    -------
    Any
        What the launcher returns.

    """
    launcher.restart_name = "TORCHELASTIC_RESTART_COUNT"
    shown = {"LOCAL_RANK": "0"} if virtual else {}
    with tempfile.TemporaryDirectory(prefix="torchelastic_") as folder:
        def path_of(local):
            return os.path.join(folder, f"{launcher.restarted}-{local}.json")
        launcher.special = lambda local: {"TORCHELASTIC_ERROR_FILE": path_of(local),
                                          "ROLE_RANK": str(launcher.first_rank + local), **shown}
        try:
            return launcher.run()
        except RankFailed as error:
            failures = {one.rank: ProcessFailure(one.local_rank, one.process, one.code, path_of(one.local_rank))
                        for one in error.failures}
            raise ChildFailedError(name, failures) from error


def _call_recorded(function, *args):
    """Call a function in a new process; its error goes to a file."""
    return record(function)(*args)


def launch_agent(config, entrypoint, args, health_check_server=None):
    """Run a function, or a program, in several processes; see `elastic_launch`.

    Parameters
    ----------
    config : LaunchConfig
        How they are started.
    entrypoint : Union[Callable, str]
        The function, or the program's path.
    args : List[Any]
        Its arguments.
    health_check_server : Any, optional
        Accepted: nobody asks a machine alone whether it is well.

    Returns
    -------
    Dict[int, Any]
        What the function returned in each process; None of a program.

    """
    check_numbers(config.min_nodes, config.max_nodes)
    config.run_id = config.run_id or uuid.uuid4().hex
    count, logs = config.nproc_per_node, config.logs_specs
    options = {"environment": worker_environment(config.role, count, *_place(config), config.max_restarts,
                                                 config.run_id),
               "restarts": config.max_restarts,
               "output": lambda local, attempt: logs.open(config.run_id, attempt, local)}
    if callable(entrypoint):
        launcher = FunctionLauncher(_call_recorded, [entrypoint, *args], count, config.start_method, **options)
        name = entrypoint.__name__
    else:
        launcher, name = Launcher([entrypoint, *map(str, args)], count, **options), entrypoint
    if config.max_nodes > 1:
        rank = config.rdzv_configs.get("rank", -1) if config.rdzv_backend == "static" else -1
        join_nodes(launcher, (config.min_nodes, config.max_nodes), None if int(rank) < 0 else int(rank),
                   _place(config, DEFAULT_PORT), config.rdzv_configs, config.run_id, config.local_addr)
    launcher.patience = config.shutdown_timeout
    launcher.signals = [_signal(word) for word in config.signals_to_handle.split(",") if word.strip()]
    values = run_watched(launcher, name, config.virtual_local_rank)
    return values or dict.fromkeys(range(count))
