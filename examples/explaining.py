"""What are the clusters about? The docstrings of Python's standard library, explained.

Another folder of Python code can be named on the command line.

Descriptive terms are what the rows of a cluster have in common; discriminating ones set it apart
from all other rows, a minus marking what it has less of. ``to_dict()`` goes into a report as JSON.
"""

import json
import sys
import sysconfig
from pathlib import Path

import arcmeans
from arcmeans._demo.docstrings import each_once, read_library, weigh_words


def main() -> None:
    email = Path(sysconfig.get_path("stdlib"), "email")
    library = read_library(Path(sys.argv[1]) if len(sys.argv) > 1 else email)
    docstrings = each_once(library.docstrings)
    X, terms = weigh_words([docstring.text for docstring in docstrings])
    rows = X.getnnz(axis=1) > 2
    X = X[rows]
    names = [d.name for d, kept in zip(docstrings, rows, strict=True) if kept]
    model = arcmeans.SphericalKMeans(6, init="k-means++", n_init=5, random_state=0).fit(X)
    explanation = arcmeans.explain(model, terms, X, top=6)
    print(explanation)
    print()
    for cluster in explanation:
        print(f"cluster {cluster.label}, most typical: {names[cluster.typical[0].row]}")
    print(f"as JSON: {len(json.dumps(explanation.to_dict())):,} characters")


if __name__ == "__main__":
    main()
