"""What ``import arcmeans`` gives: public names, with modules that are loaded when first used."""

import pickle
import subprocess
import sys
import textwrap

import pytest

import arcmeans


def output_of(code):
    """What a fresh interpreter prints."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def test_dir_lists_public_names_only():
    assert dir(arcmeans) == [
        "Iteration",
        "MiniBatchSphericalKMeans",
        "RowStore",
        "Seeding",
        "SphericalKMeans",
        "__version__",
        "choose_k",
        "dask",
        "datasets",
        "explain",
        "memory",
        "metrics",
        "seed",
        "show_config",
    ]
    for name in set(dir(arcmeans)) - {"dask"}:  # which needs packages of its own
        assert getattr(arcmeans, name) is not None


def test_public_names_say_where_a_caller_finds_them():
    for name in arcmeans.__all__:
        assert getattr(arcmeans, name).__module__ == "arcmeans"
        assert pickle.loads(pickle.dumps(getattr(arcmeans, name))) is getattr(arcmeans, name)
    assert b"arcmeans._" not in pickle.dumps(arcmeans.SphericalKMeans())
    dask = pytest.importorskip("arcmeans.dask")
    assert dask.SphericalKMeans.__module__ == "arcmeans.dask"


def test_a_module_is_loaded_when_it_is_first_used():
    """And where Dask is missing, its module says what to install."""
    loaded = output_of(
        """
        import sys
        import arcmeans
        modules = ("dask", "datasets", "memory", "metrics")
        for name in modules:
            print(f"arcmeans.{name}" in sys.modules)
        for other in ("click", "distributed", "py7zr", "safetensors"):
            print(other in sys.modules)
        sys.modules["distributed"] = None
        try:
            arcmeans.dask
        except ImportError as error:
            print("pip install arcmeans[dask]" in str(error))
        del sys.modules["distributed"]
        for name in modules:
            print(getattr(arcmeans, name) is sys.modules[f"arcmeans.{name}"])
        """
    )
    assert loaded == ["False"] * 8 + ["True"] * 5


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'kmeans'"):
        arcmeans.kmeans  # noqa: B018
