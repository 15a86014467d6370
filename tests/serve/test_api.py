"""The API with a real server: what it says is what the library says."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest
from PIL import Image

import corel
from corel.backbone import Backbone
from corel.gallery import Gallery
from tests.serve.conftest import halves, picture, pictures
from tests.serve.servers import Server

Start = Callable[..., Server]


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    paths = []
    for name, content in [*pictures("red", 3, 500), *pictures("blue", 2, 500)]:
        paths.append(tmp_path / name)
        paths[-1].write_bytes(content)
    return paths


def test_scores_are_those_of_the_library(server: Server, enrolled: Path, encoder: Path, files: list[Path]) -> None:
    answer = server.post("/v1/score", [(path.name, path.read_bytes()) for path in files])
    with Gallery.open(enrolled, encoder) as opened:
        expected = opened.score(files)
    assert answer.status == 200
    assert answer.json["classes"] == list(expected.classes) == ["green", "red"]
    assert answer.json["exemplars"] == [25, 30]
    np.testing.assert_array_equal([each["known"] for each in answer.json["images"]], expected.known)
    again = server.post("/v1/score", calibration=answer.json["calibration_key"], hash=answer.json["images"][0]["hash"])
    assert (again.json["calibration_key"], again.json["calibration"]) == (answer.json["calibration_key"], None)
    assert [each["name"] for each in answer.json["images"]] == [path.name for path in files]
    for key, values in (
        ("p_values", expected.p_values), ("likeness", expected.likeness),
    ):  # fmt: skip
        np.testing.assert_array_equal([each[key] for each in answer.json["images"]], values)


def test_a_kept_image_is_scored_again_by_its_hash(server: Server) -> None:
    (first,) = server.post("/v1/score", [picture("red", 700)]).json["images"]
    (again,) = server.post("/v1/score", hash=first["hash"]).json["images"]
    assert again == {**first, "file": None}
    unknown = server.post("/v1/score", hash=["0" * 64, first["hash"]])
    assert (unknown.status, unknown.json["missing"]) == (404, ["0" * 64])


def test_an_enrollment_says_what_became_of_each_file(server: Server) -> None:
    sent = [picture("blue", 1), picture("blue", 2), picture("blue", 1), ("notes.txt", b"no image")]
    answer = server.enroll("azure", sent)
    assert [each["outcome"] for each in answer.json["files"]] == ["added", "added", "duplicate", "skipped"]
    assert (answer.json["added"], answer.json["duplicates"]) == (2, 1)
    assert "is no JPEG" in answer.json["files"][3]["reason"]
    assert server.classes()["azure"] == 2
    assert {each["hash"] for each in server.exemplars("azure")} == {each["hash"] for each in answer.json["files"][:2]}


def test_thumbnails_are_pictures_that_may_be_cached(server: Server) -> None:
    digest = server.exemplars("red")[0]["hash"]
    answer = server.get(f"/v1/thumbnails?name=red&hash={digest}")
    assert answer.status == 200
    assert answer.headers["content-type"].startswith("image/")
    assert "immutable" in answer.headers["cache-control"]
    assert server.get(f"/v1/thumbnails?name=red&hash={'0' * 64}").status == 404


def test_thumbnails_show_more_than_a_small_encoder_sees(server: Server, encoder: Path) -> None:
    assert Backbone.load(encoder).network.input_shape[-1] == 8
    (enrolled,) = server.enroll("large", [picture("blue", 30, size=300)]).json["files"]
    content = server.get(f"/v1/thumbnails?name=large&hash={enrolled['hash']}").body
    with Image.open(io.BytesIO(content)) as shown:
        assert shown.size == (96, 96)
    server.ask("DELETE", "/v1/classes?name=large")


def test_classes_are_shown_while_the_encoder_is_loaded(gallery: Path, start: Start) -> None:
    server = start(gallery, ready=False)
    digest = server.exemplars("red")[0]["hash"]
    assert server.get(f"/v1/thumbnails?name=red&hash={digest}").status == 200
    assert server.classes() == {"green": 25, "red": 30}
    assert server.wait_until_ready().get("/v1/settings").json["encoder"]["size"] == 8


def test_lists_come_in_pages(server: Server) -> None:
    everything = server.exemplars("red")
    page = server.get("/v1/exemplars?name=red&offset=10&limit=5").json
    assert page["total"] == 30
    assert page["exemplars"] == everything[10:15]
    assert server.get("/v1/exemplars?name=red&limit=501").status == 422


def test_an_odd_exemplar_comes_first(server: Server) -> None:
    server.enroll("ruby", [*pictures("red", 20, 300), picture("blue", 3)])
    first, *others = server.get("/v1/audit?name=ruby&limit=500").json["exemplars"]
    assert (first["source"], first["odd"]) == ("blue-3.png", True)
    assert [each["score"] for each in others] == sorted(each["score"] for each in others)


def test_voters_are_exemplars_and_the_most_important_come_first(server: Server) -> None:
    answer = server.post("/v1/explain", [picture("red", 800)], name=["red", "green"])
    red, green = answer.json["classes"]
    assert (red["name"], green["name"]) == ("red", "green")
    assert red["p_value"] > 0.05 >= green["p_value"]
    shares = [each["share"] for each in red["voters"]]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(1)
    assert {each["hash"] for each in red["voters"]} <= {each["hash"] for each in server.exemplars("red")}


def test_removal_can_be_undone_once(gallery: Path, start: Start) -> None:
    server = start(gallery, limits={"undo_seconds": 1000.0})
    before = {each["hash"]: each for each in server.exemplars("red")}
    chosen = list(before)[:3]
    removed = server.ask("DELETE", f"/v1/exemplars?name=red&hash={'&hash='.join(chosen)}")
    assert (removed.json["exemplars"], removed.json["seconds"]) == (3, 1000.0)
    assert server.classes()["red"] == 27
    with Gallery.open(gallery) as opened:  # in memory, not in the file
        assert not {each.hash for each in opened.exemplars("red")} & set(chosen)
    key = {"undo": removed.json["undo"]}
    assert [server.send("POST", "/v1/exemplars/undo", key).status for _ in range(2)] == [200, 410]
    assert {each["hash"]: each for each in server.exemplars("red")} == before
    server.ask("DELETE", f"/v1/exemplars?name=red&hash={chosen[0]}")
    unknown = server.ask("DELETE", f"/v1/exemplars?name=red&hash={chosen[0]}")
    assert (unknown.status, unknown.json["reason"]) == (404, "hash")


def test_what_was_removed_returns_to_a_class_that_was_renamed(gallery: Path, start: Start) -> None:
    server = start(gallery)
    digest = server.exemplars("red")[0]["hash"]
    key = server.ask("DELETE", f"/v1/exemplars?name=red&hash={digest}").json["undo"]
    server.send("PATCH", "/v1/classes?name=red", {"name": "crimson"})
    assert server.send("POST", "/v1/exemplars/undo", {"undo": key}).json == {"exemplars": 1}
    assert server.classes() == {"crimson": 30, "green": 25}


def test_classes_are_renamed_and_forgotten(server: Server) -> None:
    server.enroll("old", pictures("blue", 3))
    odd = ".. & ünïcode?"
    assert server.send("PATCH", "/v1/classes?name=old", {"name": odd}).json == {"exemplars": 3}
    assert server.classes()[odd] == 3
    taken = server.send("PATCH", "/v1/classes?name=green", {"name": odd})
    assert taken.status == 422
    assert "already" in taken.json["detail"]
    assert server.send("PATCH", "/v1/classes?name=nobody", {"name": "x"}).status == 404
    assert server.ask("DELETE", f"/v1/classes?name={quote(odd)}").json == {"exemplars": 3}
    assert odd not in server.classes()


def test_a_new_gallery_appears_with_its_first_class(tmp_path: Path, start: Start) -> None:
    server = start(tmp_path / "new.gallery")
    assert server.get("/v1/classes").json == {"classes": []}
    nothing = server.post("/v1/score", [picture("red", 1)])
    assert nothing.status == 422
    assert "enroll" in nothing.json["detail"]
    assert not (tmp_path / "new.gallery").exists()
    assert server.enroll("red", pictures("red", 2)).status == 200
    assert (tmp_path / "new.gallery").exists()


def test_two_servers_and_the_library_share_a_gallery(gallery: Path, encoder: Path, start: Start) -> None:
    one, two = start(gallery), start(gallery)
    one.enroll("blue", pictures("blue", 3))
    assert two.classes()["blue"] == 3
    with Gallery.open(gallery, encoder) as opened:
        opened.forget("red")
    for server in (one, two):
        assert server.post("/v1/score", [picture("green", 9)]).json["classes"] == ["blue", "green"]


def test_the_description_of_the_api_names_every_route(server: Server) -> None:
    described = server.get("/v1/openapi.json").json
    assert set(described["paths"]) == {
        "/v1/settings", "/v1/classes", "/v1/exemplars", "/v1/exemplars/undo", "/v1/thumbnails", "/v1/audit",
        "/v1/score", "/v1/explain", "/v1/find",
    }  # fmt: skip
    assert "images" in json.dumps(described["paths"]["/v1/score"]["post"]["requestBody"])


def test_the_program_in_the_documentation_decides_as_the_library_does(
    start: Callable[..., Server], gallery: Path, encoder: Path, tmp_path: Path
) -> None:
    names = ["red-1.png", "blue-1.png", "broken.png"]
    for name, content in (picture("red", 1), picture("blue", 1), ("broken.png", b"no image")):
        (tmp_path / name).write_bytes(content)
    program = Path(__file__).parents[2] / "docs" / "deploy" / "recognize.py"
    asked = [sys.executable, str(program), start(gallery).url, *(str(tmp_path / name) for name in names)]
    said = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.splitlines()
    with Gallery.open(gallery, encoder) as opened:
        for line, name in zip(said, names[:2], strict=False):
            (found,) = opened.recognize(tmp_path / name)
            expected = " or ".join(found.classes) if found.verdict in ("known", "unsure") else found.verdict
            assert line == f"{name}: {expected} (p {found.p_value:.3f})"
    assert said[2].startswith("broken.png: is no ")


def test_numbers_for_prometheus(server: Server) -> None:
    server.post("/v1/score", pictures("red", 3, 900))
    server.get("/made/up/by/a/client")
    text = server.get("/metrics").body.decode()
    assert 'corel_requests_total{method="POST",route="/v1/score",status="200"}' in text
    assert "corel_batch_images_sum" in text
    assert 'corel_images_total{outcome="scored"}' in text
    assert "made/up" not in text


def test_a_thing_is_found_in_photos(server: Server, encoder: Path) -> None:
    name, content = halves()
    answer = server.post("/v1/find", [(name, content), picture("green", 3)], box="4,4,36,36")
    (expected, other) = corel.find(
        content, (4, 4, 36, 36), others=[picture("green", 3)[1]], backbone=Backbone.load(encoder)
    )
    assert [each["name"] for each in answer.json["photos"]] == [name, "green-3.png"]
    for each, found in zip(answer.json["photos"], (expected, other), strict=True):
        np.testing.assert_allclose(each["p_values"], found.p_values, atol=1e-4)
        np.testing.assert_array_equal(each["columns"], found.columns)
    by_class = server.post("/v1/find", [(name, content)], name="red").json["photos"][0]
    kept = np.array(by_class["p_values"]) > 0.05
    middle = kept.shape[1] // 2
    assert kept[:, : middle - 2].mean() > 0.5 > kept[:, middle + 2 :].mean()
