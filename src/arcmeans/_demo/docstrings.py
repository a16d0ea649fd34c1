"""The docstrings of a Python library, read from its source files; nothing of it is imported."""

import ast
import os
import tokenize
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, TfidfVectorizer

TEST_PACKAGES = {"test", "tests", "idle_test"}
TOKEN = r"(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9_]*[A-Za-z0-9]"
"""Words and identifiers; ``__init__`` counts as ``init``."""
DOCSTRING_WORDS = """
    accept accepts allow allowed allows apply arg args argument arguments available bool boolean
    call callable called calling calls case class classes contain containing contains
    corresponding create created creates creating current currently default defaults defined
    deprecated does doesn don ensure equal equivalent example existing exists expected false
    following form func function functions gets given gives handle helper ignored implement
    implementation implemented implements indicate indicates init instance instances instead int
    internal isn keyword kwargs kwds like list make makes means method methods necessary need
    needed needs new non note number obj object objects optional optionally original override
    parameter parameters pass passed perform performed performs possible present provide provided
    provides raise raised raises raising replace represent representation representing represents
    require required requires result results return returned returning returns self set sets
    setting similar simple simply single specific specified specifies specify str string strings
    subclass subclasses support supported supports sure true try tuple type types usage use used
    useful user uses using usually valid value values various want way work works
"""
"""Words that docstrings have whatever they are about."""

Scope = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Docstring:
    name: str
    """As one would import it: ``json.decoder.JSONDecoder.decode``."""
    text: str


@dataclass(frozen=True, slots=True)
class Library:
    """What the source files hold."""

    docstrings: list[Docstring]
    files: int
    """Source files found."""
    unreadable: int
    """Source files that could not be read or parsed."""


def read_library(root: Path) -> Library:
    """The docstrings of every module under ``root``, tests and installed packages left out."""
    docstrings: list[Docstring] = []
    files = unreadable = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of invalid escapes and the like in the files parsed
        for path in source_files(root):
            files += 1
            try:
                with tokenize.open(path) as source:
                    tree = ast.parse(source.read())
            except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
                unreadable += 1
                continue
            docstrings.extend(docstrings_of(tree, module_name(path, root)))
    return Library(docstrings, files, unreadable)


def source_files(root: Path) -> Iterator[Path]:
    """Files of importable modules: ``site-packages`` is no identifier, thus no package."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(f for f in folders if f.isidentifier() and f not in TEST_PACKAGES)
        yield from (Path(folder, name) for name in sorted(names) if name.endswith(".py"))


def module_name(path: Path, root: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def docstrings_of(tree: ast.Module, module: str) -> Iterator[Docstring]:
    """The docstrings of a module and of all classes and functions in it, in the file's order."""
    left: list[tuple[ast.AST, str]] = [(tree, module)]
    while left:
        node, scope = left.pop()
        if isinstance(node, Scope):
            if not isinstance(node, ast.Module):
                scope = f"{scope}.{node.name}"
            text = ast.get_docstring(node)
            if text:
                yield Docstring(scope, text)
        inner = [n for n in ast.iter_child_nodes(node) if not isinstance(n, ast.expr)]
        left.extend((n, scope) for n in reversed(inner))


def each_once(docstrings: Sequence[Docstring]) -> list[Docstring]:
    """The first of all docstrings that differ in nothing but white space."""
    first: dict[str, Docstring] = {}
    for docstring in docstrings:
        first.setdefault(" ".join(docstring.text.split()), docstring)
    return list(first.values())


def weigh_words(texts: Sequence[str]) -> tuple[Any, list[str]]:
    """TF-IDF as CSR in float32, and the term of each column."""
    vectorizer = TfidfVectorizer(
        stop_words=sorted(ENGLISH_STOP_WORDS.union(DOCSTRING_WORDS.split())),
        token_pattern=TOKEN,
        sublinear_tf=True,
        min_df=3,
        dtype=np.float32,
    )
    return vectorizer.fit_transform(texts), vectorizer.get_feature_names_out().tolist()
