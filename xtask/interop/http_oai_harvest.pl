#!/usr/bin/env perl
# Harvest with HTTP::OAI: one line per record,
# `identifier TAB datestamp TAB deleted TAB sets`.
#
# Usage: http_oai_harvest.pl BASE_URL [set=SPEC] [from=DATE] [until=DATE]
use strict;
use warnings;

use HTTP::OAI;

my ($base_url, @selection) = @ARGV;
my %arguments = map { split /=/, $_, 2 } @selection;

binmode STDOUT, ':encoding(UTF-8)';
my $harvester = HTTP::OAI::Harvester->new(baseURL => $base_url);
$harvester->repository($harvester->Identify);

# The documented `->next` loop returns only the records of the last page, so
# records are taken from the callback, which sees every page.
my $response = $harvester->ListRecords(
    metadataPrefix => 'oai_dc',
    %arguments,
    onRecord => sub {
        my ($record) = @_;
        my $deleted = $record->is_deleted ? 1 : 0;
        die $record->identifier . " came without metadata\n"
            if !$deleted && !$record->metadata;
        print join("\t",
            $record->identifier, $record->datestamp, $deleted,
            join(' ', sort $record->header->setSpec)), "\n";
    },
);
die $response->code . ' ' . $response->message . "\n" if $response->is_error;
# A bad token in mid-list would end the list as a protocol error inside a
# response that counts as a success.
die join(', ', map { $_->code } $response->errors) . "\n" if $response->errors;
