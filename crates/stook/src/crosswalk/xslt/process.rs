//! One run of `xsltproc` over many records, within limits.
//!
//! Records enter; what was written for each leaves, and how the run ended. The shell that starts `xsltproc` sets the
//! limits the system enforces (memory, processor time, no files written) and is replaced by it; time without progress
//! and the size of what comes out are watched from here, which works on every system.

use std::io::{ErrorKind, Read};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::workshop::{DRIVER_OF_RUN, Marks, NO_FOLDER, Process, Workshop};

// Tests have less of everything, so that they reach the limits soon.

/// Longest time for one record. Most take less than a thousandth of it.
pub(super) const RECORD_TIME: Duration = Duration::from_secs(if cfg!(test) { 2 } else { 5 });
/// Largest result for one record.
pub(super) const RECORD_BYTES: usize = if cfg!(test) { 1 << 20 } else { 16 << 20 };
/// Largest result of one run.
const RUN_BYTES: usize = 32 << 20;
/// Longest messages of one run.
pub(super) const MESSAGE_BYTES: usize = if cfg!(test) { 1 << 20 } else { 16 << 20 };
/// Of which so much is kept.
const KEPT_BYTES: usize = 64 << 10;
/// Memory, in megabytes.
pub(super) const MEGABYTES: usize = if cfg!(test) { 192 } else { 1024 };
/// Processor time of a whole run, in seconds: the last resort when nobody watches any more.
const PROCESSOR_SECONDS: usize = 300;

/// libxml2 goes on without memory as if nothing were amiss, and says only this.
const NO_MEMORY: &[u8] = b"emory allocation failed";

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// By itself, with this code.
    Exited(i32),
    /// By a signal that we did not send.
    Died,
    /// No record was finished for too long.
    TooSlow,
    /// One result became too large.
    TooLarge,
    /// All results together became too large.
    TooMuch,
    /// Too many messages.
    TooTalkative,
    /// There was not enough memory.
    NoMemory,
}

/// What came of a run.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) end: End,
    /// What was written for each record; `None` if that is not complete.
    pub(super) results: Vec<Option<String>>,
    /// The beginning of what was said.
    pub(super) told: String,
}

impl Ran {
    /// Whether everything went well for every record.
    pub(super) fn is_fine(&self) -> bool {
        self.end == End::Exited(0) && self.results.iter().all(Option::is_some)
    }
}

/// Runs the stylesheet over records. Without any it is only read.
pub(super) fn run(workshop: &Workshop, records: &[&str]) -> Result<Ran> {
    let folder = workshop.run_folder()?;
    let names: Vec<String> = (0..records.len()).map(|at| format!("{at}.xml")).collect();
    for (name, record) in names.iter().zip(records) {
        std::fs::write(folder.path().join(name), record).context(NO_FOLDER)?;
    }
    let limits = format!(
        "{{ ulimit -c 0; ulimit -f 0; ulimit -t {PROCESSOR_SECONDS}; ulimit -v {}; }} 2>/dev/null; exec \"$@\"",
        MEGABYTES * 1024
    );
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", &limits, "sh"])
        .arg(&workshop.program)
        .args(["--nonet", "--nowrite", "--nomkdir", "--novalid", "--nodtdattr"])
        .arg(DRIVER_OF_RUN)
        .args(&names)
        .current_dir(folder.path())
        .env_clear()
        // Messages in one language, and no catalogues that would say where else to read.
        .env("LC_ALL", "C")
        .env("XML_CATALOG_FILES", "")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    // Ctrl-C asks us to stop at a good moment; xsltproc is not to hear it.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let process = Process::start(&mut command).context("starting xsltproc")?;
    let heard = listen(&process)?;
    let mut watch = Watch::new(&workshop.marks);
    let stopped = watch.until_the_end(&heard);
    let end = match stopped {
        Some(end) => end,
        None => match process.child().wait().context("waiting for xsltproc")?.code() {
            _ if watch.is_out_of_memory => End::NoMemory,
            // The shell's words for a program it cannot start.
            Some(126 | 127) => bail!(
                "xsltproc cannot be started: {}",
                String::from_utf8_lossy(&watch.told).trim()
            ),
            Some(code) => End::Exited(code),
            None => End::Died,
        },
    };
    drop(process);
    Ok(Ran {
        end,
        results: results(&watch.output, &workshop.marks, records.len()),
        told: String::from_utf8_lossy(&watch.told).into_owned(),
    })
}

enum Heard {
    Output(Vec<u8>),
    Told(Vec<u8>),
    Closed,
}

/// Reads both outputs at once, so that neither can fill up while the other is waited for.
fn listen(process: &Process) -> Result<Receiver<Heard>> {
    let (outgoing, heard) = sync_channel(16);
    let mut child = process.child();
    let (output, told) = (child.stdout.take(), child.stderr.take());
    drop(child);
    spawn_reader(output, Heard::Output, outgoing.clone())?;
    spawn_reader(told, Heard::Told, outgoing)?;
    Ok(heard)
}

fn spawn_reader(
    pipe: Option<impl Read + Send + 'static>,
    kind: fn(Vec<u8>) -> Heard,
    outgoing: SyncSender<Heard>,
) -> Result<()> {
    let read = move || {
        let mut piece = vec![0; 64 << 10];
        if let Some(mut pipe) = pipe {
            loop {
                match pipe.read(&mut piece) {
                    Ok(length @ 1..) if outgoing.send(kind(piece[..length].to_vec())).is_ok() => {}
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    _ => break,
                }
            }
        }
        let _ = outgoing.send(Heard::Closed);
    };
    let started = thread::Builder::new().name("xsltproc".to_owned()).spawn(read);
    started.map(drop).context("starting a thread that reads from xsltproc")
}

/// Collects what is heard, and says when it is enough.
struct Watch<'m> {
    marks: &'m Marks,
    output: Vec<u8>,
    /// Behind the last complete result.
    settled: usize,
    told: Vec<u8>,
    told_bytes: usize,
    /// The last bytes told, because a message may come in two pieces.
    tail: Vec<u8>,
    is_out_of_memory: bool,
}

impl<'m> Watch<'m> {
    fn new(marks: &'m Marks) -> Watch<'m> {
        Watch {
            marks,
            output: Vec::new(),
            settled: 0,
            told: Vec::new(),
            told_bytes: 0,
            tail: Vec::new(),
            is_out_of_memory: false,
        }
    }

    /// `None` if the process closed both outputs by itself.
    fn until_the_end(&mut self, heard: &Receiver<Heard>) -> Option<End> {
        let mut deadline = Instant::now() + RECORD_TIME;
        let mut open = 2;
        while open > 0 {
            match heard.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(Heard::Output(bytes)) => {
                    let settled = self.settled;
                    self.add_output(&bytes);
                    if self.settled > settled {
                        deadline = Instant::now() + RECORD_TIME;
                    }
                    if self.output.len() - self.settled > RECORD_BYTES {
                        return Some(End::TooLarge);
                    }
                    if self.output.len() > RUN_BYTES {
                        return Some(End::TooMuch);
                    }
                }
                Ok(Heard::Told(bytes)) => {
                    self.add_told(&bytes);
                    if self.told_bytes > MESSAGE_BYTES {
                        return Some(End::TooTalkative);
                    }
                }
                Ok(Heard::Closed) => open -= 1,
                Err(RecvTimeoutError::Timeout) => return Some(End::TooSlow),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        None
    }

    fn add_output(&mut self, bytes: &[u8]) {
        let mark = self.marks.end.as_bytes();
        let from = self.settled.max((self.output.len() + 1).saturating_sub(mark.len()));
        self.output.extend_from_slice(bytes);
        if let Some(at) = self.output[from..].windows(mark.len()).rposition(|part| part == mark) {
            self.settled = from + at + mark.len();
        }
    }

    fn add_told(&mut self, bytes: &[u8]) {
        self.told_bytes += bytes.len();
        let room = KEPT_BYTES.saturating_sub(self.told.len()).min(bytes.len());
        self.told.extend_from_slice(&bytes[..room]);
        self.tail.extend_from_slice(bytes);
        self.is_out_of_memory |= self.tail.windows(NO_MEMORY.len()).any(|part| part == NO_MEMORY);
        let done = self.tail.len().saturating_sub(NO_MEMORY.len());
        self.tail.drain(..done);
    }
}

/// The complete results among what was written, each in the place of its record.
fn results(output: &[u8], marks: &Marks, count: usize) -> Vec<Option<String>> {
    let mut results = vec![None; count];
    let mut unnamed = Vec::new();
    // What was broken off in the middle of a character is not complete anyway.
    let output = String::from_utf8_lossy(output);
    let mut rest = &*output;
    while let Some((_, begun)) = rest.split_once(&marks.begin) {
        let Some((name, body)) = begun.split_once('>') else {
            break;
        };
        let Some(length) = length_of_result(body, marks) else {
            break;
        };
        let begin = format!("{}{name}>", marks.begin);
        let made = body[..length].replace(&marks.end, "").replace(&begin, "");
        let number = name.trim_end_matches(['"', '/']).rsplit('/').next();
        let number = number.and_then(|name| name.strip_suffix(".xml")?.parse::<usize>().ok());
        match number.and_then(|number| results.get_mut(number)) {
            Some(result) => *result = Some(made),
            None => unnamed.push(Some(made)),
        }
        rest = &body[length + marks.end.len()..];
    }
    // An old libxslt does not tell which record it works on; then only a run without failures can be used.
    match unnamed.len() == count {
        true => unnamed,
        false => results,
    }
}

/// Where the end mark of a result is. A stylesheet that begins again with the whole document writes marks in it.
fn length_of_result(body: &str, marks: &Marks) -> Option<usize> {
    let mut depth = 1;
    let mut at = 0;
    loop {
        let end = at + body[at..].find(&marks.end)?;
        depth += body[at..end].matches(&marks.begin).count();
        depth -= 1;
        if depth == 0 {
            return Some(end);
        }
        at = end + marks.end.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(output: &str, count: usize) -> Vec<Option<String>> {
        let marks = Marks::new();
        let written = output.replace('[', &marks.begin).replace(']', &marks.end);
        results(written.as_bytes(), &marks, count)
    }

    fn all(results: &[&str]) -> Vec<Option<String>> {
        results.iter().map(|result| Some((*result).to_owned())).collect()
    }

    #[test]
    fn results_go_to_their_records() {
        assert_eq!(read("[1.xml\">b]\n<!DOCTYPE x>[0.xml\">a]", 2), all(&["a", "b"]));
        assert_eq!(read("[/x/0.xml\"><r/>[/x/0.xml\">in]<s/>]", 1), all(&["<r/>in<s/>"]));
        assert_eq!(
            read("[0.xml\">a][2.xml\">broken off", 3),
            [Some("a".to_owned()), None, None]
        );
        assert_eq!(read("[7.xml\">of no record]", 2), [None, None]);
        assert_eq!(read("", 0), []);
    }

    #[test]
    fn an_old_libxslt_that_names_no_record_is_believed_when_all_are_there() {
        assert_eq!(read("[\">a][\">b]", 2), all(&["a", "b"]));
        assert_eq!(read("[\">b]", 2), [None, None]);
    }
}
