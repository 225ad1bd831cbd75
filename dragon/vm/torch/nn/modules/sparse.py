"""Layers that look rows up in a table."""
from dragon.vm.torch.nn import functional as F, init
from dragon.vm.torch.nn.modules.module import Module
from dragon.vm.torch.nn.modules.utils import empty
from dragon.vm.torch.nn.parameter import Parameter


class _Table(Module):
    """The base of Embedding and EmbeddingBag: the table."""

    def _make_table(self, given, freeze, device, dtype):
        if given is None:
            self.weight = Parameter(empty(self.num_embeddings, self.embedding_dim, device=device, dtype=dtype),
                                    requires_grad=not freeze)
            self.reset_parameters()
            return
        if list(given.shape) != [self.num_embeddings, self.embedding_dim]:
            raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
        self.weight = Parameter(given, requires_grad=not freeze)

    def _place_of_padding(self, padding_idx):
        """Return the padding's row from 0, or raise if there is none such."""
        if padding_idx is None:
            return None
        if not -self.num_embeddings <= padding_idx < self.num_embeddings:
            raise AssertionError("Padding_idx must be within num_embeddings")
        return padding_idx % self.num_embeddings

    def reset_parameters(self):
        """Draw a new table from the standard normal distribution; the padding's row is zero."""
        init.normal_(self.weight)
        self._fill_padding_idx_with_zero()

    def _fill_padding_idx_with_zero(self):
        if self.padding_idx is not None:
            init.zeros_(self.weight.data[self.padding_idx])

    @classmethod
    def _over(cls, embeddings, **options):
        """Return a layer over a table."""
        if embeddings.dim() != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        rows, columns = embeddings.shape
        return cls(num_embeddings=rows, embedding_dim=columns, _weight=embeddings, **options)

    def _options(self, *shown):
        """Return what differs from the defaults as text."""
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        for name, usual in shown:
            if getattr(self, name) is not usual and getattr(self, name) != usual:
                text += f", {name}={getattr(self, name)!r}" if name == "mode" else f", {name}={getattr(self, name)}"
        return text


class Embedding(_Table):
    """Look up vectors by their numbers.

    Parameters
    ----------
    num_embeddings, embedding_dim : int
        Rows and columns of the table.
    padding_idx : int, optional
        A row that stays zero and gets no gradient.
    max_norm : float, optional
        Rows whose norm is larger are scaled down when looked up.
    norm_type : float, optional, default=2.0
        Of that norm.
    scale_grad_by_freq : bool, optional, default=False
        Divide gradients by how often a row occurs in the batch.
    sparse : bool, optional, default=False
        Whether the table's gradient is sparse: it holds the rows that were looked up.
    device : Union[device, str], optional
        Where the table lives.
    dtype : dtype, optional
        Its type.

    Examples
    --------
    >>> layer = nn.Embedding(10, 4)
    >>> layer(torch.tensor([[1, 2, 3]])).shape
    torch.Size([1, 3, 4])

    """

    __constants__ = ["num_embeddings", "embedding_dim", "padding_idx", "max_norm", "norm_type", "scale_grad_by_freq",
                     "sparse"]

    def __init__(self, num_embeddings, embedding_dim, padding_idx=None, max_norm=None, norm_type=2.0,
                 scale_grad_by_freq=False, sparse=False, _weight=None, _freeze=False, device=None, dtype=None):
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = self._place_of_padding(padding_idx)
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self._make_table(_weight, _freeze, device, dtype)
        self.sparse = sparse

    def forward(self, input):
        """Return the rows of these numbers."""
        params = self._parameters
        weight = params["weight"] if "weight" in params else self.weight
        return F.embedding(input, weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq,
                           self.sparse)

    def extra_repr(self):
        return self._options(("padding_idx", None), ("max_norm", None), ("norm_type", 2), ("scale_grad_by_freq", False),
                             ("sparse", False))

    @classmethod
    def from_pretrained(cls, embeddings, freeze=True, padding_idx=None, max_norm=None, norm_type=2.0,
                        scale_grad_by_freq=False, sparse=False):
        """Return a layer over a table that there is already."""
        return cls._over(embeddings, _freeze=freeze, padding_idx=padding_idx, max_norm=max_norm, norm_type=norm_type,
                         scale_grad_by_freq=scale_grad_by_freq, sparse=sparse)


class EmbeddingBag(_Table):
    """Look up vectors and sum or average those of each bag.

    Parameters
    ----------
    num_embeddings, embedding_dim : int
        Rows and columns of the table.
    max_norm, norm_type, scale_grad_by_freq, sparse, padding_idx, device, dtype
        See Embedding.
    mode : {"mean", "sum", "max"}, optional
        What to do with the vectors of a bag.
    include_last_offset : bool, optional, default=False
        The offsets end with the number of all indices.

    """

    __constants__ = ["num_embeddings", "embedding_dim", "max_norm", "norm_type", "scale_grad_by_freq", "mode", "sparse",
                     "include_last_offset", "padding_idx"]

    def __init__(self, num_embeddings, embedding_dim, max_norm=None, norm_type=2.0, scale_grad_by_freq=False,
                 mode="mean", sparse=False, _weight=None, include_last_offset=False, padding_idx=None, device=None,
                 dtype=None):
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.padding_idx = self._place_of_padding(padding_idx)
        self._make_table(_weight, False, device, dtype)
        self.mode = mode
        self.sparse = sparse
        self.include_last_offset = include_last_offset

    def forward(self, input, offsets=None, per_sample_weights=None):
        """Return a vector for each bag: a row of a matrix, or what begins at each offset of a vector."""
        return F.embedding_bag(input, self.weight, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq,
                               self.mode, self.sparse, per_sample_weights, self.include_last_offset, self.padding_idx)

    def extra_repr(self):
        return self._options(("max_norm", None), ("norm_type", 2), ("scale_grad_by_freq", False), ("mode", None),
                             ("padding_idx", None))

    @classmethod
    def from_pretrained(cls, embeddings, freeze=True, max_norm=None, norm_type=2.0, scale_grad_by_freq=False,
                        mode="mean", sparse=False, include_last_offset=False, padding_idx=None):
        """Return a layer over a table that there is already."""
        made = cls._over(embeddings, max_norm=max_norm, norm_type=norm_type, scale_grad_by_freq=scale_grad_by_freq,
                         mode=mode, sparse=sparse, include_last_offset=include_last_offset, padding_idx=padding_idx)
        made.weight.requires_grad = not freeze
        return made
