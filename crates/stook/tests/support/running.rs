//! A process of a test: it does not outlive it, and what it prints is kept.

#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "each test program uses its own part of this, and whatever fails here fails the test"
)]

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long a process may take for anything that is waited for.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A process that is under way.
pub struct Running {
    child: Child,
    /// What it has printed.
    log: File,
}

impl Running {
    pub fn start(command: Command) -> Running {
        Running::try_start(command).unwrap()
    }

    /// The same, where the program may be missing.
    pub fn try_start(mut command: Command) -> std::io::Result<Running> {
        let log = tempfile::tempfile()?;
        command
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log.try_clone()?);
        let child = command.spawn()?;
        Ok(Running { child, log })
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// What it has printed so far.
    pub fn printed(&self) -> String {
        // Read at places of our own: the process writes at the one that the file remembers.
        let mut printed = vec![0; usize::try_from(self.log.metadata().unwrap().len()).unwrap()];
        self.log.read_exact_at(&mut printed, 0).unwrap();
        String::from_utf8_lossy(&printed).into_owned()
    }

    /// Waits until this is so, and says what was printed if it never is.
    pub fn until(&self, what: &str, mut is_so: impl FnMut(&str) -> bool) {
        let began = Instant::now();
        while !is_so(&self.printed()) {
            assert!(began.elapsed() < PATIENCE, "waiting for {what}:\n{}", self.printed());
            sleep(Duration::from_millis(50));
        }
    }

    pub fn until_printed(&self, what: &str) {
        self.until(what, |printed| printed.contains(what));
    }

    pub fn is_over(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Waits until it is over, however long that takes.
    pub fn wait(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }

    /// Waits until it is over; it must have succeeded.
    pub fn assert_it_ends_well(&mut self) {
        let status = self.wait();
        assert!(status.success(), "{status}\n{}", self.printed());
    }

    pub fn signal(&self, signal: &str) {
        let kill = Command::new("kill").args([signal, &self.id().to_string()]).status();
        assert!(kill.unwrap().success());
    }

    /// Asks it to stop, which it must do soon; its exit code.
    pub fn interrupt(&mut self) -> Option<i32> {
        self.signal("-INT");
        let began = Instant::now();
        while !self.is_over() {
            assert!(began.elapsed() < PATIENCE, "it does not stop:\n{}", self.printed());
            sleep(Duration::from_millis(20));
        }
        self.wait().code()
    }

    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.wait();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
