"""In which order the processes of a pipeline compute: a list of actions for each."""
from enum import Enum
from typing import NamedTuple


class _ComputationType(str, Enum):
    """What is done: a piece goes forward, back, or back in two halves, of its inputs and of the weights."""

    FORWARD = "F"
    BACKWARD_INPUT = "I"
    BACKWARD_WEIGHT = "W"
    FULL_BACKWARD = "B"

    def __str__(self):
        return self.value

    @staticmethod
    def from_str(action):
        """Return what a letter stands for."""
        for kind in _ComputationType:
            if kind.value == action:
                return kind
        raise RuntimeError(f"Invalid computation type {action}, expected one of "
                           f"{', '.join(kind.value for kind in _ComputationType)}")


FORWARD, INPUT = _ComputationType.FORWARD, _ComputationType.BACKWARD_INPUT
WEIGHT, FULL = _ComputationType.BACKWARD_WEIGHT, _ComputationType.FULL_BACKWARD


class _Action(NamedTuple):
    """What a process does: stage, kind, piece; "2F0" for short."""

    stage_index: int
    computation_type: _ComputationType
    microbatch_index: int

    def __str__(self):
        return f"{self.stage_index}{self.computation_type}{self.microbatch_index}"

    __repr__ = __str__

    @staticmethod
    def from_str(action_string):
        """Return the action that a short text stands for; None for an empty one."""
        text = action_string.strip()
        if not text:
            return None
        for place, letter in enumerate(text):
            if letter.isalpha():
                return _Action(int(text[:place]), _ComputationType.from_str(letter), int(text[place + 1:]))
        raise RuntimeError(f"Invalid action string: {action_string!r}, expected one such as 2F0")


def forward_only(stages, count):
    """Return an order without a way back."""
    return [_Action(stage, FORWARD, piece) for stage in stages for piece in range(count)]


def gpipe(stage, count):
    """Return the order of one stage: all pieces there, then all back."""
    return forward_only([stage], count) + [_Action(stage, FULL, piece) for piece in range(count)]


def one_there_one_back(stage, stages, count):
    """Return the order of one stage of so many that keeps few pieces waiting: as soon as one can go back it does."""
    ahead = min(count, stages - stage)
    made = [_Action(stage, FORWARD, piece) for piece in range(ahead)]
    for piece in range(count):
        made.append(_Action(stage, FULL, piece))
        if ahead + piece < count:
            made.append(_Action(stage, FORWARD, ahead + piece))
    return made


def breadth_first(stages, count):
    """Return the order of a process with several stages: all pieces through one, then through the next."""
    return forward_only(stages, count) + [_Action(stage, FULL, piece) for stage in reversed(stages)
                                          for piece in reversed(range(count))]


def pieces_of_round(count, ranks, who):
    """Return how many pieces go through a stage before the next one's turn."""
    rounds = max(1, count // ranks)
    if count % rounds:
        raise ValueError(f"{who} requires the number of microbatches to be a multiple of the number of rounds "
                         f"({rounds}), but got {count}.")
    return count // rounds


def interleaved(rank, ranks, stages, count, of_round):
    """Return the order of a process whose stages take turns, each with a round of pieces.

    Parameters
    ----------
    rank : int
        The process.
    ranks : int
        How many there are.
    stages : List[int]
        Its stages.
    count : int
        How many pieces.
    of_round : int
        How many of them go through a stage in its turn.

    Returns
    -------
    List[_Action]
        The order.

    """
    def turns(held):
        for first in range(0, count, of_round):
            for stage in held:
                for piece in range(first, min(first + of_round, count)):
                    yield stage, piece
    there = [_Action(stage, FORWARD, piece) for stage, piece in turns(stages)]
    back = [_Action(stage, FULL, piece) for stage, piece in turns(stages[::-1])]
    ahead = min(len(there), (len(stages) - 1) * of_round + 2 * (ranks - 1 - rank))
    made = there[:ahead]
    for forward, backward in zip(there[ahead:], back):
        made += [forward, backward]
    return made + back[len(there) - ahead:]


def without_bubbles(stages_of, count, in_flight):
    """Return the orders of all processes in which weights' gradients fill the time when there is nothing else to do.

    The processes are played through step by step, as if each action took one step. What others wait for comes first:
    gradients of inputs, then pieces forward, then gradients of weights.

    Parameters
    ----------
    stages_of : List[List[int]]
        The stages of each process.
    count : int
        How many pieces.
    in_flight : int
        How many pieces a process may hold at once, all its stages together.

    Returns
    -------
    List[List[_Action]]
        The orders.

    """
    last = max(map(max, stages_of))
    made, done = [[] for _ in stages_of], set()
    waiting = [[_Action(stage, kind, piece) for kind in (INPUT, FORWARD, WEIGHT)
                for stage in sorted(stages, reverse=True) for piece in range(count)] for stages in stages_of]

    def is_ready(action):
        stage, kind, piece = action
        if kind is FORWARD:
            return stage == 0 or (stage - 1, FORWARD, piece) in done
        if kind is WEIGHT:
            return (stage, INPUT, piece) in done
        return (stage, FORWARD, piece) in done and (stage == last or (stage + 1, INPUT, piece) in done)

    def held(order):
        kinds = [action.computation_type for action in order]
        return kinds.count(FORWARD) - kinds.count(WEIGHT)
    while any(waiting):
        step = []
        for order, actions in zip(made, waiting):
            full = held(order) >= in_flight
            step.append(next((action for action in actions if is_ready(action)
                              and not (full and action.computation_type is FORWARD)), None))
        if not any(step):
            in_flight += 1  # all wait for a piece that nobody may take: one more goes through
        for order, actions, action in zip(made, waiting, step):
            if action is not None:
                order.append(action)
                actions.remove(action)
                done.add(action)
    return [_join_halves(order) for order in made]


def _join_halves(order):
    """Return an order in which two halves of a way back that follow each other are one."""
    made = []
    for action in order:
        if action.computation_type is WEIGHT and made and made[-1] == action._replace(computation_type=INPUT):
            made[-1] = action._replace(computation_type=FULL)
        else:
            made.append(action)
    return made
