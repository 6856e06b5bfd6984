"""Completes docstrings: parameters that several functions share, and the options of the program."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])
# An entry of a section of a docstring. Its further lines are indented more.
_ENTRY = re.compile(r"^    (\w+):.*(?:\n {8}.*)*", re.M)


def documented(options: Mapping[str, str], shared: str) -> Callable[[Function], Function]:
    """Returns a decorator that completes a docstring with a section Args.

    Parameters that the docstring does not explain get their entry in the section from `shared`. The text
    `options[name of the function]` is added at the end of the section.
    """

    def completed(function: Function) -> Function:
        # Python may leave docstrings out (-OO).
        if function.__doc__:
            function.__doc__ = _with_parameters(function, shared) + options[function.__name__]
        return function

    return completed


def _with_parameters(function: Callable[..., Any], shared: str) -> str:
    """Returns the docstring of a function with all parameters below Args, in the order of the signature."""
    head, _, rest = inspect.cleandoc(function.__doc__ or "").partition("\nArgs:\n")
    own, _, tail = rest.partition("\n\n")
    known = _entries(shared) | _entries(own)
    # A test finds parameters without an entry: the import of the package must not fail because of one.
    listed = [known[name] for name in inspect.signature(function).parameters if name in known]
    return "\n".join([head, "Args:", *listed, "", tail])


def _entries(text: str) -> dict[str, str]:
    """Returns the entries of a docstring, by the names that they explain."""
    return {found[1]: found[0] for found in _ENTRY.finditer(text)}
