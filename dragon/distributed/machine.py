"""What tells one machine from another."""
import os
import platform


def name():
    """Return what the machine is called."""
    return platform.node()


def machine():
    """Return what tells this machine, as it runs now, from others; a container counts as one.

    DRAGON_MACHINE, where it is set, is told as well: processes to which it says different things share no memory.
    """
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            boot = file.read().strip()
    except OSError:
        boot = ""
    said = os.environ.get("DRAGON_MACHINE", "")
    return f"{name()} {boot} {os.stat('/proc/self/ns/pid').st_ino}{said and f' {said}'}"
