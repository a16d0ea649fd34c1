"""The paper's tables and figures, one script each: ``python -m experiments.table2`` and so on.

The paper is Schubert, Lang and Feher, "Accelerating Spherical k-Means", SISAP 2021.
"""
