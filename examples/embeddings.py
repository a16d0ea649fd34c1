"""Dense embeddings: unit vectors as language or image models give them.

There is no need to scale rows to unit length first. Cosine is what embeddings are compared by, and
here the centers are directions too: the cosine of a row to its center means something, for example
how far a row is from being a duplicate of a typical one.
"""

import numpy as np

import arcmeans


def embeddings(n: int, d: int, k: int, seed: int) -> np.ndarray:
    """Noisy copies of k random directions, in float32, as from a model."""
    random = np.random.RandomState(seed)
    directions = random.standard_normal((k, d))
    rows = directions[random.randint(k, size=n)] + 0.8 * random.standard_normal((n, d))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def main() -> None:
    X = embeddings(n=5000, d=128, k=12, seed=0)
    # Bounds skip most similarities where clusters are this clear; the result is the same.
    model = arcmeans.SphericalKMeans(
        12, init="k-means++", algorithm="simplified-hamerly", random_state=0
    ).fit(X)
    all_of_them = len(X) * model.n_clusters * model.n_iter_
    computed = int(model.trace_["similarities"].sum())
    print(f"{model.n_iter_} iterations, {computed:,} of {all_of_them:,} similarities computed")
    cosines = np.einsum("ij,ij->i", X, model.cluster_centers_[model.labels_])
    print(
        f"cosine to the own center: {cosines.mean():.3f} on average, {cosines.min():.3f} at least"
    )
    score = arcmeans.metrics.silhouette_score(X, model.labels_)
    print(f"silhouette by cosine, exact, without comparing pairs of rows: {score:.3f}")


if __name__ == "__main__":
    main()
