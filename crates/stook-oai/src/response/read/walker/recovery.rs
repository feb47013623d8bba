//! How a walk goes on where tags do not match. Only a lenient one does.

use std::io::{self, BufRead};

use super::super::error::{MAX_KEPT_BYTES, ReadError, ReadFault};
use super::super::outline::{Break, name_at};
use super::super::resync::{Boundary, Resync, Search};
use super::super::tag::is_space;
use super::{PIECE_BYTES, Walker, as_text};
use crate::response::repair::Tolerance;

/// Going back this far behind a broken entry costs nothing worth counting.
const FREE_RETREAT_BYTES: u64 = 64 << 10;

impl<R: BufRead> Walker<R> {
    /// The error of an element whose end was not found. A lenient walk looks
    /// for where the document goes on behind it.
    pub(super) fn get_behind(&mut self, broken: Break) -> ReadError {
        let position = self.start + broken.offset as u64;
        let fault = match broken.fault {
            ReadFault::TooDeep { .. } => ReadFault::TooDeep {
                limit: self.limits.max_depth,
            },
            fault => fault,
        };
        if !self.leniency.is_lenient() || matches!(fault, ReadFault::Io(_) | ReadFault::ResponseTooLarge { .. }) {
            return ReadError::fatal(position, fault);
        }
        match self.resync() {
            Ok(entry) => ReadError::local(position, fault).about(&entry),
            Err(Some(end)) => ReadError::fatal(self.position(), end),
            Err(None) => ReadError::fatal(position, fault),
        }
    }

    /// Goes to the boundary of the broken entry in the buffer, and returns the
    /// beginning of that entry. An error says how the document ends instead;
    /// nothing if it would take too much work to find out.
    fn resync(&mut self) -> Result<Vec<u8>, Option<ReadFault>> {
        let name = as_text(&self.buffer[name_at(&self.buffer, 1)]);
        let mut resync = Resync::new(name, &self.names);
        let mut entry = Vec::new();
        let mut from = 1;
        let mut last = false;
        loop {
            match resync.search(&self.buffer, from, last) {
                Search::Found(boundary) => {
                    let (Boundary::EndTag(place) | Boundary::Before(place)) = boundary;
                    keep(&mut entry, &self.buffer[..place]);
                    self.go_back_to(place)?;
                    if let Boundary::EndTag(_) = boundary {
                        // The parser must see the end of what it saw begin.
                        self.reader.get_mut().allow(self.limits.max_entry_bytes);
                        self.read_event().map_err(|error| Some(error.fault))?;
                    }
                    return Ok(entry);
                }
                Search::Open(_) if last => return Err(Some(ReadFault::Truncated)),
                Search::Open(place) => {
                    keep(&mut entry, &self.buffer[..place]);
                    self.buffer.drain(..place);
                    from = 0;
                }
            }
            let source = self.reader.get_mut();
            source.allow(self.limits.max_entry_bytes);
            match source.fill_buf() {
                Ok(available) => {
                    let length = available.len().min(PIECE_BYTES);
                    last = length == 0;
                    self.buffer.extend_from_slice(&available[..length]);
                    source.consume(length);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Some(self.io_fault(&error))),
            }
        }
    }

    /// Gives back what the buffer holds behind `place`.
    fn go_back_to(&mut self, place: usize) -> Result<(), Option<ReadFault>> {
        let length = (self.buffer.len() - place) as u64;
        if length > FREE_RETREAT_BYTES {
            self.retreat = self.retreat.checked_sub(length).ok_or(None)?;
        }
        self.reader.get_mut().unread(&self.buffer[place..]);
        self.buffer.truncate(place);
        Ok(())
    }

    /// Ends the element that the end tag in the buffer names, and whatever is
    /// open inside it; whether there is such an element.
    pub(super) fn close_by_name(&mut self) -> bool {
        let name = as_text(&self.buffer);
        let name = name
            .trim_start_matches("</")
            .trim_end_matches('>')
            .trim_end_matches(is_space);
        // The end of an empty element has no tag of its own.
        let found = match name {
            "" => self.names.len().checked_sub(1),
            name => self.names.iter().rposition(|open| open == name),
        };
        if found.is_none_or(|index| index + 1 < self.names.len()) {
            self.leniency.tolerates_once(Tolerance::UnbalancedTags);
        }
        let Some(index) = found else {
            return false;
        };
        self.names.truncate(index);
        self.scope.leave_to(index);
        true
    }
}

/// Appends to what is kept of an entry, up to what an error keeps of it.
fn keep(entry: &mut Vec<u8>, bytes: &[u8]) {
    let room = MAX_KEPT_BYTES.saturating_sub(entry.len());
    entry.extend_from_slice(&bytes[..bytes.len().min(room)]);
}
