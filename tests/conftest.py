import functools
import os
import signal
import tempfile

import pytest
from hypothesis import settings

from arcmeans import _core

pytest.register_assert_rewrite("tests.support")

from .support import cautions  # noqa: E402
from .support.cases import CASES  # noqa: E402

# A shell that runs the tests in the background has them ignore Ctrl-C, and their children too.
signal.signal(signal.SIGINT, signal.default_int_handler)

# No test is about time, not even one example of a property.
settings.register_profile("arcmeans", deadline=None)
settings.register_profile("long", deadline=None, max_examples=1000)
settings.load_profile("arcmeans")


# A test sees the same terminal whoever runs it, and so do the commands that it calls. What is set
# for colors and for sizes goes, and so do warnings that are errors for the user.
TERMINAL = {"COLUMNS": "80", "LINES": "24", "TERM": "xterm-256color"}
USERS = (
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLORTERM",
    "FORCE_COLOR",
    "JUPYTER_COLUMNS",
    "JUPYTER_LINES",
    "NO_COLOR",
    "PYTHONWARNINGS",
    "PYTHON_COLORS",
    "TTY_COMPATIBLE",
    "TTY_INTERACTIVE",
)
# Folders under the user's home, where libraries and the browser keep files of their own.
FOLDERS = ("DASK_CONFIG", "MPLCONFIGDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")


@pytest.hookimpl(trylast=True)  # pytest itself has colors as the user has them
def pytest_configure(config):
    # The warnings of arcmeans are errors everywhere; those of other packages, which a newer version
    # may bring, only where ARCMEANS_WARNINGS=errors says so, as in continuous integration.
    strict = os.environ.get("ARCMEANS_WARNINGS") == "errors"
    filters = config.getini("filterwarnings")
    filters.insert(0, "error" if strict else f"error::{cautions.__name__}.Caution")
    cautions.mark()

    patch = pytest.MonkeyPatch()
    config.add_cleanup(patch.undo)
    for name in USERS:
        patch.delenv(name, raising=False)
    for name, value in TERMINAL.items():
        patch.setenv(name, value)
    home = tempfile.TemporaryDirectory(prefix="arcmeans-tests-", ignore_cleanup_errors=True)
    config.add_cleanup(home.cleanup)
    for name in FOLDERS:
        patch.setenv(name, os.path.join(home.name, name.lower()))
    # What examples print on standard error is looked at.
    patch.setenv("ARCMEANS_WARNINGS", "errors" if strict else "")


@functools.cache
def _case(name):
    return CASES[name]()


@pytest.fixture(params=CASES)
def case(request):
    return _case(request.param)


@pytest.fixture(params=_core.available())
def simd(request, monkeypatch):
    """Every instruction set this machine has, in turn."""
    monkeypatch.setattr(_core, "native", _core.load(request.param))
    return request.param
