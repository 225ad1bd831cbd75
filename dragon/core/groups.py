"""Groups of processes as the engine knows them: by numbers."""
from dragon import _C

bytes_of, make, make_carried, remove = _C.group_bytes, _C.make_group, _C.make_carried_group, _C.remove_group
serve, raise_trouble, post_messages = _C.serve_group, _C.raise_group_trouble, _C.post_messages
collectives_version, set_devices_compare = _C.collectives_version, _C.set_devices_compare
collect_together, set_timeout = _C.collect_together, _C.set_group_timeout
begin_turn, end_turn, make_turns = _C.begin_turn, _C.end_turn, _C.make_turns
barrier, post_message, give_up = _C.group_barrier, _C.post_message, _C.break_group
