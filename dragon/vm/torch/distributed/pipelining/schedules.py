"""Schedules: they cut a batch into pieces and send them through the stages, there and back.

A process follows its list of actions. Messages are kept until somebody asks for them, by stage and piece, so that any
order in which each action comes after what it needs ends well.
"""
import csv

from dragon.core import files
from dragon.vm import torch
from dragon.vm.torch.distributed.pipelining import _orders
from dragon.vm.torch.distributed.pipelining._orders import FORWARD, INPUT, WEIGHT, _Action
from dragon.vm.torch.distributed.pipelining.microbatch import (TensorChunkSpec, _split_tensor, merge_chunks,
                                                               split_args_kwargs_into_chunks)


class _PipelineSchedule:
    """What all schedules do.

    Parameters
    ----------
    n_microbatches : int
        How many pieces a batch has.
    loss_fn : Callable, optional
        The loss of an output and a target; without it nothing goes back.
    args_chunk_spec : Tuple[TensorChunkSpec, ...], optional
        How positional arguments are cut.
    kwargs_chunk_spec : Dict[str, TensorChunkSpec], optional
        How named ones are.
    output_merge_spec : Any, optional
        How outputs become one again.
    scale_grads : bool, optional, default=True
        Whether gradients are divided by the number of pieces, as losses that are means ask for.

    """

    def __init__(self, n_microbatches, loss_fn=None, args_chunk_spec=None, kwargs_chunk_spec=None,
                 output_merge_spec=None, scale_grads=True):
        self._n_microbatches, self._loss_fn, self.scale_grads = n_microbatches, loss_fn, scale_grads
        self._args_chunk_spec, self._kwargs_chunk_spec = args_chunk_spec, kwargs_chunk_spec
        self._output_merge_spec = output_merge_spec
        self._has_backward = loss_fn is not None
        self._stages, self.pipeline_order = [], {}

    def step(self, *args, target=None, losses=None, return_outputs=True, loss_kwargs=None, **kwargs):
        """Send a batch through, there and back.

        Parameters
        ----------
        args, kwargs : Any
            The model's arguments; positional ones where the first stage is.
        target : torch.Tensor, optional
            What the loss compares with, where the last stage is.
        losses : list, optional
            Gets the losses of the pieces, where the last stage is.
        return_outputs : bool, optional, default=True
            Whether the outputs are returned, where the last stage is.
        loss_kwargs : Dict[str, Any], optional
            More arguments of the loss.

        Returns
        -------
        Any
            The outputs where the last stage is, None elsewhere.

        """
        if self._has_backward and not torch.is_grad_enabled():
            raise RuntimeError("step() requires gradients to be enabled for backward computation; it should not be "
                               "used under torch.no_grad() context. Please call eval() instead.")
        pieces = self._split_inputs(args, kwargs)
        targets = None
        if target is not None:
            targets = list(_split_tensor(target, TensorChunkSpec(0), self._n_microbatches))
        for stage in self._stages:
            stage.has_backward = self._has_backward
            stage.clear_runtime_states()
        self._step_microbatches(*pieces, targets, losses, return_outputs, loss_kwargs)
        for stage in self._stages:
            if stage.is_last and return_outputs:
                return merge_chunks(stage.output_chunks, self._output_merge_spec)
        return None

    def eval(self, *args, target=None, losses=None, **kwargs):
        """Send a batch through, there and not back; see `step`."""
        before, self._has_backward = self._has_backward, False
        try:
            return self.step(*args, target=target, losses=losses, **kwargs)
        finally:
            self._has_backward = before

    def _split_inputs(self, args, kwargs=None):
        if not args and not kwargs:
            return [()] * self._n_microbatches, [{}] * self._n_microbatches
        return split_args_kwargs_into_chunks(args, kwargs, self._n_microbatches, self._args_chunk_spec,
                                             self._kwargs_chunk_spec)

    def _check_inputs(self, arg_mbs, kwarg_mbs, target_mbs, losses):
        """Return the arguments of the pieces, or raise."""
        for name, pieces in (("arg_mbs", arg_mbs), ("kwarg_mbs", kwarg_mbs), ("target_mbs", target_mbs)):
            if pieces is None:
                continue
            if not isinstance(pieces, list):
                raise TypeError(f"{name} must be a list but got a {type(pieces)}")
            if len(pieces) != self._n_microbatches:
                raise ValueError(f"Expecting {self._n_microbatches} {name} but got {len(pieces)}")
        if losses is not None and not isinstance(losses, list):
            raise TypeError(f"losses must be a list but got a {type(losses)}")
        if self._has_backward and target_mbs is None and any(stage.is_last for stage in self._stages):
            raise ValueError(f"{type(self).__name__}: got a loss_fn and no target where the last stage is, expected "
                             "step(..., target=...)")
        return arg_mbs or [()] * self._n_microbatches, kwarg_mbs or [{}] * self._n_microbatches

    def _compute_loss(self, output, target, loss_kwargs=None):
        return self._loss_fn(output, target, **(loss_kwargs or {}))

    def _my_order(self):
        """Return what this process does."""
        order = self.pipeline_order[self._stages[0].group_rank]
        if self._has_backward:
            return order
        # Without a way back, pieces go one after another through all stages.
        return sorted((action for action in order if action and action.computation_type is FORWARD),
                      key=lambda action: action.microbatch_index)

    def _step_microbatches(self, arg_mbs=None, kwarg_mbs=None, target_mbs=None, losses=None, return_outputs=True,
                           loss_kwargs=None):
        """Send pieces through."""
        arg_mbs, kwarg_mbs = self._check_inputs(arg_mbs, kwarg_mbs, target_mbs, losses)
        stages, found, left = {stage.stage_index: stage for stage in self._stages}, {}, {}
        for number, kind, piece in filter(None, self._my_order()):
            stage = stages[number]
            if kind is FORWARD:
                output = stage.forward_one_chunk(piece, arg_mbs[piece], kwarg_mbs[piece], return_outputs,
                                                 stages.get(number + 1))
                if stage.is_last and self._loss_fn is not None and target_mbs is not None:
                    found[piece] = self._compute_loss(output, target_mbs[piece], loss_kwargs)
                continue
            if kind is not INPUT:
                left[number] = left.get(number, 0) + 1
            is_last = left.get(number) == self._n_microbatches
            if kind is WEIGHT:
                stage.backward_weight_one_chunk(piece, is_last)
            else:
                stage.backward_one_chunk(piece, found.get(piece), kind is not INPUT, is_last, stages.get(number - 1))
        for stage in self._stages:
            stage.finish_sending()
            if self._has_backward and self.scale_grads:
                stage.scale_grads(self._n_microbatches)
        if losses is not None and any(stage.is_last for stage in self._stages):
            losses[:] = [found[piece] for piece in sorted(found)]


class PipelineScheduleSingle(_PipelineSchedule):
    """Schedules of one stage in each process.

    Parameters
    ----------
    stage : PipelineStage
        The stage.
    n_microbatches : int
        How many pieces a batch has.
    loss_fn, args_chunk_spec, kwargs_chunk_spec, output_merge_spec, scale_grads
        As of all schedules: the loss, how arguments are cut and outputs become one, and whether gradients are divided.

    """

    def __init__(self, stage, n_microbatches, loss_fn=None, args_chunk_spec=None, kwargs_chunk_spec=None,
                 output_merge_spec=None, scale_grads=True):
        super().__init__(n_microbatches, loss_fn, args_chunk_spec, kwargs_chunk_spec, output_merge_spec, scale_grads)
        self._stage, self._stages, self._num_stages = stage, [stage], stage.num_stages
        if stage.num_stages != stage.group_size:
            raise ValueError(f"{type(self).__name__}: got {stage.num_stages} stages in {stage.group_size} processes, "
                             "expected one in each")
        self.pipeline_order = {rank: self._order(rank) for rank in range(stage.group_size)}


class _ScheduleForwardOnly(PipelineScheduleSingle):
    """All pieces there, and none back."""

    def _order(self, stage):
        if self._loss_fn is not None:
            raise RuntimeError("Forward-only schedule does not support loss computation")
        return _orders.forward_only([stage], self._n_microbatches)


class ScheduleGPipe(PipelineScheduleSingle):
    """All pieces there, then all back."""

    def _order(self, stage):
        return _orders.gpipe(stage, self._n_microbatches)


class Schedule1F1B(PipelineScheduleSingle):
    """One piece there, one back, as soon as one can go back: no process holds more pieces than there are stages."""

    def _order(self, stage):
        if self._n_microbatches < self._num_stages:
            raise ValueError(f"Number of microbatches ({self._n_microbatches}) must be greater than or equal to the "
                             f"number of stages ({self._num_stages}).")
        return _orders.one_there_one_back(stage, self._num_stages, self._n_microbatches)


class PipelineScheduleMulti(_PipelineSchedule):
    """Schedules of several stages in each process.

    Parameters
    ----------
    stages : List[PipelineStage]
        This process's stages.
    n_microbatches : int
        How many pieces a batch has.
    loss_fn, args_chunk_spec, kwargs_chunk_spec, output_merge_spec, scale_grads
        As of all schedules: the loss, how arguments are cut and outputs become one, and whether gradients are divided.
    use_full_backward : bool, optional
        Of old; it has no effect.
    backward_requires_autograd : bool, optional, default=True
        Accepted: gradients must be enabled where there is a loss.
    defer_pp_recv : bool, optional, default=False
        Accepted: messages are received when they are needed.

    """

    style = "loop"

    def __init__(self, stages, n_microbatches, loss_fn=None, args_chunk_spec=None, kwargs_chunk_spec=None,
                 output_merge_spec=None, use_full_backward=None, scale_grads=True, backward_requires_autograd=True,
                 defer_pp_recv=False):
        super().__init__(n_microbatches, loss_fn, args_chunk_spec, kwargs_chunk_spec, output_merge_spec, scale_grads)
        first = stages[0]
        self._stages, self._num_stages, self.rank = stages, first.num_stages, first.group_rank
        self.pp_group_size, self.n_local_stages = first.group_size, len(stages)
        self.stage_index_to_group_rank = {}
        self._held = [[] for _ in range(self.pp_group_size)]
        for stage in range(self._num_stages):
            turn, place = divmod(stage, self.pp_group_size)
            rank = place if self.style == "loop" or turn % 2 == 0 else self.pp_group_size - 1 - place
            self.stage_index_to_group_rank[stage] = rank
            self._held[rank].append(stage)
        mine = sorted(stage.stage_index for stage in stages)
        if mine != self._held[self.rank]:
            raise ValueError(f"{type(self).__name__}: got the stages {mine} in process {self.rank} of "
                             f"{self.pp_group_size}, expected {self._held[self.rank]}")
        for stage in stages:
            stage.stage_index_to_group_rank = self.stage_index_to_group_rank
        self.pipeline_order = dict(enumerate(self._orders()))

    def _orders(self):
        """Return the order of each process; those of schedules without one come from a file."""
        return []

    def _load_csv(self, filename, format="compute_only"):
        """Read the orders from a file with a line for each process."""
        if format != "compute_only":
            raise NotImplementedError(f"_load_csv: got format={format!r}, expected 'compute_only': messages come by "
                                      "themselves")
        with open(filename, newline="") as file:
            self.pipeline_order = {rank: [_Action.from_str(text) for text in row]
                                   for rank, row in enumerate(csv.reader(file))}

    def _dump_csv(self, filename):
        """Write the orders to a file with a line for each process."""
        with files.rewriting(filename, "w", newline="") as file:
            csv.writer(file).writerows([["" if action is None else str(action) for action in order]
                                        for _, order in sorted(self.pipeline_order.items())])


_PipelineScheduleRuntime = PipelineScheduleMulti


class ScheduleLoopedBFS(PipelineScheduleMulti):
    """All pieces through a process's first stage, then through its next, and back the same way."""

    def _orders(self):
        return [_orders.breadth_first(stages, self._n_microbatches) for stages in self._held]


class ScheduleInterleaved1F1B(PipelineScheduleMulti):
    """One piece there, one back, with stages that take turns."""

    def _orders(self):
        of_round = _orders.pieces_of_round(self._n_microbatches, self.pp_group_size, "Interleaved 1F1B")
        return [_orders.interleaved(rank, self.pp_group_size, stages, self._n_microbatches, of_round)
                for rank, stages in enumerate(self._held)]


class ScheduleInterleavedZeroBubble(PipelineScheduleMulti):
    """The way back in two halves: gradients of weights wait until there is nothing else to do."""

    def _orders(self):
        _orders.pieces_of_round(self._n_microbatches, self.pp_group_size, "Zero bubble")
        return _orders.without_bubbles(self._held, self._n_microbatches, self._num_stages + self.pp_group_size)


class ScheduleZBVZeroBubble(PipelineScheduleMulti):
    """Two stages in each process, down and up again, and the way back in two halves."""

    style = "v"

    def _orders(self):
        if self.n_local_stages != 2:
            raise ValueError(f"{type(self).__name__} requires exactly 2 stages per rank, but got "
                             f"{self.n_local_stages}.")
        return _orders.without_bubbles(self._held, self._n_microbatches, 2 * self.pp_group_size)


class ScheduleDualPipeV(ScheduleZBVZeroBubble):
    """As `ScheduleZBVZeroBubble`, with enough pieces for a way there and a way back at the same time."""

    def _orders(self):
        if self._n_microbatches < self._num_stages:
            raise ValueError(f"DualPipeV requires at least as many microbatches as stages, but got "
                             f"{self._n_microbatches} microbatches and {self._num_stages} stages.")
        return super()._orders()


def get_schedule_class(schedule_name):
    """Return the schedule of a name, however that is written.

    Parameters
    ----------
    schedule_name : str
        The name.

    Returns
    -------
    type
        The class.

    """
    known = {"1F1B": Schedule1F1B, "Interleaved1F1B": ScheduleInterleaved1F1B, "GPipe": ScheduleGPipe,
             "LoopedBFS": ScheduleLoopedBFS, "InterleavedZeroBubble": ScheduleInterleavedZeroBubble,
             "PipelineScheduleSingle": PipelineScheduleSingle, "PipelineScheduleMulti": PipelineScheduleMulti,
             "ZBVZeroBubble": ScheduleZBVZeroBubble, "DualPipeV": ScheduleDualPipeV}
    for name, kind in known.items():
        if name.lower() == schedule_name.lower():
            return kind
    raise ValueError(f"Unknown schedule name '{schedule_name}'. The valid options are {list(known)}")
