//! Where a record stands in every list: its datestamp and a sequence number, in 64 bits.
//!
//! A change removes the record from its old position and appends it at a new one past every other, so the order of
//! positions is the order of publication, a list is a range of positions, and a page continues after a position
//! however many records before it have moved away.

use stook_oai::Datestamp;

/// Changes that fit into one second: 268 million.
const SEQUENCE_BITS: u32 = 28;
const SEQUENCE_MASK: u64 = (1 << SEQUENCE_BITS) - 1;
/// The last second with positions of its own, in the year 3058. Dates that people write may lie beyond it.
const LAST_SECOND: u64 = (1 << (63 - SEQUENCE_BITS)) - 1;

/// The place of a record in its lists; greater means published later.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position(u64);

impl Position {
    /// Before every record.
    pub const START: Position = Position(0);
    /// Past every record. Fits a signed 64-bit column.
    pub const END: Position = Position(i64::MAX as u64);

    /// The position a token or a column carries as a number.
    pub fn from_u64(value: u64) -> Position {
        Position(value.min(Self::END.0))
    }

    /// The number to carry in a token.
    pub fn as_u64(self) -> u64 {
        self.0
    }

    /// The first position of the second `datestamp`; everything earlier is before it.
    pub fn first_of(datestamp: Datestamp) -> Position {
        match u64::try_from(datestamp.unix()).unwrap_or(0) {
            second @ 0..=LAST_SECOND => Position(second << SEQUENCE_BITS),
            _ => Self::END,
        }
    }

    /// The last position of the second `datestamp`.
    pub fn last_of(datestamp: Datestamp) -> Position {
        if datestamp.unix() < 0 {
            return Self::START;
        }
        Self::from_u64(Self::first_of(datestamp).0 | SEQUENCE_MASK)
    }

    /// When the record at this position was published.
    pub fn datestamp(self) -> Datestamp {
        // The last second is inside what a datestamp can say.
        Datestamp::from_unix((self.0 >> SEQUENCE_BITS) as i64).unwrap_or_default()
    }

    /// The position just before this one, for turning "from here" into "after".
    pub fn before(self) -> Position {
        Position(self.0.saturating_sub(1))
    }

    /// The next position for a record published at `datestamp`, this being the last one taken.
    pub(crate) fn next_at(self, datestamp: Datestamp) -> Position {
        let fresh = Self::first_of(datestamp);
        if fresh > self {
            fresh
        } else {
            Self::from_u64(self.0 + 1)
        }
    }

    /// The latest datestamp a record can have.
    pub(crate) fn latest_datestamp() -> Datestamp {
        Self::END.datestamp()
    }

    pub(crate) fn to_sql(self) -> i64 {
        self.0 as i64
    }

    pub(crate) fn from_sql(value: i64) -> Position {
        Position(u64::try_from(value).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Datestamp {
        Datestamp::from_unix(second).unwrap()
    }

    #[test]
    fn positions_of_one_second_lie_between_its_first_and_last() {
        let first = Position::first_of(at(1_000));
        assert_eq!(first.datestamp(), at(1_000));
        assert_eq!(Position::last_of(at(1_000)).datestamp(), at(1_000));
        assert_eq!(Position::last_of(at(999)), first.before());
    }

    #[test]
    fn the_next_position_grows_even_when_the_clock_does_not() {
        let first = Position::START.next_at(at(50));
        assert_eq!(first, Position::first_of(at(50)));
        assert_eq!(first.next_at(at(50)).as_u64(), first.as_u64() + 1);
        assert!(first.next_at(at(40)) > first);
        assert_eq!(first.next_at(at(51)), Position::first_of(at(51)));
    }

    #[test]
    fn dates_past_the_last_position_are_past_every_record() {
        let last = i64::try_from(LAST_SECOND).unwrap();
        assert_eq!(Position::last_of(at(last)), Position::END);
        assert!(Position::first_of(at(last)) < Position::END);
        for beyond in [last + 1, last * 2, last * 2 + 1_700_000_000, Datestamp::MAX.unix()] {
            assert_eq!(Position::first_of(at(beyond)), Position::END);
            assert_eq!(Position::last_of(at(beyond)), Position::END);
        }
        assert_eq!(Position::END.next_at(at(0)), Position::END);
    }
}
