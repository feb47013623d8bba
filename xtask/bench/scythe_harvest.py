"""Harvest with oaipmh-scythe into a file and print how many records came.

Usage: scythe_harvest.py BASE_URL FILE
"""

import sys

from oaipmh_scythe import Scythe


def main() -> None:
    base_url, file = sys.argv[1:]
    records = 0
    with open(file, "w", encoding="utf-8") as out, Scythe(base_url) as client:
        for record in client.list_records(metadata_prefix="oai_dc"):
            out.write(record.raw)
            records += 1
    print(records)


main()
