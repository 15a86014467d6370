from __future__ import annotations

import subprocess
import sys


def test_a_short_attack_does_no_harm() -> None:
    """Another process: it forks, and the threads of this one would not survive that."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.attack", "--minutes", "0.01"], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
