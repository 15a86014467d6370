"""Ask a running studio what is on photos: python recognize.py http://127.0.0.1:8420 photo.jpg …"""

import json
import os
import sys
import urllib.request
from pathlib import Path

RATE = 0.05  # of known images that may be called strangers
address, *photos = sys.argv[1:]
boundary = "a-line-that-is-in-no-photo"
body = b""
for photo in map(Path, photos):
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="images"; filename="{photo.name}"\r\n\r\n'
    body += head.encode() + photo.read_bytes() + b"\r\n"
headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
if "COREL_TOKEN" in os.environ:
    headers["Authorization"] = f"Bearer {os.environ['COREL_TOKEN']}"
request = urllib.request.Request(f"{address}/v1/score", body + f"--{boundary}--\r\n".encode(), headers)
with urllib.request.urlopen(request) as response:
    scores = json.load(response)
for image in scores["images"]:
    ranked = sorted(zip(image["likeness"], image["p_values"], scores["classes"], strict=True), reverse=True)
    possible = [name for _, p_value, name in ranked if p_value > RATE] or [ranked[0][2]]
    verdict = "stranger" if image["known"] <= RATE else " or ".join(possible)
    print(f"{image['name']}: {verdict if image['photographic'] else 'not a photograph'} (p {image['known']:.3f})")
for photo in scores["skipped"]:
    print(f"{photo['name']}: {photo['reason']}")
