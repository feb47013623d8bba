//! The table as people read it: the commented file of `stook init`, and docs/configuration.md.

use std::fmt::Write as _;

use super::settings::{Access, Crosswalk, Harvest, HouseFormat, Repository, Server, Setting, Source, toml_text};

/// The commented file of `stook init`: what was answered is set, everything else stands there as a comment.
pub fn commented(store: &str, listen: &str, repository: &Repository) -> String {
    let mut text = String::from("# Configuration of Stook. Settings with a # before them show their defaults.\n\n");
    let _ = writeln!(
        text,
        "# Where the records live: a file, relative to this one, or a PostgreSQL server, such as\n\
         # postgres://stook@db.example.org/stook (see docs/postgresql.md).\nstore = {}\n\
         # Replicas of that server to read from.\n# read_urls = []\n",
        toml_text(&store)
    );
    text.push_str("[server]\n");
    section(&mut text, Server::table(), &[("listen", toml_text(&listen))]);
    text.push_str("\n[[repository]]\n");
    let answered = [
        ("name", toml_text(&repository.name)),
        ("path", toml_text(&repository.path)),
        ("base_url", toml_text(&repository.base_url)),
        ("repository_name", toml_text(&repository.repository_name)),
        ("admin_emails", toml_text(&repository.admin_emails)),
        ("namespace", toml_text(&repository.namespace)),
        ("granularity", toml_text(&repository.granularity)),
    ];
    let scalars = Repository::table()
        .into_iter()
        .filter(|setting| !NESTED.contains(&setting.name))
        .collect();
    section(&mut text, scalars, &answered);
    text.push_str(EXAMPLES);
    text
}

/// Settings that are tables of their own; the examples show them.
const NESTED: [&str; 4] = ["access", "branding", "eprints", "rights"];

fn section(text: &mut String, settings: Vec<Setting>, answered: &[(&str, String)]) {
    for Setting {
        name,
        default,
        sentence,
    } in settings
    {
        let _ = match answered.iter().find(|(answered, _)| *answered == name) {
            Some((_, value)) => writeln!(text, "# {sentence}\n{name} = {value}"),
            None => writeln!(text, "# {sentence}\n# {name} = {default}"),
        };
    }
}

const EXAMPLES: &str = r##"
# Who may harvest. A client that meets any one of these is let in; without this table everybody is.
# [repository.access]
# addresses = ["192.0.2.0/24"]
# users = [{ name = "aggregator", password = "a long password" }]
# tokens = ["at least sixteen characters"]

# An icon for those who show the records.
# [repository.branding]
# icon = "https://example.org/icon.png"
# link = "https://example.org/"
# title = "Example Library"
# width = 88
# height = 31

# Policies as the eprints community states them; a text or a URL each. metadata_policy and data_policy are needed,
# content, submission_policy and comments are not.
# [repository.eprints]
# content = "Theses and articles of the faculty."
# metadata_policy = "https://example.org/metadata-policy"
# data_policy = "Full texts may be read and copied for study."

# Rights in the metadata: a reference, or definition = "<one XML element>".
# [[repository.rights]]
# reference = "https://creativecommons.org/publicdomain/zero/1.0/"

# A metadata format of your own, beside the well-known ones.
# [[format]]
# prefix = "house"
# namespace = "https://example.org/ns/house/"
# schema = "https://example.org/ns/house.xsd"
# root = "record"

# Records of one format made from those of another.
# [[crosswalk]]
# from = "marc21"
# to = "mods"
"##;

/// The page docs/configuration.md.
pub fn documentation() -> String {
    let mut text = String::from(DOCUMENTATION_HEAD);
    let groups = [
        ("`[server]`", "How the program answers over HTTP.", Server::table()),
        (
            "`[[repository]]`",
            "One for each repository; the name and the path of each are its own.",
            Repository::table(),
        ),
        (
            "`[repository.access]`",
            "Who may harvest. A client that meets any one of the rules is let in; without rules everybody is.",
            Access::table(),
        ),
        (
            "`[[format]]`",
            "A metadata format of your own, beside the well-known ones.",
            HouseFormat::table(),
        ),
        (
            "`[[crosswalk]]`",
            "Records of one format made from those of another; `stook format add` writes one. Dublin Core is made without being asked.",
            Crosswalk::table(),
        ),
        (
            "`[harvest]`",
            "How the program harvests, whatever the source.",
            Harvest::table(),
        ),
        (
            "Settings of a source",
            "Kept in the store, not in this file: `stook source add NAME URL SETTING=VALUE …`, `stook source edit`.",
            Source::table(),
        ),
    ];
    for (name, what, settings) in groups {
        let _ = write!(
            text,
            "\n## {name}\n\n{what}\n\n| setting | default | meaning |\n|---|---|---|\n"
        );
        for Setting {
            name,
            default,
            sentence,
        } in settings
        {
            let default = if default.is_empty() {
                "none".to_owned()
            } else {
                format!("`{default}`")
            };
            let _ = writeln!(text, "| `{name}` | {default} | {sentence} |");
        }
    }
    text.push_str("\n## Tables that are longer than a line\n\n```toml");
    text.push_str(EXAMPLES);
    text.push_str("```\n");
    text
}

const DOCUMENTATION_HEAD: &str = "# Configuration

<!-- Made from the table in crates/stook/src/config/settings.rs; `STOOK_UPDATE_GOLDEN=1 cargo test -p stook config` writes it. -->

`stook init` writes a commented `stook.toml` with these settings; `-c FILE` or the environment variable `STOOK_CONFIG` names
another file. A setting that is not there has its default; one that does not exist is an error. Paths are relative to the
file. `store`, at the top, is the file the records live in; its default is `stook.db`. It may also be the address of a
PostgreSQL database ([postgresql.md](postgresql.md)), and `read_urls` beside it the addresses of its replicas.
";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use std::path::Path;

    #[test]
    fn the_documentation_lists_every_setting_as_it_is() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/configuration.md");
        if std::env::var_os("STOOK_UPDATE_GOLDEN").is_some() {
            std::fs::write(&path, documentation()).unwrap();
        }
        let written = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(
            written,
            documentation(),
            "run this test with STOOK_UPDATE_GOLDEN=1 and read the difference"
        );
    }

    fn minimal() -> Repository {
        Repository {
            repository_name: "Test".into(),
            admin_emails: vec!["a@example.org".into()],
            namespace: "example.org".into(),
            ..Repository::default()
        }
    }

    #[test]
    fn the_commented_file_is_read_back_as_what_was_answered() {
        let text = commented("records.db", "127.0.0.1:9000", &minimal());
        let config = Config::parse(&text).unwrap();
        assert_eq!(config.server.listen, "127.0.0.1:9000");
        assert_eq!(config.repository[0].namespace, "example.org");
        assert_eq!(config.repository[0].base_url, "http://127.0.0.1:9000/oai");
    }

    #[test]
    fn the_commented_file_with_every_comment_taken_off_is_valid_too() {
        let text = commented("records.db", "127.0.0.1:9000", &minimal());
        let is_setting = |line: &str| {
            line.starts_with("# [")
                || line.split_once(" = ").is_some_and(|(name, _)| {
                    name.strip_prefix("# ")
                        .is_some_and(|name| name.chars().all(|c| c.is_ascii_lowercase() || c == '_'))
                })
        };
        let open: String = text
            .lines()
            .map(|line| {
                if is_setting(line) {
                    line.trim_start_matches("# ")
                } else {
                    line
                }
            })
            .map(|line| format!("{line}\n"))
            .collect();
        let config = Config::parse(&open).unwrap_or_else(|error| panic!("{error:#}\n{open}"));
        assert_eq!(config.repository[0].access.users[0].name, "aggregator");
        assert!(config.formats().unwrap().by_prefix("house").is_some());
    }
}
