"""What to make of an image: known, unsure or a stranger, at the rate of false alarms that one chooses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Answer: TypeAlias = Literal["known", "unsure", "stranger", "not a photograph"]


@dataclass(frozen=True)
class Verdict:
    """What a gallery says about one image at one rate.

    Attributes:
        image: the image's name.
        verdict: `not a photograph` for a blank, flat or noise frame; else `stranger` if and only if `p_value` ≤ rate,
            or a stricter limit with a confidence; else `known` where one class is left, `unsure` where several are, or
            none. An enrolled image is `known`, or `unsure` if several classes hold it.
        classes: the classes that it may be, likeliest first; a stranger has none, nor has a blank frame. Of an enrolled
            image the classes that hold it.
        likeliest: the class that it is most like, whatever the verdict.
        p_value: for "of one of the enrolled classes".
        enrolled: the classes that hold this very image.

    """

    image: str
    verdict: Answer
    classes: tuple[str, ...]
    likeliest: str
    p_value: float
    enrolled: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self._text()} ({self.note})" if self.note else self._text()

    @property
    def is_outlier(self) -> bool:
        """Whether the image is of no enrolled class."""
        return self.verdict not in ("known", "unsure")

    @property
    def best(self) -> str:
        """The first class that the verdict names; the likeliest where it names none."""
        return self.classes[0] if self.classes else self.likeliest

    @property
    def note(self) -> str:
        """What else to know of the image, or nothing."""
        return f"already enrolled as {' and '.join(self.enrolled)}" if self.enrolled else ""

    def _text(self) -> str:
        if self.verdict == "known":
            return self.classes[0]
        if self.verdict == "unsure":
            *others, last = self.classes or (f"most like {self.likeliest}",)
            return f"unsure: {', '.join(others)}{' or ' if others else ''}{last}"
        if self.verdict == "not a photograph":
            return self.verdict
        return f"{self.verdict}, most like {self.likeliest}"


def answer(p_value: float, classes: tuple[str, ...], limit: float) -> Answer:
    """Decide from the p-value for "of one of the enrolled classes" and the prediction set."""
    if p_value <= limit:
        return "stranger"
    return "known" if len(classes) == 1 else "unsure"
