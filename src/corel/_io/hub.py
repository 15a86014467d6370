"""Backbones on the Hugging Face Hub: one file and its card in a repository. Imported only when asked for."""

from __future__ import annotations

import re
from pathlib import Path

FILE, CARD = "backbone.safetensors", "README.md"
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")
_NEEDED = "the Hugging Face Hub needs a package that is not here: pip install 'corel[hub]'"


def is_repository(name: str) -> bool:
    """Tell whether a name looks like a repository's, ``owner/name``."""
    return _REPOSITORY.fullmatch(name) is not None


def download(repository: str, revision: str | None = None) -> Path:
    """Give the local path of a repository's backbone; it is downloaded the first time."""
    try:
        from huggingface_hub import hf_hub_download
    except ImportError as error:
        raise ImportError(_NEEDED) from error
    try:
        return Path(hf_hub_download(repository, FILE, revision=revision))
    except Exception as error:  # the package raises a dozen types, most of which are no OSError
        raise OSError(
            f"cannot get {FILE} of {repository} from the Hub ({_reason(error)}); check the name and the network"
        ) from error


def upload(repository: str, folder: Path, *, private: bool) -> str:
    """Create the repository unless it is there, put the folder's files into it, and give its address."""
    try:
        from huggingface_hub import create_repo, upload_folder
    except ImportError as error:
        raise ImportError(_NEEDED) from error
    try:
        address = str(create_repo(repository, private=private, exist_ok=True))
        upload_folder(repo_id=repository, folder_path=folder, commit_message="Upload a corel backbone")
    except Exception as error:
        raise OSError(
            f"cannot upload to {repository} ({_reason(error)}); log in with `hf auth login`, check the name"
        ) from error
    return address


def _reason(error: Exception) -> str:
    """The first line of a message; some have none."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]
