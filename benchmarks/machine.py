"""What a measurement ran on, for the head of its results."""

import platform
from importlib.metadata import version
from pathlib import Path

from arcmeans import _core
from arcmeans._support.cpus import usable_cpus

PACKAGES = ("arcmeans", "numpy", "scipy", "scikit-learn")


def describe(n_threads: int | None) -> str:
    """One line: processor, instruction set, threads, versions."""
    versions = ", ".join(f"{package} {version(package)}" for package in PACKAGES)
    threads = n_threads or usable_cpus()
    return (
        f"{processor()}; instruction set {_core.simd}; {threads} thread{'s' * (threads != 1)}; "
        f"Python {platform.python_version()}, {versions}"
    )


def processor() -> str:
    """The name of the processor, as the system knows it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()
