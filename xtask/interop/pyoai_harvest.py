"""Harvest with pyoai's client: one line per record, `identifier TAB datestamp TAB deleted TAB sets`.

Usage: pyoai_harvest.py BASE_URL [set=SPEC] [from=DATE] [until=DATE]

It is the one client of the five that sends its requests by POST.
"""

import sys

from oaipmh.client import Client
from oaipmh.datestamp import datestamp_to_datetime, datetime_to_datestamp
from oaipmh.metadata import MetadataRegistry, oai_dc_reader


def main() -> None:
    base_url, *selection = sys.argv[1:]
    arguments = dict(pair.split("=", 1) for pair in selection)
    # It takes points in time, not text, and writes them in the granularity
    # that Identify announced.
    if "from" in arguments:
        arguments["from_"] = datestamp_to_datetime(arguments.pop("from"))
    if "until" in arguments:
        arguments["until"] = datestamp_to_datetime(arguments["until"])

    registry = MetadataRegistry()
    registry.registerReader("oai_dc", oai_dc_reader)
    client = Client(base_url, registry)
    client.updateGranularity()
    day = client._day_granularity

    for header, metadata, _about in client.listRecords(metadataPrefix="oai_dc", **arguments):
        if not header.isDeleted() and metadata is None:
            sys.exit(f"{header.identifier()} came without metadata")
        print(
            header.identifier(),
            datetime_to_datestamp(header.datestamp(), day),
            int(header.isDeleted()),
            " ".join(sorted(header.setSpec())),
            sep="\t",
        )


main()
