"""pyoai's server as a WSGI application over records in memory."""

# pyoai reads resumption tokens with `cgi.parse_qs`, which Python 3.8 removed;
# without this every token is answered with a failure.
import cgi
import urllib.parse

cgi.parse_qs = urllib.parse.parse_qs

from datetime import datetime

from lxml import etree
from oaipmh import common, error
from oaipmh.metadata import MetadataRegistry
from oaipmh.server import BatchingServer, oai_dc_writer

import records


def statements(oai_dc) -> common.Metadata:
    """The fields of a record, as pyoai's own Dublin Core writer wants them."""
    fields = {}
    for element in etree.fromstring(oai_dc):
        fields.setdefault(etree.QName(element).localname, []).append(element.text)
    return common.Metadata(None, fields)


class Repository:
    """The batching interface of pyoai, as far as lists of records need it."""

    def __init__(self) -> None:
        self.records = [
            (
                common.Header(
                    None,
                    record.identifier,
                    datetime.fromisoformat(record.datestamp.rstrip("Z")),
                    record.sets,
                    False,
                ),
                statements(record.oai_dc),
                None,
            )
            for record in records.load()
        ]

    def identify(self) -> common.Identify:
        return common.Identify(
            repositoryName="pyoai",
            baseURL=records.BASE_URL,
            protocolVersion="2.0",
            adminEmails=["admin@example.org"],
            earliestDatestamp=datetime(2000, 1, 1),
            deletedRecord="no",
            granularity="YYYY-MM-DDThh:mm:ssZ",
            compression=["identity"],
        )

    def listRecords(self, metadataPrefix, set=None, from_=None, until=None, cursor=0, batch_size=10):
        if set or from_ or until:
            raise error.BadArgumentError("only whole lists are measured")
        return self.records[cursor : cursor + batch_size]


registry = MetadataRegistry()
registry.registerWriter("oai_dc", oai_dc_writer)
server = BatchingServer(Repository(), metadata_registry=registry, resumption_batch_size=records.PAGE_SIZE)


def app(environ, start_response):
    arguments = dict(urllib.parse.parse_qsl(environ.get("QUERY_STRING", "")))
    answer = server.handleRequest(arguments)
    start_response(
        "200 OK",
        [("Content-Type", "text/xml; charset=UTF-8"), ("Content-Length", str(len(answer)))],
    )
    return [answer]
