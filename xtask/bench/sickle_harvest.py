"""Harvest with Sickle into a file and print how many records came.

Usage: sickle_harvest.py BASE_URL FILE
"""

import sys

from sickle import Sickle


def main() -> None:
    base_url, file = sys.argv[1:]
    records = 0
    with open(file, "w", encoding="utf-8") as out:
        for record in Sickle(base_url).ListRecords(metadataPrefix="oai_dc"):
            out.write(record.raw)
            records += 1
    print(records)


main()
