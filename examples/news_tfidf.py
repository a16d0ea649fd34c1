"""Texts to TF-IDF to clusters: the usual way, on headlines made up here.

Rows are sparse and stay sparse. All-zero rows (a text without a known word) get the label -1.
"""

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

import arcmeans

BEATS = {
    "sport": "match goal team coach league player season win title striker",
    "markets": "stocks bonds shares market bank rates inflation trade profit investors",
    "weather": "storm rain wind forecast flood snow temperatures coast clouds warning",
    "science": "telescope researchers planet cells galaxy study vaccine gene orbit laboratory",
}
EVERYWHERE = ["says", "today", "after", "new", "week", "officials", "city", "report"]


def headlines(n: int, seed: int) -> tuple[list[str], list[str]]:
    """Headlines of six words of one beat and two that occur anywhere, and the beats."""
    random = np.random.RandomState(seed)
    beats = random.choice(list(BEATS), n)
    texts = [
        " ".join([*random.choice(BEATS[beat].split(), 6), *random.choice(EVERYWHERE, 2)])
        for beat in beats
    ]
    return texts, list(beats)


def main() -> None:
    texts, beats = headlines(400, seed=0)
    vectorizer = TfidfVectorizer(dtype=np.float32)  # float32 halves the memory
    X = vectorizer.fit_transform(texts)
    model = arcmeans.SphericalKMeans(4, init="k-means++", n_init=5, random_state=0).fit(X)
    print(f"{X.shape[0]} headlines, {X.shape[1]} words, {model.n_iter_} iterations")
    explanation = arcmeans.explain(model, vectorizer.get_feature_names_out(), X, top=5)
    for cluster in explanation:
        words = ", ".join(term.name for term in cluster.descriptive)
        nearest = cluster.typical[0].row
        print(
            f"{cluster.size:4} rows: {words}; most typical, of {beats[nearest]}: {texts[nearest]!r}"
        )
    new = ["snow and wind on the coast", "investors sell bank shares"]
    labels = model.predict(vectorizer.transform(new))
    for text, label in zip(new, labels, strict=True):
        print(f"{text!r} belongs with: {explanation[label].descriptive[0].name}")


if __name__ == "__main__":
    main()
