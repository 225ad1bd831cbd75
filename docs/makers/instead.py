"""What would do in the place of a name that is missing: a line for a name, or for all names that begin so."""

TABLE = """
torch.distributed : one process trains here: torch.distributed knows a world of one
torch.sparse : a dense tensor
torch.quantiz : torch.float16 or torch.bfloat16 weights
torch.choose_qparams : torch.float16 or torch.bfloat16 weights
torch.library : dragon.Function for gradients of one's own, or an operator in a library (dragon.load_library)
torch.cuda : the same code on the CPU
torch.utils.benchmark : torch.utils.benchmark.Timer, or timeit
torch.profiler : dragon.profile
tensorflow.distribute : MirroredStrategy or MultiWorkerMirroredStrategy, which train with several replicas
"""
LINES = [line.split(" : ", 1) for line in TABLE.strip().splitlines()]


def advise(path):
    """Return what would do instead of a name, by the longest line that fits; empty if nobody knows."""
    fitting = [(len(start), text) for start, text in LINES if path.startswith(start)]
    return f"instead: {max(fitting)[1]}" if fitting else ""
