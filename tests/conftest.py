"""What tests in several folders ask for."""

from collections.abc import Iterator

import pytest
import torch
from hypothesis import HealthCheck, settings

# No test asserts how long something takes: a kernel compiles on its first call, and machines are busy.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


@pytest.fixture
def one_thread() -> Iterator[None]:
    """The networks are so small that a second thread only waits; and weights depend on the number of threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
