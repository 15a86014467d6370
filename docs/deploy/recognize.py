"""Ask a running studio what is on photos: python recognize.py http://127.0.0.1:8420 photo.jpg …"""

import json
import os
import sys
import urllib.request
from pathlib import Path

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
    likeliest = max(range(len(scores["classes"])), key=image["likeness"].__getitem__)
    verdict = scores["classes"][likeliest] if image["known"] > 0.05 else "stranger"
    print(f"{image['name']}: {verdict} (p {image['known']:.3f})")
