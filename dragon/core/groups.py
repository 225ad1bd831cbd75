"""Groups of processes as the engine knows them: by numbers."""
from dragon import _C

bytes_of, make, make_carried, remove = _C.group_bytes, _C.make_group, _C.make_carried_group, _C.remove_group
begin_turn, end_turn, make_turns = _C.begin_turn, _C.end_turn, _C.make_turns
barrier, post_message, give_up = _C.group_barrier, _C.post_message, _C.break_group
