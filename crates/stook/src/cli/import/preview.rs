//! `stook import --preview`: records as they would be published.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::sync::Arc;

use anyhow::Result;

use crate::cli::Ending;
use crate::import::source::Halt;
use crate::import::{Content, Draft, Drafted, Drafter, Input, Options, Rejected, open};

/// Prints the first so many records of the inputs, and what would be quarantined before them.
pub(super) fn print(inputs: &[Input], options: &Arc<Options>, number: u64) -> Result<Ending> {
    open::look_ahead(inputs, options)?;
    let drafter = Drafter::new(options.clone());
    let mut out = io::stdout().lock();
    let (mut printed, mut rejected, mut failure) = (0, 0_u64, None);
    let outcome = open::read(inputs, options, &Arc::default(), &mut |raw| {
        let mut drafted = Drafted::default();
        drafter.draft(raw, &mut drafted);
        let written = drafted
            .rejected
            .iter()
            .try_for_each(|entry| print_rejected(&mut out, entry));
        rejected += drafted.rejected.len() as u64;
        let wanted = usize::try_from(number - printed).unwrap_or(usize::MAX);
        let drafts: Vec<&Draft> = drafted.drafts.iter().take(wanted).collect();
        printed += drafts.len() as u64;
        let written = written.and_then(|()| drafts.into_iter().try_for_each(|draft| print_draft(&mut out, draft)));
        match written {
            Ok(()) if printed < number => ControlFlow::Continue(()),
            Ok(()) => ControlFlow::Break(()),
            Err(error) => {
                failure = Some(error);
                ControlFlow::Break(())
            }
        }
    });
    if let Some(error) = failure {
        return Err(error.into());
    }
    if let Err(Halt::Refused(refusal)) = outcome {
        return Err(refusal.into());
    }
    if printed == 0 && rejected == 0 {
        println!("There are no records.");
    }
    Ok(if rejected > 0 { Ending::Findings } else { Ending::Fine })
}

fn print_draft(out: &mut impl Write, draft: &Draft) -> io::Result<()> {
    let sets: Vec<&str> = draft.set_specs.iter().map(|spec| spec.as_str()).collect();
    let sets = if sets.is_empty() {
        String::new()
    } else {
        format!("  [{}]", sets.join(" "))
    };
    match &draft.content {
        Content::Live { prefix, metadata, .. } => {
            writeln!(out, "{}  {prefix}{sets}", draft.identifier)?;
            // One element to a line reads better than all in one.
            writeln!(out, "    {}\n", metadata.replace("><", ">\n    <"))
        }
        Content::Deleted { .. } => writeln!(out, "{}  deleted{sets}\n", draft.identifier),
    }
}

fn print_rejected(out: &mut impl Write, entry: &Rejected) -> io::Result<()> {
    let identifier = entry.identifier.as_deref().unwrap_or("?");
    let place = &entry.place;
    writeln!(
        out,
        "{identifier}  would be quarantined: {} ({}:{})\n",
        entry.reason, place.source, place.line
    )
}
