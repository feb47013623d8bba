# Dancer::Plugin::Catmandu::OAI over records in memory.
#
# What enters is `stook export` output (JSON lines, PEER_RECORDS). The plugin
# wants a searchable Catmandu store and Debian ships none that runs without a
# search server, so this one keeps the records in an array: the fastest store
# the plugin can have.
use strict;
use warnings;

package Catmandu::Store::Records {
    use Moo;
    with 'Catmandu::Store';
}

package Catmandu::Store::Records::Bag {
    use Moo;
    use Catmandu::Hits;
    use JSON::XS ();
    with 'Catmandu::Bag', 'Catmandu::CQLSearchable';

    my @records;
    my $json = JSON::XS->new->utf8;
    open my $lines, '<', $ENV{PEER_RECORDS} or die "$ENV{PEER_RECORDS}: $!";
    while (my $line = <$lines>) {
        my $record = $json->decode($line);
        # The plugin puts its own `oai:namespace:` in front of every id.
        (my $id = $record->{identifier}) =~ s/^oai:[^:]+://;
        push @records, {
            _id       => $id,
            datestamp => $record->{datestamp},
            sets      => $record->{sets},
            oai_dc    => $record->{metadata}{oai_dc},
        };
    }
    close $lines;

    # Only whole lists are measured, so a query selects everything.
    sub search {
        my ($self, %args) = @_;
        my $start = $args{start} // 0;
        my $limit = $args{limit} // 100;
        my $last  = $start + $limit - 1;
        $last = $#records if $last > $#records;
        return Catmandu::Hits->new(
            start => $start,
            limit => $limit,
            total => scalar @records,
            hits  => [@records[$start .. $last]],
        );
    }

    sub translate_sru_sortkeys { $_[1] }
    sub translate_cql_query    { $_[1] }
    sub normalize_query        { $_[1] }
    sub search_each     { die "not measured" }
    sub delete_by_query { die "not measured" }
    sub searcher        { die "not measured" }
    sub generator       { my $at = 0; sub { $records[$at++] } }
    sub get             { die "not measured" }
    sub add             { die "read only" }
    sub delete          { die "read only" }
    sub delete_all      { die "read only" }
}

package main;

use Catmandu;
use Dancer;
use Dancer::Plugin::Catmandu::OAI;

Catmandu->config->{store}{records} = {package => 'Records', options => {}};
set apphandler  => 'PSGI';
set charset     => 'UTF-8';
set environment => 'production';
set log         => 'error';
set logger      => 'console';

oai_provider '/oai',
    store                => 'records',
    bag                  => 'oai',
    uri_base             => $ENV{PEER_BASE_URL},
    repositoryName       => 'Catmandu',
    repositoryIdentifier => 'example.org',
    delimiter            => ':',
    sampleIdentifier     => 'oai:example.org:1',
    adminEmail           => 'admin@example.org',
    deletedRecord        => 'no',
    earliestDatestamp    => '2000-01-01T00:00:00Z',
    datestamp_field      => 'datestamp',
    limit                => $ENV{PEER_PAGE_SIZE} // 100,
    set_specs_for        => sub { $_[0]{sets} },
    metadata_formats     => [
        {
            metadataPrefix    => 'oai_dc',
            schema            => 'http://www.openarchives.org/OAI/2.0/oai_dc.xsd',
            metadataNamespace => 'http://www.openarchives.org/OAI/2.0/oai_dc/',
            template          => \'[% oai_dc %]',
        }
    ];

dance;
