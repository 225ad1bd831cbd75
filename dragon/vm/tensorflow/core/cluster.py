"""`tf.train.ClusterSpec`: which machines do which job; programs of several machines describe them so."""
from dragon.vm.shared.files.messages import make_message
from dragon.vm.shared.files.protobuf import Field
from dragon.vm.tensorflow.core.first.graphs import ConfigProto

JobDef = make_message("JobDef", "A job: the addresses of its tasks by their numbers.", name=Field(1, "string"),
                      tasks=Field(2, "string", mapped="int32"))
ClusterDef = make_message("ClusterDef", "The jobs of a cluster.", job=Field(1, JobDef, True))
ServerDef = make_message(
    "ServerDef", "One task of a cluster, and how it serves.", cluster=Field(1, ClusterDef), job_name=Field(2, "string"),
    task_index=Field(3, "int32"), default_session_config=Field(4, ConfigProto), protocol=Field(5, "string"),
    port=Field(6, "int32"))
for _kind in (JobDef, ClusterDef, ServerDef):
    _kind.__module__ = __name__


class ClusterSpec:
    """Names of jobs, with the addresses of their tasks. Nothing is connected to by it.

    Parameters
    ----------
    cluster : Union[Dict[str, Union[List[str], Dict[int, str]]], ClusterSpec, ClusterDef]
        For each job, addresses in order, or by the numbers of tasks.

    Examples
    --------
    >>> cluster = tf.train.ClusterSpec({"worker": ["one:2222", "two:2222"], "ps": ["three:2222"]})
    >>> cluster.num_tasks("worker"), cluster.task_address("ps", 0)
    (2, 'three:2222')

    """

    def __init__(self, cluster):
        if isinstance(cluster, ClusterSpec):
            self._jobs = {job: dict(tasks) for job, tasks in cluster._jobs.items()}
            return
        if isinstance(cluster, ClusterDef):
            self._jobs = {job.name: dict(job.tasks) for job in cluster.job}
            return
        if not isinstance(cluster, dict):
            raise TypeError("`cluster` must be a dictionary mapping one or more job names to lists of network "
                            f"addresses, or a `ClusterSpec`. Received: {cluster!r}")
        self._jobs = {}
        for job, tasks in cluster.items():
            if isinstance(tasks, (list, tuple)):
                tasks = dict(enumerate(tasks))
            elif isinstance(tasks, dict):
                tasks = {int(number): address for number, address in tasks.items()}
            else:
                raise TypeError(f"The tasks for job {job!r} must be a list or a dictionary from integers to strings. "
                                f"Received: {tasks!r}")
            for text in (job, *tasks.values()):
                if not isinstance(text, str):
                    raise TypeError(f"ClusterSpec: got {text!r}, expected text")
            self._jobs[job] = tasks

    jobs = property(lambda self: list(self._jobs), doc="List[str]: the names of the jobs.")

    def _of(self, job):
        if job not in self._jobs:
            raise ValueError(f"No such job in cluster: {job!r}")
        return self._jobs[job]

    def num_tasks(self, job_name):
        """Return how many tasks a job has."""
        return len(self._of(job_name))

    def task_indices(self, job_name):
        """Return the numbers of a job's tasks."""
        return sorted(self._of(job_name))

    def task_address(self, job_name, task_index):
        """Return the address of a task."""
        tasks = self._of(job_name)
        if task_index not in tasks:
            raise ValueError(f"No task with index {task_index!r} in job {job_name!r}")
        return tasks[task_index]

    def job_tasks(self, job_name):
        """Return the addresses of a job's tasks in order, None where a number has none."""
        tasks = self._of(job_name)
        return [tasks.get(number) for number in range(max(tasks, default=-1) + 1)]

    def as_dict(self):
        """Return the cluster as a dictionary: lists where the tasks have all numbers from 0."""
        return {job: [tasks[number] for number in sorted(tasks)] if sorted(tasks) == list(range(len(tasks)))
                else dict(tasks) for job, tasks in self._jobs.items()}

    def as_cluster_def(self):
        """Return the cluster as a message, the jobs by name."""
        return ClusterDef(job=[JobDef(name=job, tasks=dict(sorted(self._jobs[job].items()))) for job in
                               sorted(self._jobs)])

    def __bool__(self):
        return bool(self._jobs)

    def __eq__(self, other):
        return self._jobs == (other._jobs if isinstance(other, ClusterSpec) else other)

    __hash__ = None

    def __repr__(self):
        told = self.as_dict()
        return f"ClusterSpec({{{', '.join(f'{job!r}: {told[job]!r}' for job in sorted(told))}}})"
