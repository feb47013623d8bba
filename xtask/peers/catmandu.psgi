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
    our %set_specs;
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
            deleted   => $record->{deleted},
            oai_dc    => $record->{metadata}{oai_dc},
        };
        for my $set (@{$record->{sets}}) {
            # A set holds what is in the sets below it.
            my @names = split /:/, $set;
            $set_specs{join ':', @names[0 .. $_]} = 1 for 0 .. $#names;
        }
    }
    close $lines;

    # The records that a query selects. The plugin writes no other clauses than
    # these, joined by `and`.
    my %selected = ('(cql.allRecords)' => \@records);
    sub selected {
        my ($query) = @_;
        return $selected{$query} if $selected{$query};
        my ($from)  = $query =~ /datestamp >= "([^"]+)"/;
        my ($until) = $query =~ /datestamp <= "([^"]+)"/;
        my ($set)   = $query =~ /set = "([^"]+)"/;
        my ($id)    = $query =~ /_id exact "([^"]+)"/;
        my $is_selected = sub {
            my ($record) = @_;
            return 0 if defined $from  && $record->{datestamp} lt $from;
            return 0 if defined $until && $record->{datestamp} gt $until;
            return 0 if defined $id    && $record->{_id} ne $id;
            return 1 if !defined $set;
            return scalar grep { $_ eq $set || index($_, "$set:") == 0 } @{$record->{sets}};
        };
        return $selected{$query} = [grep { $is_selected->($_) } @records];
    }

    sub search {
        my ($self, %args) = @_;
        # Catmandu has had the CQL translated, by the methods below.
        my $selected = selected($args{query});
        my $start    = $args{start} // 0;
        my $limit    = $args{limit} // 100;
        my $last     = $start + $limit - 1;
        $last = $#$selected if $last > $#$selected;
        return Catmandu::Hits->new(
            start => $start,
            limit => $limit,
            total => scalar @$selected,
            hits  => [@$selected[$start .. $last]],
        );
    }

    sub translate_sru_sortkeys { $_[1] }
    sub translate_cql_query    { $_[1] }
    sub normalize_query        { $_[1] }
    sub search_each     { die "not asked for" }
    sub delete_by_query { die "read only" }
    sub searcher        { die "not asked for" }
    sub generator       { my $at = 0; sub { $records[$at++] } }
    sub get             { my ($self, $id) = @_; selected(qq{_id exact "$id"})->[0] }
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
    deletedRecord        => 'persistent',
    earliestDatestamp    => '2000-01-01T00:00:00Z',
    datestamp_field      => 'datestamp',
    limit                => $ENV{PEER_PAGE_SIZE} // 100,
    set_specs_for        => sub { $_[0]{sets} },
    deleted              => sub { $_[0]{deleted} },
    sets                 => [
        map { {setSpec => $_, setName => $_, cql => qq{set = "$_"}} }
        sort keys %Catmandu::Store::Records::Bag::set_specs
    ],
    metadata_formats     => [
        {
            metadataPrefix    => 'oai_dc',
            schema            => 'http://www.openarchives.org/OAI/2.0/oai_dc.xsd',
            metadataNamespace => 'http://www.openarchives.org/OAI/2.0/oai_dc/',
            template          => \'[% oai_dc %]',
        }
    ];

dance;
