"""Seeds are played one after the other, and each leaves its world as garbage at once: it is collected seldom, and what
was imported is never looked at again. A tenth less time for each seed."""

import gc

import pytest


def pytest_collection_finish(session: pytest.Session) -> None:
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)
