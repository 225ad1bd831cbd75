"""`torch.quasirandom`: points that fill a cube more evenly than random ones."""
from dragon.vm import torch
from dragon.core import sobol


class SobolEngine:
    """Draw the points of Sobol's sequence, one after another.

    Parameters
    ----------
    dimension : int
        How many numbers a point has, from 1 to 21,201.
    scramble : bool, optional, default=False
        Whether to scramble the sequence at random: evenly filled still, and another one with each seed.
    seed : int, optional
        Of the scrambling; by default it draws from the default generator.

    Examples
    --------
    >>> torch.quasirandom.SobolEngine(2).draw(4)
    tensor([[0.0000, 0.0000],
            [0.5000, 0.5000],
            [0.7500, 0.2500],
            [0.2500, 0.7500]])

    """

    MAXBIT = sobol.MAXBIT
    MAXDIM = sobol.MAXDIM

    def __init__(self, dimension, scramble=False, seed=None):
        if dimension > self.MAXDIM or dimension < 1:
            raise ValueError(f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]")
        self.seed, self.scramble, self.dimension = seed, scramble, dimension
        self.sobolstate = torch.zeros(dimension, self.MAXBIT, device="cpu", dtype=torch.int64)
        torch._sobol_engine_initialize_state_(self.sobolstate, dimension)
        self.shift = torch.zeros(dimension, device="cpu", dtype=torch.int64)
        if scramble:
            self._scramble()
        self.quasi = self.shift.clone(memory_format=torch.contiguous_format)
        self._first_point = (self.quasi / 2 ** self.MAXBIT).reshape(1, -1)
        self.num_generated = 0

    def _scramble(self):
        generator = None if self.seed is None else torch.Generator().manual_seed(self.seed)
        bits = torch.randint(2, (self.dimension, self.MAXBIT), device="cpu", generator=generator)
        self.shift = torch.mv(bits, torch.pow(2, torch.arange(0, self.MAXBIT, device="cpu")))
        matrices = torch.randint(2, (self.dimension, self.MAXBIT, self.MAXBIT), device="cpu", generator=generator)
        torch._sobol_engine_scramble_(self.sobolstate, matrices.tril(), self.dimension)

    def draw(self, n=1, out=None, dtype=None):
        """Return the next points.

        Parameters
        ----------
        n : int, optional, default=1
            How many.
        out : Tensor, optional
            Where to put them.
        dtype : dtype, optional
            Of the numbers, by default the default dtype.

        Returns
        -------
        Tensor
            Of shape (n, dimension).

        """
        dtype = torch.get_default_dtype() if dtype is None else dtype
        if self.num_generated == 0:
            result = self._first_point.to(dtype)
            if n != 1:
                following, self.quasi = torch._sobol_engine_draw(self.quasi, n - 1, self.sobolstate, self.dimension, 0,
                                                                 dtype=dtype)
                result = torch.cat((result, following), dim=-2)
        else:
            result, self.quasi = torch._sobol_engine_draw(self.quasi, n, self.sobolstate, self.dimension,
                                                          self.num_generated - 1, dtype=dtype)
        self.num_generated += n
        return result if out is None else out.resize_as_(result).copy_(result)

    def draw_base2(self, m, out=None, dtype=None):
        """Return the next 2 ** m points, after which there shall be a power of two of them in all."""
        n = 2 ** m
        together = self.num_generated + n
        if together & together - 1:
            raise ValueError(
                f"The balance properties of Sobol' points require n to be a power of 2. {self.num_generated} points "
                f"have been previously generated, then: n={self.num_generated}+2**{m}={together}. If you still want to "
                "do this, please use 'SobolEngine.draw()' instead.")
        return self.draw(n=n, out=out, dtype=dtype)

    def reset(self):
        """Start again at the first point."""
        self.quasi.copy_(self.shift)
        self.num_generated = 0
        return self

    def fast_forward(self, n):
        """Leave out some points."""
        first = self.num_generated == 0
        torch._sobol_engine_ff_(self.quasi, n - first, self.sobolstate, self.dimension,
                                0 if first else self.num_generated - 1)
        self.num_generated += n
        return self

    def __repr__(self):
        words = [f"dimension={self.dimension}"]
        words += ["scramble=True"] if self.scramble else []
        words += [] if self.seed is None else [f"seed={self.seed}"]
        return f"{type(self).__name__}({', '.join(words)})"
