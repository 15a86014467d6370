import os
import subprocess
import sys

import pytest

# Without `keep_freed_memory` each of the 512 images costs 40 page faults.
SCRIPT = """
import platform, resource
import numpy as np
import corel
backbone, images = corel.Backbone.load(), np.zeros((512, 32, 32, 3), np.uint8)
for _ in range(2):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    backbone.encode(images)
print(platform.libc_ver()[0], resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's malloc alone is told to keep memory")
def test_encoding_in_one_thread_takes_its_memory_from_what_it_freed() -> None:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    environment = {name: value for name, value in environment.items() if not name.startswith("MALLOC_")}
    found = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True)
    library, faults = found.stdout.split()
    if library != "glibc":
        pytest.skip(f"this is {library}, and glibc's malloc alone is told to keep memory")
    assert int(faults) < 512
