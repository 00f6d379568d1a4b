"""One measured step over a generated memory log, in a process of its own: prints seconds and peak memory as JSON.

Usage: observation_steps.py observe|curate|plain_loop COUNT
"""

from __future__ import annotations

import json
import resource
import sys
import time
from datetime import timedelta

from observation_logs import START, memory_log

from slowwave.flows.word_vectors import word_vectors
from slowwave.transforms.curation_decisions import curation_decisions
from slowwave.transforms.observation_params import ObservationParams
from slowwave.transforms.observations import observed
from slowwave.transforms.schema import empty
from slowwave.transforms.serving_tables import MemoryHealth

if __name__ == "__main__":
    name, count = sys.argv[1], int(sys.argv[2])
    states = memory_log(count)
    started, cpu = time.perf_counter(), time.process_time()
    if name == "observe":
        rows = observed(states, empty(MemoryHealth), word_vectors, START + timedelta(days=400), ObservationParams())
        made = rows.observations.height
    elif name == "curate":
        made = curation_decisions(states, word_vectors, ObservationParams()).height
    else:
        # every pair of texts, compared by the words they share
        texts = [frozenset(text.lower().split()) for text in states["content"]]
        made = sum(len(one & two) > 0.8 * len(one | two) for place, one in enumerate(texts) for two in texts[:place])
    print(
        json.dumps(
            {
                "seconds": time.perf_counter() - started,
                "cpu_seconds": time.process_time() - cpu,
                "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
                "rows": made,
            }
        )
    )
