//! What every back end must do, told once: `suite/` holds the tests, this file runs them on each back end.
//!
//! A second back end implements [`Backend`] and adds one line at the end.

#![allow(clippy::unwrap_used)]

#[path = "../fixture/mod.rs"]
mod fixture;
mod suite;

use stook_store::{Clock, PostgresAddress, Store};
use tempfile::TempDir;
use testserver::Server;

/// A store of one's own for one test.
trait Backend {
    /// A new, empty store.
    fn create(clock: Clock) -> Self;
    /// The store.
    fn store(&self) -> Store;
    /// The same store through a handle of its own, as another process would have it.
    fn another(&self, clock: Clock) -> Store;
    /// Closes the store and opens it again, as a restart would.
    fn reopen(&mut self);
}

/// The store in one file.
struct Embedded {
    folder: TempDir,
    clock: Clock,
    store: Option<Store>,
}

impl Backend for Embedded {
    fn create(clock: Clock) -> Embedded {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(&folder.path().join("records.db"), clock.clone()).unwrap();
        Embedded {
            folder,
            clock,
            store: Some(store),
        }
    }

    fn store(&self) -> Store {
        self.store.clone().unwrap()
    }

    fn another(&self, clock: Clock) -> Store {
        Store::open(&self.folder.path().join("records.db"), clock).unwrap()
    }

    fn reopen(&mut self) {
        self.store = None;
        self.store = Some(self.another(self.clock.clone()));
    }
}

/// The store on a server, in a schema of its own.
struct OnServer {
    address: PostgresAddress,
    clock: Clock,
    store: Option<Store>,
}

impl Backend for OnServer {
    fn create(clock: Clock) -> OnServer {
        let address: PostgresAddress = Server::shared().fresh_url().parse().unwrap();
        let store = Store::connect(&address, clock.clone()).unwrap();
        OnServer {
            address,
            clock,
            store: Some(store),
        }
    }

    fn store(&self) -> Store {
        self.store.clone().unwrap()
    }

    fn another(&self, clock: Clock) -> Store {
        Store::connect(&self.address, clock).unwrap()
    }

    fn reopen(&mut self) {
        self.store = None;
        self.store = Some(self.another(self.clock.clone()));
    }
}

/// The suite, one `#[test]` per function.
macro_rules! contract {
    ($name:ident on $backend:ident) => {
        mod $name {
            tests! { $backend
                repositories {
                    a_repository_is_declared_once_and_found_by_its_name
                    an_unknown_repository_is_an_error
                    the_same_identifier_in_two_repositories_is_two_records
                    sets_and_formats_of_one_repository_are_unknown_to_another
                    the_earliest_datestamp_is_that_of_the_first_publication_for_ever
                    the_secret_is_the_same_for_every_handle_and_after_a_restart
                }
                formats {
                    formats_are_listed_in_order_with_oai_dc_first
                    declaring_a_format_again_corrects_it_and_keeps_its_records
                    a_batch_with_an_undeclared_format_is_refused_whole
                    a_format_without_records_has_no_list
                    the_formats_of_an_item_are_those_it_is_live_in
                }
                records {
                    each_format_of_an_item_has_its_own_datestamp_and_deletion
                    about_containers_come_back_after_the_metadata_in_their_order
                    content_of_any_size_and_script_comes_back_byte_for_byte
                    the_same_record_again_keeps_its_datestamp
                    the_same_sets_in_another_order_or_with_ancestors_are_no_change
                    every_kind_of_change_moves_the_datestamp
                    a_deletion_shows_its_sets_and_no_content
                    deleting_twice_is_deleting_once
                    deleting_what_never_was_leaves_a_deleted_record_with_its_sets
                    a_restored_record_is_what_it_was_with_a_new_datestamp
                    a_record_can_be_restored_into_other_sets
                    restoring_what_lives_or_never_was_does_nothing
                    an_erased_record_keeps_its_sets_and_cannot_be_restored
                    erasing_a_deleted_record_forgets_its_content_and_moves_nothing
                    erasing_a_deleted_record_into_other_sets_publishes_those_sets
                    publishing_a_deleted_record_brings_it_back
                    outcomes_are_in_the_order_of_the_changes_and_lists_in_the_order_of_publication
                    an_empty_batch_does_nothing
                }
                derived {
                    what_is_made_again_changes_only_when_it_differs
                    what_was_given_is_not_replaced_by_what_is_made
                    what_is_given_replaces_what_was_made_also_in_the_same_import
                    what_is_given_as_it_was_made_stays_and_is_replaced_no_more
                    what_was_given_before_may_change_after_what_would_be_made
                    what_was_made_is_made_again_after_it_was_deleted
                    what_can_be_made_no_more_is_deleted_and_nothing_else
                    what_can_be_made_from_something_else_stays_as_long_as_that_lives
                    what_stayed_can_still_be_withdrawn_in_the_same_import
                    what_vanishes_takes_with_it_only_what_cannot_be_made_otherwise
                }
                sets {
                    a_parent_includes_its_descendants_by_whole_elements
                    a_record_in_two_sets_of_one_branch_is_listed_once_in_their_parent
                    headers_show_sets_sorted_and_without_implied_ancestors
                    leaving_a_set_moves_the_datestamp_and_leaves_its_list
                    sets_come_into_being_with_their_records_and_ancestors
                    names_and_descriptions_come_back_one_by_one
                    defining_a_set_again_replaces_name_and_descriptions_and_moves_no_record
                    sets_are_listed_in_order_in_pages_of_any_size
                    a_set_with_records_cannot_be_removed_even_if_they_are_deleted
                    an_unused_set_is_removed_with_its_descendants_only
                    a_removed_set_comes_back_unnamed_when_a_record_enters_it
                    only_sets_without_a_name_are_named
                }
                kept {
                    a_record_changes_its_sets_and_nothing_else
                    what_is_deleted_gone_or_changed_meanwhile_is_left_alone
                    where_a_record_comes_from_stays_known
                    new_sets_release_nothing_from_the_quarantine
                }
                clock {
                    a_record_is_stamped_with_the_time_of_its_publication
                    datestamps_never_go_backwards
                    nothing_is_stamped_before_a_response_date_given_out
                    a_reader_with_a_slow_clock_does_not_take_back_what_another_has_said
                    a_reader_that_is_stopped_does_not_stop_the_others
                    a_writer_held_up_holds_back_the_response_dates_of_other_handles
                    a_clock_gone_mad_costs_no_record_and_no_order
                    a_range_to_the_far_future_holds_everything
                }
                pages {
                    every_limit_gives_the_same_list
                    more_is_said_exactly_when_the_next_page_has_something
                    a_visitor_that_has_enough_ends_the_page
                    a_failing_visitor_fails_the_page_and_leaves_the_snapshot_usable
                    a_list_continues_past_records_that_moved_away_and_ends_where_it_was_frozen
                    a_snapshot_does_not_change_under_its_reader
                    an_empty_or_inverted_span_holds_nothing
                    a_panicking_visitor_leaves_the_store_usable
                }
                counts {
                    every_span_counts_as_many_records_as_it_visits
                    a_large_list_keeps_its_counts_while_it_grows_changes_and_goes_stale
                }
                imports {
                    the_first_of_repeated_records_wins_within_a_batch
                    the_first_of_repeated_records_wins_across_batches
                    a_claimed_record_counts_as_having_come_in_that_format_only
                    the_same_input_again_changes_nothing_however_it_is_cut
                    an_interrupted_import_run_again_ends_in_the_same_state
                    an_import_sees_what_others_publish_meanwhile
                    a_trained_dictionary_changes_no_content
                }
                vanished {
                    what_the_input_does_not_mention_is_deleted_with_its_sets
                    an_input_that_mentions_everything_deletes_nothing
                    nothing_is_deleted_before_it_was_found_vanished
                    asking_twice_counts_the_same_and_later_mentions_count
                    only_the_formats_and_the_repository_of_the_import_are_touched
                    a_spared_record_does_not_vanish_in_any_format
                    a_spared_record_can_still_be_published_when_it_is_read_after_all
                    what_somebody_else_changed_meanwhile_is_not_deleted
                    vanished_records_are_all_deleted_even_if_many_of_them_changed_meanwhile
                    a_record_published_while_deletions_run_stays
                    where_only_some_sets_are_asked_for_only_their_records_vanish
                }
                harvests {
                    the_harvest_date_alone_is_no_change
                    the_datestamp_at_the_source_is_known
                    notes_are_kept_by_repository_and_found_by_prefix
                    a_note_is_swapped_only_by_who_knows_it
                    records_and_notes_are_committed_together_or_not_at_all
                    a_record_that_is_published_leaves_the_quarantine
                    a_record_is_quarantined_once_however_often_it_comes
                }
                quarantine {
                    entries_come_back_whole_oldest_first_and_survive_a_restart
                    reading_a_source_again_replaces_its_entries_and_no_others
                    clearing_empties_one_repository
                    an_import_keeps_its_own_entries_when_others_are_cleared_while_it_runs
                }
                handles {
                    what_one_handle_commits_the_other_sees_at_once
                    handles_that_write_at_once_lose_nothing_and_share_no_position
                    the_same_change_through_two_handles_is_published_once
                }
                check {
                    a_store_that_has_seen_every_kind_of_change_is_sound
                    a_check_while_others_write_finds_nothing
                }
            }
        }
    };
}

macro_rules! tests {
    ($backend:ident $($part:ident { $($test:ident)* })*) => {
        $(mod $part {
            $(#[test]
            fn $test() {
                super::super::suite::$part::$test::<super::super::$backend>();
            })*
        })*
    };
}

contract!(embedded on Embedded);
contract!(on_server on OnServer);
