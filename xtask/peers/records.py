"""The records that the Python peers serve, held in memory.

What enters is `stook export` output (JSON lines); memory is the fastest store
these servers can have, so they are measured at their best.
"""

import json
import os
from typing import NamedTuple, Optional


class Record(NamedTuple):
    identifier: str
    datestamp: str
    sets: list
    # None of a deleted record.
    oai_dc: Optional[bytes]


def load() -> list:
    records = []
    with open(os.environ["PEER_RECORDS"], encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            oai_dc = record["metadata"]["oai_dc"]
            records.append(
                Record(
                    record["identifier"],
                    record["datestamp"],
                    record["sets"],
                    oai_dc.encode() if oai_dc is not None else None,
                )
            )
    return records


def is_selected(record: Record, set_spec=None, from_=None, until=None) -> bool:
    """Whether a record is in the set or below it, and between the dates, which are points in time."""
    if set_spec and not any(spec == set_spec or spec.startswith(set_spec + ":") for spec in record.sets):
        return False
    if from_ and record.datestamp < written(from_):
        return False
    return not until or record.datestamp <= written(until)


def set_specs(records: list) -> list:
    """Every set that a record is in, and the sets above those."""
    specs = set()
    for record in records:
        for spec in record.sets:
            while spec:
                specs.add(spec)
                spec = spec.rpartition(":")[0]
    return sorted(specs)


def written(time) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


PAGE_SIZE = int(os.environ.get("PEER_PAGE_SIZE", "100"))
BASE_URL = os.environ.get("PEER_BASE_URL", "http://127.0.0.1:8000/oai")
