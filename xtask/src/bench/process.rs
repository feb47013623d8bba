//! What a process takes from its start to its end: time, processor, memory.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::server::{TICK, peak_memory_of};

/// What a process took.
pub(super) struct Taken {
    pub(super) time: Duration,
    /// Of the process and of those it waited for, in user and kernel mode.
    pub(super) processor: Duration,
    /// The most memory that the process had resident, in bytes.
    pub(super) peak_memory: u64,
    pub(super) output: String,
}

/// Runs a command to its end. What it writes goes to `log`.
///
/// # Errors
/// When it cannot be started or does not succeed; with what it wrote.
pub(super) fn measure(command: &mut Command, log: &Path) -> Result<Taken> {
    let program = command.get_program().to_string_lossy().into_owned();
    let out = File::create(log).with_context(|| format!("making {}", log.display()))?;
    let before = processor_time_of_the_waited_for()?;
    let started = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(out.try_clone()?)
        .stderr(out)
        .spawn()
        .with_context(|| format!("cannot start {program}"))?;
    let mut peak_memory = 0;
    let status = loop {
        // Linux forgets the peak of a process that has ended, so it is asked
        // for until then.
        peak_memory = peak_memory.max(peak_memory_of(child.id()));
        if let Some(status) = child.try_wait()? {
            break status;
        }
        sleep(Duration::from_millis(10));
    };
    let time = started.elapsed();
    let processor = processor_time_of_the_waited_for()?.saturating_sub(before);
    let output = fs::read_to_string(log).unwrap_or_default();
    if !status.success() {
        bail!("{program} ended with {status}\n{output}");
    }
    Ok(Taken {
        time,
        processor,
        peak_memory,
        output,
    })
}

/// The processor time of all children that this process has waited for. Only
/// one is measured at a time, so the difference is that one's.
fn processor_time_of_the_waited_for() -> Result<Duration> {
    let stat = fs::read_to_string("/proc/self/stat").context("reading /proc/self/stat")?;
    // The name of the program, in parentheses, may hold spaces.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    // proc(5): cutime and cstime are fields 16 and 17, the first here is 3.
    let ticks: u32 = fields
        .skip(13)
        .take(2)
        .filter_map(|field| field.parse::<u32>().ok())
        .sum();
    Ok(TICK * ticks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_of_a_busy_process_is_told() {
        let log = std::env::temp_dir().join(format!("stook-measure-{}", std::process::id()));
        let mut command = Command::new("sh");
        command.args(["-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo done"]);
        let taken = measure(&mut command, &log).unwrap();
        fs::remove_file(log).unwrap();
        assert_eq!(taken.output, "done\n");
        assert!(taken.processor > Duration::ZERO && taken.processor <= taken.time + TICK * 2);
        assert!(taken.peak_memory > 0);
    }
}
