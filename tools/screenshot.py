"""Draw the picture of an explanation in the docs: `python -m tools.screenshot`.

A gallery of four things in scikit-learn's two photographs is asked about a new window of one of them. It overlaps with
enrolled ones, so it is a picture and no evidence. Writes docs/figures/why.png.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from corel import Gallery
from corel.demo.photos import THINGS, Thing, UInt8Array, load_photo
from corel.finding import windows_in
from corel.images import ImageSet
from experiments._lib.paths import FIGURES

SIDE, SHOWN = 55, 165  # pixels of a window in the photograph, and as a file
ENROLLED = 60


def windows(thing: Thing, count: int, seed: int) -> UInt8Array:
    """Cut windows out of a thing, enlarged to be looked at."""
    return windows_in(load_photo(thing.photo), thing.box, count, size=SHOWN, sides=[SIDE], seed=seed)


def main() -> None:
    """Enroll the demo's four things, and draw why a new window is taken for the pagoda."""
    with tempfile.TemporaryDirectory() as place, Gallery.open(Path(place, "photos.gallery"), create=True) as gallery:
        for name, thing in THINGS.items():
            gallery.enroll(name, windows(thing, ENROLLED, seed=0))
        new = ImageSet(windows(THINGS["pagoda"], 1, seed=2), None, (), ["new.png"], "a window")
        gallery.explain(new).draw().savefig(FIGURES / "why.png", dpi=110)
    print(f"wrote {FIGURES / 'why.png'}")


if __name__ == "__main__":
    main()
