"""The JSON of the API, in the words of the Python API."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field


class EncoderSettings(BaseModel):
    """The encoder behind the gallery."""

    digest: str = Field(description="the beginning of the backbone's content hash")
    size: int = Field(description="the height and width that it sees, in pixels")


class LimitSettings(BaseModel):
    """How much a request may hold."""

    body_bytes: int
    files: int
    pixels: int


class Settings(BaseModel):
    """What a client needs to know about the server."""

    version: str
    gallery: str = Field(description="the gallery's file name")
    read_only: bool
    token: bool = Field(description="whether clients need a token")
    undo_seconds: float
    limits: LimitSettings
    encoder: EncoderSettings | None = Field(description="null while it is being loaded")


class ClassCard(BaseModel):
    """A class, with some of its exemplars to show."""

    name: str
    exemplars: int
    cover: list[str] = Field(description="hashes of a few exemplars, whose thumbnails make the card's picture")


class Classes(BaseModel):
    """All classes in alphabetical order."""

    classes: list[ClassCard]


class Exemplar(BaseModel):
    """An enrolled image."""

    hash: str
    source: str = Field(description="what the file was called, as text")
    enrolled: str


class Exemplars(BaseModel):
    """One page of a class's exemplars."""

    name: str
    total: int
    exemplars: list[Exemplar]


class Fit(Exemplar):
    """An exemplar and how well it fits."""

    score: float = Field(description="its score by the rest of its class")
    odd: bool = Field(description="far below what is usual in its class")


class Audit(BaseModel):
    """One page of a class's exemplars, those that fit worst first."""

    name: str
    total: int
    exemplars: list[Fit]


class FileOutcome(BaseModel):
    """What became of one file of an enrollment."""

    name: str
    outcome: Literal["added", "duplicate", "skipped"]
    hash: str | None = None
    reason: str | None = None


class Enrollment(BaseModel):
    """What an enrollment did, file by file."""

    name: str
    added: int
    duplicates: int
    files: list[FileOutcome]


class Skipped(BaseModel):
    """A file that could not be read."""

    file: int = Field(description="its place among the request's files")
    name: str
    reason: str


class ScoredImage(BaseModel):
    """One image against all classes; the lists are in the order of `Scores.classes`."""

    file: int | None = Field(description="its place among the request's files; null for one that was kept")
    name: str
    hash: str = Field(description="of the prepared pixels; scores the image again while the server keeps it")
    known: float = Field(description="p-value for `one of the enrolled classes`")
    photographic: bool = Field(description="false for blank, flat and noise frames")
    enrolled: list[str] = Field(description="the classes that hold this very image")
    p_values: list[float]
    likeness: list[float]


class Calibration(BaseModel):
    """How the exemplars of each class fit, each with itself left out: what a decision at any rate needs beside scores.

    See `corel.oneclass.Calibration`.
    """

    own: list[list[float]]
    joined: list[list[float]]


class Scores(BaseModel):
    """Images against all classes."""

    classes: list[str]
    exemplars: list[int] = Field(description="each class's number of exemplars")
    calibration_key: str = Field(description="changes with the calibration")
    calibration: Calibration | None = Field(description="null if the request's field `calibration` has this key")
    images: list[ScoredImage]
    skipped: list[Skipped]


class Voter(Exemplar):
    """An exemplar that speaks for an image."""

    share: float = Field(description="its share of all that speaks for the image")


class Reasons(BaseModel):
    """An image against one class."""

    name: str
    score: float
    p_value: float = Field(description="decides at a rate of 5%; classes too small for it share one category")
    exemplars: int
    voters: list[Voter] = Field(description="the most important first")


class Explanation(BaseModel):
    """An image against the classes that were asked for."""

    hash: str
    classes: list[Reasons]


class FoundPhoto(BaseModel):
    """Where in a photo the thing is: p-values of windows, which a rate cuts off."""

    name: str
    width: int
    height: int
    rows: list[float] = Field(description="the pixel rows that the windows are centered on")
    columns: list[float] = Field(description="the pixel columns that they are centered on")
    p_values: list[list[float]] = Field(description="one row of windows after the other")


class FoundPhotos(BaseModel):
    """All photos of a search, in the order in which they were sent."""

    photos: list[FoundPhoto]


class Rename(BaseModel):
    """A class's new name."""

    name: str


class Undo(BaseModel):
    """The key that a removal gave."""

    undo: str = Field(max_length=100)


class Count(BaseModel):
    """How many exemplars were changed."""

    exemplars: int


class Removal(Count):
    """How many exemplars were removed, and how to put them back."""

    undo: str
    seconds: float = Field(description="how long this can be undone")
