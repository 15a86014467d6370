"""The library's version, read by the build and written into every artefact."""

__version__ = "0.1.0"
