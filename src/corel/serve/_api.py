"""The JSON API under /v1.

A class's name is a query parameter, not a part of the path: a class may be called `..`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from corel._version import __version__
from corel.gallery import Exemplar
from corel.gallery import Scores as GalleryScores
from corel.images import Skipped
from corel.serve import _finding
from corel.serve import _schema as schema
from corel.serve._memory import Prepared
from corel.serve._problems import Refused
from corel.serve._site import Site, SiteOf
from corel.serve._uploads import Form

router = APIRouter(prefix="/v1", responses={"4XX": {"description": "a problem document (RFC 9457)"}})

MOST_EXPLAINED = 4  # classes a request
PAGE = 100  # exemplars a request
KEPT = "images that were scored before, if they are still kept"
Name = Annotated[str, Query(description="the class")]
Hashes = Annotated[list[str], Query(alias="hash", max_length=500)]
Offset = Annotated[int, Query(ge=0)]
Limit = Annotated[int, Query(ge=1, le=500)]


def _takes_images(**fields: str) -> dict[str, Any]:
    """Describe a multipart form in the API's description."""
    properties: dict[str, Any] = {"images": {"type": "array", "items": {"type": "string", "format": "binary"}}}
    properties |= {
        name: {"type": "array", "items": {"type": "string"}, "description": said} for name, said in fields.items()
    }
    content = {"multipart/form-data": {"schema": {"type": "object", "properties": properties}}}
    return {"requestBody": {"required": True, "content": content}}


@router.get("/settings")
async def settings(site: SiteOf) -> schema.Settings:
    """What the server serves, and its limits."""
    config = site.config
    limits = schema.LimitSettings(
        body_bytes=config.limits.body_bytes, files=config.limits.files, pixels=config.limits.pixels
    )
    return schema.Settings(
        version=__version__, gallery=config.gallery.name, read_only=config.read_only, token=config.token is not None,
        undo_seconds=config.limits.undo_seconds, limits=limits,
        encoder=schema.EncoderSettings(**site.studio.encoder) if site.studio.encoder else None,
    )  # fmt: skip


@router.get("/classes")
async def classes(site: SiteOf) -> schema.Classes:
    """List the classes."""
    cards = await site.read(site.studio.cards)
    return schema.Classes(
        classes=[schema.ClassCard(name=card.name, exemplars=card.exemplars, cover=list(card.cover)) for card in cards]
    )


@router.patch("/classes")
async def rename(name: Name, new: schema.Rename, site: SiteOf) -> schema.Count:
    """Give a class another name."""
    return schema.Count(exemplars=await site.work(lambda: site.studio.rename(name, new.name)))


@router.delete("/classes")
async def forget(name: Name, site: SiteOf) -> schema.Count:
    """Forget a class; this cannot be undone."""
    return schema.Count(exemplars=await site.work(lambda: site.studio.forget(name)))


@router.get("/exemplars")
async def exemplars(name: Name, site: SiteOf, offset: Offset = 0, limit: Limit = PAGE) -> schema.Exemplars:
    """List a class's exemplars in the order of their enrollment."""
    found, total = await site.read(lambda: site.studio.exemplars(name, slice(offset, offset + limit)))
    return schema.Exemplars(name=name, total=total, exemplars=[schema.Exemplar(**_described(each)) for each in found])


@router.post("/exemplars", openapi_extra=_takes_images())
async def enroll(name: Name, request: Request, site: SiteOf) -> schema.Enrollment:
    """Add images to a class, new or not; those that cannot be read are listed."""
    async with site.form(request) as form:
        found = await site.prepare(form, pictures=True)
    items = [each for each in found if isinstance(each, Prepared)]
    _need_one(items, found)
    before = await site.work(lambda: site.studio.enroll(name, items))
    files = [_outcome(each, before) for each in found]
    counts = {what: sum(each.outcome == what for each in files) for what in ("added", "duplicate")}
    site.metrics.images.labels("enrolled").inc(counts["added"])
    return schema.Enrollment(name=name, added=counts["added"], duplicates=counts["duplicate"], files=files)


@router.delete("/exemplars")
async def remove(name: Name, hashes: Hashes, site: SiteOf) -> schema.Removal:
    """Remove exemplars of a class; the answer's key puts them back."""
    count, key = await site.work(lambda: site.studio.remove(name, hashes))
    return schema.Removal(exemplars=count, undo=key, seconds=site.config.limits.undo_seconds)


@router.post("/exemplars/undo")
async def undo(removal: schema.Undo, site: SiteOf) -> schema.Count:
    """Put removed exemplars back."""
    return schema.Count(exemplars=await site.work(lambda: site.studio.undo(removal.undo)))


@router.get("/thumbnails", response_class=Response)
async def thumbnail(name: Name, digest: Annotated[str, Query(alias="hash", max_length=100)], site: SiteOf) -> Response:
    """Give an exemplar's picture."""
    content = await site.read(lambda: site.studio.thumbnail(name, digest))
    # The same hash is the same picture, whatever happens to the gallery.
    kept = {"Cache-Control": "private, max-age=86400, immutable", "Vary": "Cookie, Authorization"}
    return Response(content, media_type=_media_type(content), headers=kept)


@router.get("/audit")
async def audit(name: Name, site: SiteOf, offset: Offset = 0, limit: Limit = PAGE) -> schema.Audit:
    """List a class's exemplars, those that fit worst first."""
    found = await site.audit(lambda: site.studio.audit(name))
    shown = [schema.Fit(**vars(each)) for each in found[offset : offset + limit]]
    return schema.Audit(name=name, total=len(found), exemplars=shown)


@router.post("/score", openapi_extra=_takes_images(hash=KEPT, calibration="the key of the one you have"))
async def score(request: Request, site: SiteOf) -> schema.Scores:
    """Score images against all classes."""
    async with site.form(request) as form:
        kept = site.studio.recall(form.fields.get("hash", ()))
        found = await site.prepare(form)
    items = [*kept, *(each for each in found if isinstance(each, Prepared))]
    places = [None] * len(kept) + [i for i, each in enumerate(found) if isinstance(each, Prepared)]
    _need_one(items, found)
    scores = await site.score(items)
    sizes = await site.read(site.studio.sizes)
    site.metrics.images.labels("scored").inc(len(items))
    key, calibration = _calibration(scores, form.fields.get("calibration", ()))
    return schema.Scores(
        calibration_key=key,
        calibration=calibration,
        classes=list(scores.classes),
        exemplars=[sizes.get(each, 0) for each in scores.classes],
        images=[_scored(each, places[row], scores, row) for row, each in enumerate(items)],
        skipped=_skipped(found),
    )


@router.post("/explain", openapi_extra=_takes_images(name="classes", hash="the image, if it is still kept"))
async def explain(request: Request, site: SiteOf) -> schema.Explanation:
    """Tell which exemplars of each named class speak for one image."""
    async with site.form(request) as form:
        names = _named(form)
        kept = site.studio.recall(form.fields.get("hash", ()))
        found = [*kept, *await site.prepare(form)]
    items = [each for each in found if isinstance(each, Prepared)]
    _need_one(items, found)
    if len(found) != 1:
        raise ValueError(f"one image is explained at a time, got {len(found)}")
    reasons = [await _reasons(site, items[0], name) for name in names]
    return schema.Explanation(hash=items[0].hash, classes=reasons)


@router.post("/find", openapi_extra=_takes_images(box="left,top,width,height in the first photo", name="or a class"))
async def find(request: Request, site: SiteOf) -> schema.FoundPhotos:
    """Show where in photos the thing is that a box of the first one marks, or a class names."""
    async with site.form(request) as form:
        wanted, photos = _finding.wanted(form), _finding.photos(form, site.config.limits.pixels)
        found = await site.find(lambda: _finding.search(site.studio, wanted, photos))
    site.metrics.images.labels("searched").inc(len(found))
    return schema.FoundPhotos(photos=found)


async def _reasons(site: Site, item: Prepared, name: str) -> schema.Reasons:
    found = await site.work(lambda: site.studio.explain(item, name))
    voters = [schema.Voter(**_described(each.exemplar), share=each.share) for each in found.voters]
    return schema.Reasons(name=name, score=found.score, p_value=found.p_value, exemplars=found.exemplars, voters=voters)


def _named(form: Form) -> list[str]:
    names = form.fields.get("name", [])
    if not 1 <= len(names) <= MOST_EXPLAINED:
        raise ValueError(f"name one to {MOST_EXPLAINED} classes in fields called 'name', got {len(names)}")
    return names


def _need_one(items: Sequence[Prepared], found: Sequence[Prepared | Skipped]) -> None:
    if items:
        return
    skipped = _skipped(found)
    if not skipped:
        raise Refused(HTTPStatus.UNPROCESSABLE_ENTITY, "no-image", "there is no image in the form; send at least one")
    raise Refused(
        HTTPStatus.UNPROCESSABLE_ENTITY, "unreadable", f"{skipped[0].name} {skipped[0].reason}",
        skipped=[each.model_dump() for each in skipped],
    )  # fmt: skip


def _skipped(found: Sequence[Prepared | Skipped]) -> list[schema.Skipped]:
    return [
        schema.Skipped(file=i, name=each.path, reason=each.reason)
        for i, each in enumerate(found)
        if isinstance(each, Skipped)
    ]


def _outcome(each: Prepared | Skipped, before: set[str]) -> schema.FileOutcome:
    if isinstance(each, Skipped):
        return schema.FileOutcome(name=each.path, outcome="skipped", reason=each.reason)
    if each.hash in before:
        reason = "the class holds this picture already"
        return schema.FileOutcome(name=each.name, outcome="duplicate", hash=each.hash, reason=reason)
    before.add(each.hash)
    return schema.FileOutcome(name=each.name, outcome="added", hash=each.hash)


def _scored(item: Prepared, place: int | None, scores: GalleryScores, row: int) -> schema.ScoredImage:
    return schema.ScoredImage(
        file=place, name=item.name, hash=item.hash, known=float(scores.known[row]),
        p_values=scores.p_values[row].tolist(), likeness=scores.likeness[row].tolist(),
        photographic=scores.photographic is None or bool(scores.photographic[row]),
        enrolled=list(scores.enrolled[row]) if scores.enrolled else [],
    )  # fmt: skip


def _calibration(scores: GalleryScores, has: Sequence[str]) -> tuple[str, schema.Calibration | None]:
    own, joined = scores.calibration.own, scores.calibration.joined
    key = hashlib.sha256(repr(scores.classes).encode() + b"".join(each.tobytes() for each in own)).hexdigest()[:16]
    if key in has:
        return key, None
    return key, schema.Calibration(own=[each.tolist() for each in own], joined=[each.tolist() for each in joined])


def _described(exemplar: Exemplar) -> dict[str, str]:
    return {"hash": exemplar.hash, "source": exemplar.source, "enrolled": exemplar.enrolled}


def _media_type(content: bytes) -> str:
    """Tell the few types that a gallery stores apart; anything else is not shown as an image."""
    for start, kind in ((b"\x89PNG", "png"), (b"\xff\xd8\xff", "jpeg"), (b"RIFF", "webp")):
        if content.startswith(start):
            return f"image/{kind}"
    return "application/octet-stream"
