"""Files that are replaced whole: whoever looks, and whenever a process dies, finds the old content or the new.

Content is written beside its place, given to the disk, and renamed. Permissions, links and special files are treated
as `open(path, "wb")` would: a symbolic link is followed, a file that exists keeps its mode, a new one gets the
umask's, and what is no ordinary file (a terminal, a pipe) is written straight. Where the system forbids making a file
beside it or renaming it (a folder that may not be written, a file that is a mount point), the file itself is written,
as ever.

Streams that grow while others read them (records, events, logs) are no business of this package: they are appended to.

Of files that are read, it tells how much they may claim to hold, and which have no end.
"""
from dragon.core.files.claims import check_end, check_sizes, may_hold, most_held, read_member, read_whole
from dragon.core.files.folder import replacing_folder
from dragon.core.files.group import replacing_group
from dragon.core.files.leftovers import sweep
from dragon.core.files.pair import replace_pair
from dragon.core.files.picture import save_picture
from dragon.core.files.whole import copy, move, replacing, rewriting, second_name, write
