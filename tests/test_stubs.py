"""The types of the native core, written by hand, name what its modules have."""

import ast
from collections.abc import Iterator
from enum import EnumType
from pathlib import Path
from types import ModuleType

import pytest

from arcmeans import _core

STUB = ast.parse(Path(_core.__file__).with_name("native.pyi").read_text())


def stubbed(body: list[ast.stmt], of: str = "") -> Iterator[tuple[str, int | None]]:
    """Names, and the number of arguments of each form of a function."""
    for node in body:
        if isinstance(node, ast.FunctionDef):
            is_property = "property" in map(ast.unparse, node.decorator_list)
            arguments = sum(map(len, (node.args.posonlyargs, node.args.args, node.args.kwonlyargs)))
            yield of + node.name, None if is_property else arguments
        elif isinstance(node, ast.ClassDef):
            yield node.name, None
            yield from stubbed(node.body, f"{node.name}.")
        elif isinstance(node, ast.AnnAssign | ast.Assign) and of:
            targets = [node.target] if isinstance(node, ast.AnnAssign) else node.targets
            yield from ((of + ast.unparse(target), None) for target in targets)


def compiled(module: ModuleType | type, of: str = "") -> Iterator[tuple[str, int | None]]:
    for name, member in vars(module).items():
        if name.startswith("_") and name != "__init__":
            continue
        if hasattr(member, "__nb_signature__"):
            for signature, *_ in member.__nb_signature__:
                yield of + name, n_arguments(signature)
        elif isinstance(member, EnumType):
            yield name, None
            yield from ((f"{name}.{choice.name}", None) for choice in member)
        elif isinstance(member, type):
            yield name, None
            yield from compiled(member, f"{name}.")
        elif name != "__init__":  # one that is not bound: only the core makes such
            yield of + name, None


def n_arguments(signature: str) -> int:
    """Of a signature of nanobind's, whose types of arrays have brackets and commas of their own."""
    depth, outer = 0, ""
    for character in signature[signature.index("(") + 1 :]:
        depth += (character in "[(") - (character in ")]")
        if depth < 0:
            break
        outer += character if depth == 0 else ""
    return sum(part.strip() not in ("", "/", "*") for part in outer.split(","))


@pytest.mark.parametrize("simd", _core.available())
def test_names_and_arguments(simd):
    assert set(compiled(_core.load(simd))) == set(stubbed(STUB.body))
