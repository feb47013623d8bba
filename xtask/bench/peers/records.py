"""The records that the Python peers serve, held in memory.

What enters is `stook export` output (JSON lines); memory is the fastest store
these servers can have, so they are measured at their best.
"""

import json
import os
from typing import NamedTuple


class Record(NamedTuple):
    identifier: str
    datestamp: str
    sets: list
    oai_dc: bytes


def load() -> list:
    records = []
    with open(os.environ["PEER_RECORDS"], encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            records.append(
                Record(
                    record["identifier"],
                    record["datestamp"],
                    record["sets"],
                    record["metadata"]["oai_dc"].encode(),
                )
            )
    return records


PAGE_SIZE = int(os.environ.get("PEER_PAGE_SIZE", "100"))
BASE_URL = os.environ.get("PEER_BASE_URL", "http://127.0.0.1:8000/oai")
