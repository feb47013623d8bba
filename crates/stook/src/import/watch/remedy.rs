//! What to try, as a command that can be typed.

use std::path::Path;

use super::Watch;
use crate::import::Refusal;

/// Somebody who can be told what to type.
#[derive(Clone, Debug)]
pub(super) struct Remedy {
    /// The command that looks once, as far as its options.
    command: String,
    /// The folders that are watched.
    folders: String,
    /// Whether it is told by a server, which has no options.
    is_server: bool,
}

impl Remedy {
    pub(super) fn new(watch: &Watch) -> Remedy {
        let repository = watch.repository.as_deref();
        let of = repository.map(|name| format!(" -r {}", quoted(name)));
        let of = of.unwrap_or_default();
        let folders: Vec<String> = watch.folders.iter().map(|folder| shown(folder)).collect();
        Remedy {
            command: format!("stook import{of} --watch --once"),
            folders: folders.join(" "),
            is_server: watch.is_server,
        }
    }

    /// The whole command, with these options.
    pub(super) fn with(&self, options: &str) -> String {
        format!("{} {options} {}", self.command, self.folders)
    }

    /// Lets go of a folder that is not watched any more.
    pub(super) fn forget(&self, folder: &Path) -> String {
        self.with(&format!("--forget {}", shown(folder)))
    }

    /// What to say of a file that was refused, and what to keep for whoever asks later, who has no command in hand.
    pub(super) fn refused(&self, refusal: &Refusal) -> Refused {
        let text = refusal.to_string();
        let (what, remedy) = text.split_once(". Try: ").unwrap_or((&text, "mend the file"));
        let whole = match refusal {
            Refusal::UnknownNames { names, .. } => {
                let map = format!("--map {}", quoted(&format!("{}=title", names[0])));
                format!(
                    "{} (or another element, one --map for each; nothing behind = skips one, --ignore-unknown all)",
                    self.with(&map)
                )
            }
            Refusal::NoIdentifierColumn(_) => {
                format!("a column \"id\" or \"identifier\", or {}", self.with("--map COLUMN=id"))
            }
            _ => remedy.to_owned(),
        };
        let kept = format!("{what}. Try: {whole}");
        let remedy = if self.is_server { &whole } else { remedy };
        Refused {
            said: format!("{what}\nTry: {remedy}"),
            kept,
        }
    }
}

/// Why a file was refused, twice.
pub(super) struct Refused {
    /// For who watches.
    pub(super) said: String,
    /// For the quarantine.
    pub(super) kept: String,
}

fn shown(path: &Path) -> String {
    quoted(&path.display().to_string())
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+:,@%=".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_can_be_typed_as_they_stand() {
        let remedy = Remedy::new(&Watch {
            folders: vec!["inbox".into(), "my drive/it's".into()],
            repository: Some("maps".into()),
            ..Watch::default()
        });
        assert_eq!(
            remedy.with("--max-deletions 20"),
            r"stook import -r maps --watch --once --max-deletions 20 inbox 'my drive/it'\''s'"
        );
    }
}
