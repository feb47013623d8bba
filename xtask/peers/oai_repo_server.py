"""oai-repo under Flask over records in memory."""

import oai_repo
from flask import Flask, Response, request
from lxml import etree

import records

OAI_DC = oai_repo.MetadataFormat(
    "oai_dc",
    "http://www.openarchives.org/OAI/2.0/oai_dc.xsd",
    "http://www.openarchives.org/OAI/2.0/oai_dc/",
)


class Repository(oai_repo.DataInterface):
    """The data interface of oai-repo.

    oai-repo has no way to tell a deletion, so what is deleted is left out.
    """

    limit = records.PAGE_SIZE

    def __init__(self) -> None:
        self.records = [record for record in records.load() if record.oai_dc is not None]
        self.identifiers = [record.identifier for record in self.records]
        self.by_identifier = {record.identifier: record for record in self.records}
        self.set_specs = records.set_specs(self.records)

    def get_identify(self) -> oai_repo.Identify:
        return oai_repo.Identify(
            repository_name="oai-repo",
            base_url=records.BASE_URL,
            admin_email=["admin@example.org"],
            earliest_datestamp="2000-01-01T00:00:00Z",
            deleted_record="no",
            granularity="YYYY-MM-DDThh:mm:ssZ",
        )

    def is_valid_identifier(self, identifier):
        return identifier in self.by_identifier

    def get_metadata_formats(self, identifier=None):
        return [OAI_DC]

    def get_record_header(self, identifier):
        record = self.by_identifier[identifier]
        return oai_repo.RecordHeader(identifier, record.datestamp, record.sets)

    def get_record_metadata(self, identifier, metadataprefix):
        return etree.fromstring(self.by_identifier[identifier].oai_dc)

    def get_record_abouts(self, identifier):
        return []

    def list_set_specs(self, identifier=None, cursor=0):
        return self.set_specs, len(self.set_specs), None

    def get_set(self, setspec):
        return oai_repo.Set(setspec, setspec, [])

    def list_identifiers(self, metadataprefix, filter_from=None, filter_until=None, filter_set=None, cursor=0):
        identifiers = self.identifiers
        if filter_from or filter_until or filter_set:
            identifiers = [
                record.identifier
                for record in self.records
                if records.is_selected(record, filter_set, filter_from, filter_until)
            ]
        return identifiers[cursor : cursor + self.limit], len(identifiers), None


app = Flask(__name__)
repository = oai_repo.OAIRepository(Repository())


@app.route("/oai")
def oai():
    return Response(bytes(repository.process(request.args.to_dict())), content_type="text/xml; charset=UTF-8")
