//! The program: everything is in the library.

use std::process::ExitCode;

/// Records are made on one thread and given up on another, which the system's allocator makes dear.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    stook::cli::run()
}
