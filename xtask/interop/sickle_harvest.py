"""Harvest with Sickle: one line per record, `identifier TAB datestamp TAB deleted TAB sets`.

Usage: sickle_harvest.py BASE_URL [set=SPEC] [from=DATE] [until=DATE]
"""

import sys

from sickle import Sickle


def main() -> None:
    base_url, *selection = sys.argv[1:]
    arguments = dict(pair.split("=", 1) for pair in selection)
    # Sickle does not retry a 503 unless told to.
    client = Sickle(base_url, max_retries=5, default_retry_after=1)
    for record in client.ListRecords(metadataPrefix="oai_dc", **arguments):
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
