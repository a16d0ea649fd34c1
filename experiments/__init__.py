"""The paper's tables and figures, one script each: ``python -m experiments.table2`` and so on.

The paper is Schubert, Lang and Feher, "Accelerating Spherical k-Means", SISAP 2021.
``python -m experiments`` makes all of them, and ``--help`` tells the options.

In the folder of ``--out``, ``NAME.csv``, ``NAME.md``, ``NAME.svg`` and ``NAME.png`` are what an
experiment comes to. ``runs.csv`` has a line for each fit, written as soon as it is done and shared
by the experiments: a fit that is there already is not done again, so the same command resumes an
interrupted experiment. (Figure 1 keeps single iterations in ``figure1_runs.csv``, and the memory
its peaks in ``memory_runs.csv``.) Results of another version of arcmeans, or of other data under
the same name, belong in another folder.
"""
