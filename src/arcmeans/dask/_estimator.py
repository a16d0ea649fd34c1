"""``arcmeans.dask.SphericalKMeans``: :class:`arcmeans.SphericalKMeans` for rows on a cluster."""

import math
from fractions import Fraction
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask import delayed
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from .._api import kmeans as estimator
from .._engines.protocol import Place
from .._rows.containers import check_unmasked, checked_weights
from .._run.records import Result
from .._support.checks import threads
from ._block_model import BlockModel, predicted, scored, transformed
from ._blocks import Blocks, blocks_of, lazy_array
from ._place import DaskPlace
from ._tasks import connected


class SphericalKMeans(estimator.SphericalKMeans):
    """Spherical k-means for rows on a Dask cluster.

    Parameters, attributes and results are those of :class:`arcmeans.SphericalKMeans`, bit for bit,
    however the rows are split over partitions and workers, and whatever becomes of the workers.
    The current client is used, or one of a local cluster that is started and stays for others.

    X is a dask array with dense or sparse blocks, a list of delayed blocks of rows, a
    :class:`arcmeans.RowStore`, or a list of files: ``.npz`` of ``scipy.sparse.save_npz``, ``.npy``,
    or folders of row stores. Stores and files are read by the workers, by the same path.
    ``sample_weight`` is an array, or a dask array with a block for each block of X.

    A task works on one partition with ``n_threads`` threads, None being one: a worker of several
    threads works on several partitions. ``docs/scaling.md`` says how to choose partitions.

    Attributes
    ----------
    labels_ : dask array of shape (n_samples,)
        In the chunks of X. Its blocks are on the workers; they are found again if a worker is
        lost, while the cluster lives.

    traffic_ : list of Traffic
        The bytes that each pass of the run sent to the workers, between them, and to the client.
    """

    traffic_: list[Any]

    def _place(
        self, X: Any, n_threads: int, *, reset: bool, sample_weight: ArrayLike | None = None
    ) -> Place:
        check_unmasked("X", X)
        client = connected()
        blocks = blocks_of(X, sum(client.nthreads().values()) or 1)
        place = DaskPlace(client, blocks, sample_weight)
        try:
            self._check_features(place.census.n_features, reset)
        except BaseException:
            place.close()
            raise
        return place

    def _threads(self) -> int:
        return 1 if self.n_threads is None else threads(self.n_threads)

    def _attributes(self, place: Any, result: Result) -> dict[str, Any]:
        attributes = super()._attributes(place, result)
        return {**attributes, "labels_": result.labels, "traffic_": place.traffic}

    def predict(self, X: Any) -> Any:
        """The most similar center of each row, block by block: a lazy array in the chunks of X."""
        check_is_fitted(self)
        return self._mapped(X, predicted, (), np.dtype(np.int32))

    def transform(self, X: Any) -> Any:
        """The cosine distance of each row to each center, block by block: a lazy array."""
        check_is_fitted(self)
        dtype = getattr(X, "dtype", self._dtype)
        dtype = np.dtype(np.float32 if dtype in (np.float16, np.float32) else np.float64)
        return self._mapped(X, transformed, (self._n_features_out,), dtype)

    def fit_transform(self, X: Any, y: None = None, sample_weight: ArrayLike | None = None) -> Any:
        """Cluster the rows of X and return their distances to the centers: see ``transform``."""
        return self.fit(X, sample_weight=sample_weight).transform(X)

    def score(self, X: Any, y: None = None, sample_weight: ArrayLike | None = None) -> float:
        """Minus the inertia of X for the fitted centers: see ``arcmeans.SphericalKMeans``."""
        check_is_fitted(self)
        blocks = blocks_of(X, 1)
        model = delayed(self._local(), pure=False)
        weights = self._split(sample_weight, blocks)
        found = [
            delayed(scored, pure=False)(model, block, mine)
            for block, mine in zip(blocks.blocks, weights, strict=True)
        ]
        return 0.0 - max(0.0, float(sum(dask.compute(*found), Fraction(0))))

    def _split(self, weights: Any, blocks: Blocks) -> list[Any]:
        """The weights of each block."""
        if weights is None:
            return [None] * len(blocks.blocks)
        if isinstance(weights, da.Array):
            return list(weights.to_delayed())
        sizes = blocks.sizes
        if any(math.isnan(size) for size in sizes):
            sizes = dask.compute(*(block.shape[0] for block in blocks.blocks))
        checked = checked_weights(weights, int(sum(sizes)))
        assert checked is not None
        return np.split(checked, np.cumsum(sizes, dtype=np.int64)[:-1])

    def _mapped(self, X: Any, step: Any, width: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        """A function of each block and the model, as a lazy array."""
        blocks = blocks_of(X, 1)
        model = delayed(self._local(), pure=False)
        found = [delayed(step, pure=False)(model, block, dtype) for block in blocks.blocks]
        return lazy_array(found, blocks.sizes, width, dtype)

    def _local(self) -> BlockModel:
        """The fitted model without labels, for one block at a time."""
        model = BlockModel(self.n_clusters, n_threads=self.n_threads or 1)
        return model.fitted_with(self._sums, self._dtype, self.n_features_in_)

    def __getstate__(self) -> dict[str, Any]:
        """With the labels in memory: a file cannot hold what lies on a cluster."""
        state = super().__getstate__()
        if isinstance(state.get("labels_"), da.Array):
            state["labels_"] = state["labels_"].compute()
        return state
