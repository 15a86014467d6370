"""`corel serve`: the page and the HTTP API."""

from __future__ import annotations

import importlib.util
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from corel.cli._options import BackboneName

if TYPE_CHECKING:
    from corel.serve import Config

NEEDED = ("fastapi", "uvicorn", "python_multipart", "prometheus_client")


def register(app: typer.Typer) -> None:
    """Add this module's command."""
    app.command(rich_help_panel="Start here", epilog="Example: corel serve animals.gallery --open")(serve)


def serve(
    gallery: Annotated[
        Path, typer.Argument(metavar="[GALLERY]", help="The gallery's file; it appears with the first enrollment.")
    ] = Path("studio.gallery"),
    host: Annotated[str, typer.Option(help="The address to listen on; any but this machine's needs a token.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes a free one.")] = 8420,
    open_browser: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    token_file: Annotated[
        Path | None,
        typer.Option(dir_okay=False, help="A file with the token that clients need; else $COREL_TOKEN."),
    ] = None,
    public_url: Annotated[
        str | None, typer.Option(metavar="URL", help="The address that browsers see, behind a reverse proxy.")
    ] = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="Refuse every change.")] = False,
    backbone: BackboneName = None,
) -> None:
    """Open the studio: a page and an HTTP API to enroll, recognize, correct and explain.

    It listens on this machine alone unless told otherwise. Ctrl-C or SIGTERM ends it once running requests are done.
    """
    if missing := [name for name in NEEDED if importlib.util.find_spec(name) is None]:
        raise ModuleNotFoundError(f"the studio needs {', '.join(missing)}: pip install 'corel[serve]'")
    from corel.gallery import Gallery
    from corel.serve import Config, read_token
    from corel.serve import serve as run

    with Gallery.open(gallery, create=True):  # refuses a file that is no gallery before the server starts
        pass
    config = Config(gallery, backbone, host, port, read_token(token_file), public_url, read_only)
    run(config, started=lambda real: _announce(real, open_browser=open_browser))


def _announce(config: Config, *, open_browser: bool) -> None:
    typer.echo(f"{config.gallery.name} is served at {config.origin}/ (Ctrl-C ends it)")
    if open_browser:
        webbrowser.open(f"{config.origin}/")
