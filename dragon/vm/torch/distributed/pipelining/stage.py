"""One stage of a model, and what it keeps of each piece of a batch until the piece comes back."""
import contextlib

from dragon.vm import torch
from dragon.vm.torch import distributed as dist
from dragon.vm.torch.distributed.pipelining import _packets


def _as_tuple(output):
    """Return what a stage gives as a tuple."""
    if isinstance(output, list):
        return tuple(output)
    return output if isinstance(output, tuple) else (output,)


class PipelineStage:
    """One stage of a model.

    Parameters
    ----------
    submodule : torch.nn.Module
        The stage.
    stage_index : int
        Its number.
    num_stages : int
        How many there are.
    device : torch.device
        Where it computes.
    input_args : Union[torch.Tensor, Tuple[torch.Tensor, ...]], optional
        What comes in, as an example; what comes is compared with it.
    output_args : Union[torch.Tensor, Tuple[torch.Tensor, ...]], optional
        What goes out, as an example.
    output_grads, input_grads : Union[torch.Tensor, Tuple[torch.Tensor, ...]], optional
        Gradients of both, as examples.
    group : ProcessGroup, optional
        The processes that have the stages; all by default.
    dw_builder : Callable[[], Callable], optional
        Called after each piece's way back, when gradients of the inputs are there: returns a function for the rest.
    get_mesh : Callable, optional
        Raises: meshes of sharded values are those that came with them.

    """

    def __init__(self, submodule, stage_index, num_stages, device, input_args=None, output_args=None,
                 output_grads=None, input_grads=None, group=None, dw_builder=None, get_mesh=None):
        if not 0 <= stage_index < num_stages:
            raise ValueError(f"Stage index {stage_index} is out of range of {num_stages}")
        if get_mesh is not None:
            raise NotImplementedError(f"PipelineStage: got get_mesh={get_mesh}, expected None")
        self.submod, self.stage_index, self.num_stages = submodule, stage_index, num_stages
        self.device, self.group, self.dw_builder = device, group, dw_builder
        self.group_rank, self.group_size = dist.get_rank(group), dist.get_world_size(group)
        if self.group_size > num_stages:
            raise RuntimeError(f"Pipeline group size {self.group_size} cannot be larger than number of stages "
                               f"{num_stages}")
        self._examples = {"input": input_args, "output": output_args, "input gradient": input_grads,
                          "output gradient": output_grads}
        self.stage_index_to_group_rank = {stage: stage % self.group_size for stage in range(num_stages)}
        self.has_backward = False
        self.clear_runtime_states()

    @property
    def is_first(self):
        """bool: whether no stage is before this one."""
        return self.stage_index == 0

    @property
    def is_last(self):
        """bool: whether no stage is after this one."""
        return self.stage_index == self.num_stages - 1

    def clear_runtime_states(self):
        """Forget all pieces."""
        self.output_chunks, self._held, self._handed, self._weights, self._works = [], {}, {}, {}, []

    def _compare(self, kind, values):
        """Raise unless values have the shapes and dtypes of the examples."""
        expected = self._examples[kind]
        if expected is None:
            return
        tensors = [value for value in values if isinstance(value, torch.Tensor)]
        for number, (wanted, got) in enumerate(zip(_as_tuple(expected), tensors)):
            if isinstance(wanted, torch.Tensor) and (wanted.shape != got.shape or wanted.dtype != got.dtype):
                raise RuntimeError(f"Stage {self.stage_index}: {kind} {number} does not match: got {got.dtype} of shape"
                                   f" {tuple(got.shape)}, expected {wanted.dtype} of shape {tuple(wanted.shape)}")

    # --- between stages

    def _tag(self, stage, piece, backward):
        """Return the tag of what a stage gets for a piece."""
        return (piece * self.num_stages + stage) * 2 + backward

    def _pass_on(self, values, piece, neighbour, backward):
        """Give values to a neighbour: here, or in another process."""
        peer = self.stage_index_to_group_rank[neighbour.stage_index if neighbour else self._beside(backward)]
        if neighbour is not None:
            neighbour._handed[piece, backward] = [
                value.detach().requires_grad_(value.requires_grad) if isinstance(value, torch.Tensor) else value
                for value in values]
        else:
            self._works += _packets.send(values, self.group, peer, self._tag(self._beside(backward), piece, backward))

    def _beside(self, backward):
        return self.stage_index - 1 if backward else self.stage_index + 1

    def _take(self, piece, backward):
        """Return what a neighbour has given."""
        if (piece, backward) in self._handed:
            return self._handed.pop((piece, backward))
        peer = self.stage_index_to_group_rank[self._beside(not backward)]
        return _packets.receive(self.group, peer, self._tag(self.stage_index, piece, backward))

    def finish_sending(self):
        """Wait until all that was sent has gone."""
        for work in self._works:
            work.wait()
        self._works = []

    # --- there and back

    def _quiet(self):
        """Return a context in which data-parallel copies of the stage do not average gradients."""
        is_copy = isinstance(self.submod, torch.nn.parallel.DistributedDataParallel)
        return self.submod.no_sync() if is_copy else contextlib.nullcontext()

    def forward_one_chunk(self, fwd_chunk_id, args, kwargs=None, save_forward_output=True, next_stage=None):
        """Compute a piece, and pass the result on.

        Parameters
        ----------
        fwd_chunk_id : int
            The piece's number.
        args : Tuple
            What comes in, if this is the first stage; others get it from the stage before.
        kwargs : Dict[str, Any], optional
            Named arguments for this stage.
        save_forward_output : bool, optional, default=True
            Whether the last stage keeps its outputs.
        next_stage : PipelineStage, optional
            The stage after this one, if it is in this process.

        Returns
        -------
        Any
            What the stage gave.

        """
        values = tuple(args) if self.is_first else tuple(self._take(fwd_chunk_id, False))
        self._compare("input", values)
        try:
            with self._quiet():
                output = self.submod(*values, **(kwargs or {}))
        except Exception as error:
            raise RuntimeError(f"[Stage {self.stage_index}] failed to run forward: got {type(error).__name__}: {error};"
                               f" args: {[_describe(value) for value in values]}, kwargs: {sorted(kwargs or {})}"
                               ) from error
        outputs = _as_tuple(output)
        self._compare("output", outputs)
        if not self.is_last:
            self._pass_on(outputs, fwd_chunk_id, next_stage, False)
        elif save_forward_output:
            self.output_chunks.append(output)
        if self.has_backward:
            self._held[fwd_chunk_id] = values, outputs
        return output

    def _roots(self, piece, outputs, loss):
        """Return (what has gradients to go back, the gradients)."""
        if self.is_last:
            return [loss], None
        grads = self._take(piece, True)
        self._compare("output gradient", grads)
        pairs = [(output, grad) for output, grad in zip(outputs, grads)
                 if grad is not None and isinstance(output, torch.Tensor) and output.requires_grad]
        return [output for output, _ in pairs], [grad for _, grad in pairs]

    def backward_one_chunk(self, bwd_chunk_id, loss=None, full_backward=True, last_backward=False,
                           previous_stage=None):
        """Take a piece back, and pass the gradients of its inputs on.

        Parameters
        ----------
        bwd_chunk_id : int
            The piece's number.
        loss : torch.Tensor, optional
            Its loss, if this is the last stage.
        full_backward : bool, optional, default=True
            Whether parameters get their gradients too; `backward_weight_one_chunk` gives them otherwise.
        last_backward : bool, optional, default=False
            Whether no piece comes after this one.
        previous_stage : PipelineStage, optional
            The stage before this one, if it is in this process.

        """
        values, outputs = self._held.pop(bwd_chunk_id)
        roots, grads = self._roots(bwd_chunk_id, outputs, loss)
        asking = [] if self.is_first else [value for value in values
                                           if isinstance(value, torch.Tensor) and value.requires_grad]
        if full_backward or self.dw_builder is not None:
            self._run_backward(roots, grads, last_backward and full_backward)
            found = {id(value): value.grad for value in asking}
            if not full_backward:
                self._weights[bwd_chunk_id] = self.dw_builder()
        else:
            learned = torch.autograd.grad(roots, asking, grads, retain_graph=True, allow_unused=True) if (
                asking and roots) else [None] * len(asking)
            found = {id(value): grad for value, grad in zip(asking, learned)}
            self._weights[bwd_chunk_id] = roots, grads
        if not self.is_first:
            back = [found.get(id(value)) if isinstance(value, torch.Tensor) else None for value in values]
            self._compare("input gradient", back)
            self._pass_on(back, bwd_chunk_id, previous_stage, True)

    def backward_weight_one_chunk(self, bwd_chunk_id, last_backward=False):
        """Give the parameters their gradients of a piece whose inputs have theirs.

        Parameters
        ----------
        bwd_chunk_id : int
            The piece's number.
        last_backward : bool, optional, default=False
            Whether no piece comes after this one.

        """
        held = self._weights.pop(bwd_chunk_id)
        if callable(held):
            held()
        else:
            self._run_backward(*held, last_backward, list(self.submod.parameters()))

    def _run_backward(self, roots, grads, is_last, parameters=None):
        """Send gradients back from some tensors; averaged over copies of the stage after the last piece."""
        inputs = parameters and [parameter for parameter in parameters if parameter.requires_grad]
        if not roots or inputs == []:
            return
        if is_last and isinstance(self.submod, torch.nn.parallel.DistributedDataParallel):
            self.submod.reducer.prepare()
        with contextlib.nullcontext() if is_last else self._quiet():
            torch.autograd.backward(roots, grads, inputs=inputs)

    def scale_grads(self, grad_scale_factor):
        """Divide the gradients of the parameters."""
        if grad_scale_factor == 1:
            return
        for parameter in self.submod.parameters():
            if parameter.grad is not None:
                parameter.grad.div_(grad_scale_factor)


def _describe(value):
    return f"{value.dtype}{tuple(value.shape)}" if isinstance(value, torch.Tensor) else type(value).__name__


def build_stage(stage_module, stage_index, pipe_info, device, group=None):
    """Return a stage of a model that was cut by `pipeline`.

    Parameters
    ----------
    stage_module : torch.nn.Module
        The stage's module, perhaps wrapped.
    stage_index : int
        Its number.
    pipe_info : PipeInfo
        What `pipe.info()` returns.
    device : torch.device
        Where it computes.
    group : ProcessGroup, optional
        The processes that have the stages; all by default.

    Returns
    -------
    PipelineStage
        The stage.

    """
    return PipelineStage(stage_module, stage_index, pipe_info.num_stages, device, group=group)


_PipelineStageBase = _PipelineStage = PipelineStage
