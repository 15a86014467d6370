"""Errors that carry the name of the argument they are about.

A sentence begins with that name: "epochs must be at least 1, got 0". The command line shows the same sentence with its
own name for it: "--epochs must be at least 1, got 0".
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager


class _AnyArgumentError(Exception):
    """An error whose sentence is the argument's name followed by what is wrong with its value, and the fix."""

    def __init__(self, argument: str, problem: str) -> None:
        super().__init__(argument, problem)  # both, so that the error can be pickled
        self.argument, self.problem = argument, problem

    def __str__(self) -> str:
        return self.called(self.argument)

    def called(self, name: str) -> str:
        """The sentence for a reader who knows the argument by another name."""
        return f"{name} {self.problem}"


class ArgumentError(_AnyArgumentError, ValueError):
    """An argument has a value that cannot be used.

    >>> raise ArgumentError("epochs", "must be at least 1, got 0")
    Traceback (most recent call last):
    corel._errors.ArgumentError: epochs must be at least 1, got 0
    """


class ArgumentTypeError(_AnyArgumentError, TypeError):
    """An argument has a type that cannot be used."""


class ArgumentIndexError(_AnyArgumentError, IndexError):
    """An argument names a position that is not there."""


NOT_FINITE = "must be finite, in float32 too; rows {} are not: drop, impute or rescale them"
ALL_ZERO = "must be within reach of float32; rows {} become all zero in it: multiply all rows by a constant"


def refuse_rows(argument: str, bad: Sequence[int], problem: str) -> None:
    """Raise if any row is bad; the problem names the first five."""
    if bad:
        more = f" and {len(bad) - 5} more" if len(bad) > 5 else ""
        raise ArgumentError(argument, problem.format(", ".join(map(str, bad[:5])) + more))


@contextmanager
def renamed(**names: str) -> Iterator[None]:
    """Run the block; an error in it about an argument in `names` is raised under that other name.

    For a function that hands its argument on to one that calls it differently.

    >>> with renamed(source="images"):
    ...     raise ArgumentError("source", "must be an array")
    Traceback (most recent call last):
    corel._errors.ArgumentError: images must be an array
    """
    try:
        yield
    except _AnyArgumentError as error:
        error.argument = names.get(error.argument, error.argument)
        error.args = (error.argument, error.problem)
        raise


def warn_renamed(old: str, new: str) -> None:
    """Warn the caller's caller that a public name has another spelling; the old one works for one more release."""
    warnings.warn(
        f"{old} is now spelled {new}; use that, the next release drops the old name", FutureWarning, stacklevel=3
    )
