//! How a selection is cut into pages, and its tokens: as they should be, and as
//! faults bend them.
//!
//! A token is a key to what the server remembers of the list, so that every
//! way to mistreat a list is a way to change what is remembered. A list goes
//! on behind the position of its last entry, not at an offset, so changes
//! between two pages make a correct list neither skip nor repeat.

use std::collections::HashMap;
use std::time::Duration;

use stook_oai::{ErrorCode, ListRequest, OaiError, ResumptionToken, Verb};

use crate::ask::Ask;
use crate::fault::Fault;
use crate::http::Reply;
use crate::made_up::FORMATS;
use crate::script::Setting;
use crate::selection::{Entry, Selection};
use crate::source::Turn;
use crate::world::{Item, Position, datestamp, position};

/// How many empty pages `empty-pages-between` sends.
const EMPTY_PAGES: u64 = 3;
/// How many entries `duplicates` repeats.
const REPEATED: usize = 2;
/// The length of a token of `huge-token`.
const HUGE_TOKEN_CHARACTERS: usize = 1_000_000;

/// Why there is no list.
pub(crate) enum Trouble {
    Error(OaiError),
    Reply(Reply),
}

impl Trouble {
    pub(crate) fn error(code: ErrorCode, message: &str) -> Self {
        Self::Error(OaiError::new(code, message))
    }

    fn nothing() -> Self {
        Self::error(ErrorCode::NoRecordsMatch, "Nothing matches.")
    }

    fn bad_token() -> Self {
        Self::error(
            ErrorCode::BadResumptionToken,
            "This token is not valid or no longer so.",
        )
    }
}

/// One page of a list.
pub(crate) struct Page {
    pub(crate) entries: Vec<Entry>,
    pub(crate) token: Option<ResumptionToken>,
}

/// What a token leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// The entries behind the position.
    Entries,
    /// An empty page whose token answers noRecordsMatch.
    EmptyPage,
    /// noRecordsMatch.
    Nothing,
}

/// What is remembered of a list.
#[derive(Debug, Clone)]
struct List {
    verb: Verb,
    selection: Selection,
    after: Option<Position>,
    next: Next,
    /// The page that comes next; the first is 1.
    page: u64,
    /// Entries before it.
    cursor: u64,
    /// Entries of the whole list, when it began.
    size: u64,
    /// Empty pages sent before it.
    empty_pages: u64,
    /// The request that made the token, and the time.
    born: (u64, i64),
    used: bool,
}

/// Every token issued, and how many list requests there were.
#[derive(Debug, Default)]
pub(crate) struct Tokens {
    lists: HashMap<String, List>,
    issued: u64,
    requests: u64,
}

impl Tokens {
    /// The page a request asks for; none if it asks for no list.
    pub(crate) fn page_of(&self, ask: &Ask) -> Option<u64> {
        if !matches!(ask.verb(), Some(Verb::ListRecords | Verb::ListIdentifiers)) {
            return None;
        }
        match ask.value("resumptionToken") {
            None => Some(1),
            Some(token) => self.lists.get(&token).map(|list| list.page),
        }
    }
}

/// The page that a request asks for.
pub(crate) fn page(turn: &mut Turn<'_>, verb: Verb, request: &ListRequest) -> Result<Page, Trouble> {
    turn.tokens.requests += 1;
    match request {
        ListRequest::Selection {
            metadata_prefix,
            from,
            until,
            set,
        } => {
            let selection = Selection {
                prefix: metadata_prefix.as_str().to_owned(),
                from: from.map(|from| from.first_second().unix()),
                until: until.map(|until| until.last_second().unix()),
                set: set.as_ref().map(|set| set.as_str().to_owned()),
            };
            let list = first(turn, verb, selection)?;
            cut(turn, list, None)
        }
        ListRequest::Resume { resumption_token } => {
            let list = resume(turn, verb, resumption_token)?;
            cut(turn, list, Some(resumption_token))
        }
    }
}

/// The beginning of a list.
fn first(turn: &mut Turn<'_>, verb: Verb, selection: Selection) -> Result<List, Trouble> {
    if !FORMATS.iter().any(|(prefix, ..)| *prefix == selection.prefix) {
        return Err(Trouble::error(
            ErrorCode::CannotDisseminateFormat,
            "There is no such format.",
        ));
    }
    if selection.set.is_some() && crate::selection::sets(turn).is_empty() {
        return Err(Trouble::error(ErrorCode::NoSetHierarchy, "There are no sets."));
    }
    turn.slow |= turn.has(Fault::ManySlowSets) && selection.set.is_some();
    if selection.is_void(turn) {
        return Err(Trouble::nothing());
    }
    let size = selection.count(turn);
    if size == 0 {
        return Err(Trouble::nothing());
    }
    if size > turn.script.setting(Setting::Limit) {
        refuse_size(turn, size)?;
    }
    Ok(List {
        verb,
        selection,
        after: None,
        next: Next::Entries,
        page: 1,
        cursor: 0,
        size,
        empty_pages: 0,
        born: (turn.tokens.requests, turn.world.now()),
        used: false,
    })
}

fn refuse_size(turn: &Turn<'_>, size: u64) -> Result<(), Trouble> {
    let text = format!("Too many records: {size}. Narrow your selection.");
    if turn.has(Fault::TooManyRecords) {
        return Err(Trouble::Reply(Reply::html(413, "Request Entity Too Large", &text)));
    }
    if turn.has(Fault::TooManyRecordsHtml) {
        return Err(Trouble::Reply(Reply::html(200, "Error", &text)));
    }
    Ok(())
}

/// What a token leads to.
fn resume(turn: &mut Turn<'_>, verb: Verb, token: &str) -> Result<List, Trouble> {
    let now = turn.tokens.requests;
    let list = turn.tokens.lists.get(token).filter(|list| list.verb == verb).cloned();
    let mut list = list.ok_or_else(Trouble::bad_token)?;
    if let Some(remembered) = turn.tokens.lists.get_mut(token) {
        remembered.used = true;
    }
    let is_old = now - list.born.0 > turn.script.setting(Setting::TokenLife);
    if is_old && turn.has(Fault::ExpiredTokenIsDatabaseError) {
        return Err(Trouble::Reply(database_error()));
    }
    let expired = (is_old && turn.has(Fault::TokensExpire))
        || (list.used && turn.has(Fault::SingleUseTokens))
        || (turn.has(Fault::TokensExpireInTime) && turn.world.now() > expiry(turn, &list));
    if expired {
        return Err(Trouble::bad_token());
    }
    if turn.has(Fault::TokenLosesSet) {
        list.selection.set = None;
    }
    if turn.has(Fault::FirstPageAgain) {
        list = List {
            after: None,
            cursor: 0,
            ..list
        };
    }
    Ok(list)
}

fn expiry(turn: &Turn<'_>, list: &List) -> i64 {
    let life = i64::try_from(turn.script.setting(Setting::TokenSeconds)).unwrap_or(i64::MAX);
    list.born.1.saturating_add(life)
}

fn database_error() -> Reply {
    let text =
        "<pre>ORA-01555: snapshot too old: rollback segment number 9 too small\n  at Cursor.fetch (line 212)</pre>";
    Reply::html(200, "Database error", text)
}

/// Cuts the next page off a list; `token` is the one that led here.
fn cut(turn: &mut Turn<'_>, list: List, token: Option<&str>) -> Result<Page, Trouble> {
    if list.next == Next::Nothing {
        return Err(Trouble::nothing());
    }
    if list.next == Next::EmptyPage {
        return Ok(empty_page(
            turn,
            List {
                next: Next::Nothing,
                ..list
            },
        ));
    }
    let is_blank =
        turn.has(Fault::EmptyPagesForEver) || (turn.has(Fault::EmptyPagesBetween) && list.empty_pages < EMPTY_PAGES);
    if is_blank && list.page > 1 {
        let empty_pages = list.empty_pages + 1;
        return Ok(empty_page(turn, List { empty_pages, ..list }));
    }
    let page_size = turn.script.count(Setting::PageSize);
    let behind = turn.world.behind(list.after.as_ref());
    let mut items: Vec<&Item> = behind
        .filter(|item| list.selection.matches(turn, item))
        .take(page_size.saturating_add(1))
        .collect();
    if items.is_empty() {
        // All that was left has changed and moved out of the selection; the
        // protocol has no page without entries.
        return Err(Trouble::bad_token());
    }
    let has_more = items.len() > page_size;
    items.truncate(page_size);
    let entries = items
        .iter()
        .map(|item| Entry::new(turn, item, &list.selection.prefix))
        .collect();
    let follower = follower(turn, &list, &items);
    let token = end(turn, &list, follower, has_more, token);
    Ok(Page { entries, token })
}

/// The list behind a page.
fn follower(turn: &Turn<'_>, list: &List, items: &[&Item]) -> List {
    // A page must get further than it goes back.
    let repeated = if turn.has(Fault::Duplicates) && items.len() > REPEATED {
        REPEATED
    } else {
        0
    };
    let last = items.len().saturating_sub(1 + repeated);
    List {
        after: items.get(last).map(|item| position(item)),
        page: list.page + 1,
        cursor: list.cursor + items.len() as u64,
        empty_pages: 0,
        used: false,
        born: (turn.tokens.requests, turn.world.now()),
        ..list.clone()
    }
}

fn empty_page(turn: &mut Turn<'_>, list: List) -> Page {
    let list = List {
        born: (turn.tokens.requests, turn.world.now()),
        used: false,
        ..list
    };
    let value = issue(turn, list.clone());
    Page {
        entries: Vec::new(),
        token: Some(element(turn, &list, value)),
    }
}

/// The token element that ends a page, if one does.
fn end(turn: &mut Turn<'_>, list: &List, next: List, has_more: bool, token: Option<&str>) -> Option<ResumptionToken> {
    if has_more && turn.has(Fault::ShortListUnmarked) {
        return None;
    }
    if has_more && turn.has(Fault::ShortList) {
        return Some(element(turn, list, String::new()));
    }
    if let Some(same) = token.filter(|_| turn.has(Fault::TokenForEver)) {
        return Some(element(turn, list, same.to_owned()));
    }
    let after_the_end = if turn.has(Fault::TokenOnEmptyLastPage) {
        Some(Next::EmptyPage)
    } else {
        turn.has(Fault::LastTokenMatchesNothing).then_some(Next::Nothing)
    };
    let value = match (has_more, after_the_end) {
        (true, _) => issue(turn, next),
        (false, Some(after)) => issue(turn, List { next: after, ..next }),
        (false, None) => String::new(),
    };
    let is_needed = !value.is_empty() || list.page > 1 || turn.has(Fault::EmptyTokenAlways);
    is_needed.then(|| element(turn, list, value))
}

fn element(turn: &Turn<'_>, list: &List, value: String) -> ResumptionToken {
    let size = if turn.has(Fault::ListSizeTooLarge) {
        list.size * 2
    } else if turn.has(Fault::ListSizeTooSmall) {
        list.size / 2
    } else if turn.has(Fault::ListSizeChanges) {
        list.size + 7 * list.page
    } else {
        list.size
    };
    let life = Duration::from_secs(turn.script.setting(Setting::TokenSeconds));
    let expires = !value.is_empty() && turn.has(Fault::TokensExpireInTime);
    ResumptionToken {
        value,
        expiration_date: expires.then(|| datestamp(turn.world.now()).saturating_add(life)),
        complete_list_size: Some(size),
        cursor: Some(if turn.has(Fault::CursorWrong) { 0 } else { list.cursor }),
    }
}

/// Remembers a list and returns the key to it.
fn issue(turn: &mut Turn<'_>, list: List) -> String {
    turn.tokens.issued += 1;
    let number = turn.tokens.issued;
    let token = if turn.has(Fault::TokenWithSpace) {
        format!("page {number} of a list")
    } else if turn.has(Fault::TokenWithPlus) {
        format!("page+{number}+of+a+list")
    } else if turn.has(Fault::TokenWithPunctuation) {
        format!("-{number}!oai_dc|a&b=c;50%/\"ü\"")
    } else if turn.has(Fault::HugeToken) {
        format!("{}{number}", "x".repeat(HUGE_TOKEN_CHARACTERS))
    } else {
        format!("list-{number}")
    };
    turn.tokens.lists.insert(token.clone(), list);
    token
}
