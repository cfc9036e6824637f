"""The processes that read pictures."""

from __future__ import annotations

import os
import signal
import time

import pytest

from shotad.grammar.training_feed import worker_context


@pytest.mark.slow
def test_the_server_of_the_workers_outlives_a_signal_to_all() -> None:
    """Its workers leave without it, and a training that is told to stop would lose its next picture."""
    context = worker_context()
    with context.Pool(1) as workers:
        server = workers.apply(os.getppid)
        assert server != os.getpid()
        assert workers.apply(eval, ("'torch' in __import__('sys').modules",)), "each loads it for itself"
        os.kill(server, signal.SIGTERM)
        time.sleep(0.2)
        assert workers.apply(os.getppid) == server
        # The worker ignores the signal too, by which the pool would end it: it is asked to leave.
        workers.close()
        workers.join()
