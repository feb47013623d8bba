//! What to try, as a command that can be typed.

use std::path::{Path, PathBuf};

/// Somebody who can be told what to type.
#[derive(Clone, Debug)]
pub(super) struct Remedy {
    /// The command that looks once, as far as its options.
    command: String,
    /// The folders that are watched.
    folders: String,
}

impl Remedy {
    pub(super) fn new(repository: Option<&str>, folders: &[PathBuf]) -> Remedy {
        let of = repository
            .map(|name| format!(" -r {}", quoted(name)))
            .unwrap_or_default();
        let folders: Vec<String> = folders.iter().map(|folder| shown(folder)).collect();
        Remedy {
            command: format!("stook import{of} --watch --once"),
            folders: folders.join(" "),
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
}

fn shown(path: &Path) -> String {
    quoted(&path.display().to_string())
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+:,@%".contains(c);
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
        let remedy = Remedy::new(Some("maps"), &["inbox".into(), "my drive/it's".into()]);
        assert_eq!(
            remedy.with("--max-deletions 20"),
            r"stook import -r maps --watch --once --max-deletions 20 inbox 'my drive/it'\''s'"
        );
    }
}
