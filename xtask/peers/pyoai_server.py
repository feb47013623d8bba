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
from oaipmh.server import NS_OAIDC, BatchingServer, oai_dc_writer

import records


def statements(oai_dc) -> common.Metadata:
    """The fields of a record, as pyoai's own Dublin Core writer wants them."""
    fields = {}
    for element in etree.fromstring(oai_dc):
        fields.setdefault(etree.QName(element).localname, []).append(element.text)
    return common.Metadata(None, fields)


class Repository:
    """The batching interface of pyoai."""

    def __init__(self) -> None:
        self.records = records.load()
        self.set_specs = records.set_specs(self.records)
        self.answers = [
            (
                common.Header(
                    None,
                    record.identifier,
                    datetime.fromisoformat(record.datestamp.rstrip("Z")),
                    record.sets,
                    record.oai_dc is None,
                ),
                statements(record.oai_dc) if record.oai_dc is not None else None,
                None,
            )
            for record in self.records
        ]

    def identify(self) -> common.Identify:
        return common.Identify(
            repositoryName="pyoai",
            baseURL=records.BASE_URL,
            protocolVersion="2.0",
            adminEmails=["admin@example.org"],
            earliestDatestamp=datetime(2000, 1, 1),
            deletedRecord="persistent",
            granularity="YYYY-MM-DDThh:mm:ssZ",
            compression=["identity"],
        )

    def listMetadataFormats(self, identifier=None):
        return [("oai_dc", NS_OAIDC + "oai_dc.xsd", NS_OAIDC)]

    def listSets(self, cursor=0, batch_size=10):
        return [(spec, spec, None) for spec in self.set_specs[cursor : cursor + batch_size]]

    def listRecords(self, metadataPrefix, set=None, from_=None, until=None, cursor=0, batch_size=10):
        answers = self.answers
        if set or from_ or until:
            answers = [
                answer
                for record, answer in zip(self.records, self.answers)
                if records.is_selected(record, set, from_, until)
            ]
        return answers[cursor : cursor + batch_size]

    def listIdentifiers(self, **arguments):
        return [header for header, _metadata, _about in self.listRecords(**arguments)]

    def getRecord(self, metadataPrefix, identifier):
        for record, answer in zip(self.records, self.answers):
            if record.identifier == identifier:
                return answer
        raise error.IdDoesNotExistError(identifier)


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
