//! The models there are, and what is said about one that makes no sense.

use crate::format::well_known;
use crate::model::{Model, all, containers, of_answers, of_root};

#[test]
fn every_model_is_read_and_belongs_to_a_known_format() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/model");
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "model") {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let model =
                Model::read(&std::fs::read_to_string(&path).unwrap()).unwrap_or_else(|error| panic!("{name}: {error}"));
            if model.root.name == of_answers().root.name {
                continue;
            }
            let format = well_known().iter().find(|format| format.prefix.as_str() == name);
            let format = format.unwrap_or_else(|| panic!("there is no format {name}"));
            let root = &model.root.name;
            assert!(format.accepts_root(&root.namespace, &root.local), "{name}");
            assert!(
                of_root(&root.namespace, &root.local).is_some(),
                "{name} is not in the list"
            );
            files.push(name);
        }
    }
    assert_eq!(files.len(), all().len());
}

#[test]
fn every_model_of_a_container_is_in_the_list() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/model/containers");
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), containers().len());
    for model in containers() {
        let root = &model.root.name;
        let found = of_root(&root.namespace, &root.local).map(|model| &model.name);
        assert_eq!(found, Some(&model.name));
    }
}

#[test]
fn every_format_is_documented_and_every_checked_one_in_the_table() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats.md");
    let text = std::fs::read_to_string(path).unwrap();
    for format in well_known() {
        let (prefix, root) = (&format.prefix, &format.roots[0]);
        assert!(text.contains(&format!("`{prefix}`")), "{prefix} is not documented");
        let row = format!("\n| `{prefix}` |");
        assert!(
            of_root(&root.namespace, &root.name).is_none() || text.contains(&row),
            "{prefix}"
        );
    }
}

#[test]
fn no_kind_has_anything_twice_and_none_is_forgotten() {
    for model in all().iter().chain(containers()).chain([of_answers()]) {
        let mut used = vec![false; model.kinds.len()];
        used[model.root.kind] = true;
        for (_, kind) in &model.types {
            used[*kind] = true;
        }
        for kind in &model.kinds {
            let place = format!("{} {}", model.name, kind.name);
            for (index, child) in kind.children.iter().enumerate() {
                used[child.kind] = true;
                assert!(
                    kind.children[index + 1..].iter().all(|other| other.name != child.name),
                    "{place}"
                );
            }
            for (index, attribute) in kind.attributes.iter().enumerate() {
                assert!(
                    kind.attributes[index + 1..]
                        .iter()
                        .all(|other| other.name != attribute.name),
                    "{place}"
                );
            }
            assert_eq!(
                model.kinds.iter().filter(|other| other.name == kind.name).count(),
                1,
                "{place}"
            );
        }
        let unused: Vec<&str> = (0..used.len())
            .filter(|at| !used[*at])
            .map(|at| &*model.kinds[at].name)
            .collect();
        // What others are like need not be an element of its own.
        assert!(
            unused.iter().all(|name| *name == "free_text"),
            "{}: {unused:?}",
            model.name
        );
    }
}

#[test]
fn a_model_that_makes_no_sense_is_refused_with_its_line() {
    let begin = "model X\nnamespace urn:x\nroot a\n";
    for (text, line, message) in [
        ("kind a\n    b *\n", 5, "there is no kind b"),
        ("kind a\n    text loud\n", 5, "there is no value loud"),
        ("kind a\n    with b\n", 5, "there are no attributes b"),
        ("kind a\n    as b\n", 5, "there is no kind b further up"),
        ("kind a\n    @p:b\n", 5, "there is no prefix p"),
        ("kind a\n    shout\n", 5, "shout begins no line of a kind"),
        ("sing\n", 4, "sing begins no line"),
        ("    text\n", 4, "this line is indented, but belongs to nothing"),
        ("value b c\n", 4, "a value is a list behind ="),
        ("kind a\n    * b\n", 5, "elements are written: NAME… OCCURS KIND"),
    ] {
        let error = Model::read(&format!("{begin}{text}")).unwrap_err();
        assert_eq!((error.line, &*error.message), (line, message), "{text}");
    }
    assert_eq!(Model::read("model X").unwrap_err().message, "there is no root");
}
