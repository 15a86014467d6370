"""The command line: one module a group of commands, and here what they share.

Nothing heavy is imported before a command needs it, so that `corel --help` answers at once.
"""

from __future__ import annotations

import inspect
import os
import sys
import traceback
import warnings
from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from corel._errors import ArgumentError, ArgumentTypeError
from corel._terminal import printable
from corel._version import __version__
from corel.cli import (
    _audit,
    _backbones,
    _data,
    _demo,
    _evaluate,
    _find,
    _gallery,
    _serve,
    _sort,
    _thresholds,
    _train,
    _watch,
)

# What the library raises with a sentence for the user; anything else is a fault of ours.
EXPECTED = (ValueError, TypeError, OSError, ImportError, FloatingPointError)


INTERRUPTED = 128  # exit codes above it name the signal
# A mistake in the command line itself; typer names only this child of it.
USAGE = typer.BadParameter.__mro__[1]


class Commands(TyperGroup):
    """Runs a command; whatever goes wrong becomes one sentence on standard error and exit code 2."""

    def main(self, args: Sequence[str] | None = None, *others: Any, **extra: Any) -> Any:
        """Run as typer does, with `--debug` understood at any place."""
        given = list(sys.argv[1:] if args is None else args)
        try:
            quietly = {**extra, "standalone_mode": False}  # typer would draw a box around an error
            status = super().main([each for each in given if each != "--debug"], *others, **quietly)
        except Exception as error:
            if "--debug" in given:
                traceback.print_exc()
            if said := _sentence(error, _options(self, given)):
                typer.echo(f"corel: {said}", err=True)
            raise SystemExit(2) from error
        if extra.get("standalone_mode", True):
            raise SystemExit(status)
        return status


def _options(command: Any, words: Sequence[str]) -> dict[str, str]:
    """What the command of these words calls its options and arguments, by the names that Python has for them."""
    for word in words:
        command = getattr(command, "commands", {}).get(word, command)
    return {
        each.name: max(each.opts, key=len) if each.opts[0].startswith("-") else _bare(each.metavar or each.name.upper())
        for each in command.params
    }


def _bare(metavar: str) -> str:
    """Give the name of an argument without the marks for "may be left out" and "one or more"."""
    return metavar.strip("[].…")


def _sentence(error: Exception, options: dict[str, str]) -> str:
    text = str(error)
    if isinstance(error, USAGE):
        text = _usage(error)
    elif isinstance(error, OSError) and error.strerror:  # the operating system's message names no fix
        place = f"{error.filename}: " if error.filename else ""
        text = f"{place}{error.strerror}; fix that, or name another path"
    elif not isinstance(error, EXPECTED):
        text = f"unexpected {type(error).__name__}: {error}; --debug shows where it arose, please report it"
    elif isinstance(error, (ArgumentError, ArgumentTypeError)):
        text = error.called(options.get(error.argument, error.argument))
    # A file's name or content may be quoted in it.
    return "\n".join(map(printable, text.split("\n")))


def _usage(error: Any) -> str:
    """What typer has to say, and where to read on; nothing if a bare `corel` made it print the help already."""
    # typer prints choices one a line
    said = " ".join(error.format_message().split()).rstrip(".").replace("Value error, ", "")
    return said and f"{said} (`{error.ctx.command_path} --help` shows what it takes)"


def _show_version(asked: bool) -> None:
    if asked:
        import torch

        device = torch.cuda.get_device_name() if torch.cuda.is_available() else "no GPU"
        typer.echo(f"corel {__version__}, torch {torch.__version__}, {device}")
        raise typer.Exit


app = typer.Typer(
    name="corel",
    cls=Commands,
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Every command has an example: corel score --help. With --debug an error shows its traceback.",
)


@app.callback()
def corel(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and stop."),
    ] = False,
) -> None:
    """Recognize a class from a handful of images, with one encoder that was trained once."""


for group in (_demo, _serve, _gallery, _thresholds, _audit, _sort, _watch, _find, _evaluate, _train, _backbones):
    group.register(app)
app.add_typer(_data.app, name="data", rich_help_panel=_train.PANEL)


def _unwrap(commands: typer.Typer) -> None:
    """Join the lines of each paragraph of a help text; typer would keep the line breaks of the source."""
    for each in commands.registered_commands:
        paragraphs = (inspect.getdoc(each.callback) or "").split("\n\n")
        each.help = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
    for group in commands.registered_groups:
        if group.typer_instance is not None:
            _unwrap(group.typer_instance)


_unwrap(app)


def main() -> None:
    """Run `corel`; warnings of the library are sentences too."""
    warnings.formatwarning = lambda message, *_, **__: f"corel: {message}\n"
    try:
        app()
    except SystemExit as end:
        if isinstance(end.code, int) and end.code > INTERRUPTED:
            _end_at_once(end.code)
        raise


def _end_at_once(code: int) -> None:
    """End without waiting for threads: one that is inside torch would abort the interpreter while it ends."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # a pipe that nobody reads, or a closed stream
            stream.flush()
    os._exit(code)
