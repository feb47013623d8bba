"""Harvest with oaipmh-scythe: one line per record, `identifier TAB datestamp TAB deleted TAB sets`.

Usage: scythe_harvest.py BASE_URL [set=SPEC] [from=DATE] [until=DATE]
"""

import sys

from oaipmh_scythe import Scythe
from oaipmh_scythe.config import RetryConfig


def main() -> None:
    base_url, *selection = sys.argv[1:]
    # Its argument names avoid Python's keywords.
    arguments = {
        {"set": "set_", "from": "from_"}.get(key, key): value
        for key, value in (pair.split("=", 1) for pair in selection)
    }
    retry = RetryConfig(max_retries=5, default_retry_after=1)
    with Scythe(base_url, retry_config=retry) as client:
        for record in client.list_records(metadata_prefix="oai_dc", **arguments):
            header = record.header
            if not header.deleted and not record.metadata:
                sys.exit(f"{header.identifier} came without metadata")
            print(
                header.identifier,
                header.datestamp,
                int(header.deleted),
                " ".join(sorted(header.setSpecs)),
                sep="\t",
            )


main()
