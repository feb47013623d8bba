//! The data provider: a request becomes XML.
//!
//! ```text
//! serve    listens, accepts, stops gracefully
//! http     method, path, body, access, flow, compression   → query bytes
//! answer   query → request → one of verbs/ → XML           (synchronous, no HTTP)
//! list     what ListRecords and ListIdentifiers share: selection, pages, tokens
//! ```
//! Nothing below `http` knows of HTTP, and nothing above `answer` knows of OAI-PMH.

pub mod access;
pub mod answer;
mod client;
pub mod compress;
pub mod flow;
pub mod http;
mod list;
pub mod metrics;
pub mod reach;
pub mod replicas;
pub mod serve;
mod stall;
pub mod stream;
mod verbs;

use std::fs;

use anyhow::{Context, Result, bail};
use stook_metadata::{Formats, Namespaces};
use stook_oai::token::TokenKey;
use stook_oai::{CollectionIcon, Description, Granularity, OaiNamespace, Policy};
use stook_store::{RepositoryId, Store};

use crate::config;

/// One repository, ready to answer.
pub struct Provider {
    /// What the configuration says of it.
    pub settings: config::Repository,
    store: Store,
    repository: RepositoryId,
    granularity: Granularity,
    tokens: TokenKey,
    /// The containers of Identify that do not depend on the records.
    descriptions: Vec<Description>,
    namespace: Option<OaiNamespace>,
}

impl Provider {
    /// Finds or makes the repository in the store.
    ///
    /// # Errors
    /// When the store cannot be used, or a description is unusable.
    pub fn open(store: Store, settings: config::Repository, formats: &Formats) -> Result<Provider> {
        let repository = store.declare_repository(&settings.name)?;
        // Every repository offers oai_dc, even while it is empty.
        if let Some(oai_dc) = formats.by_prefix("oai_dc") {
            store.declare_format(repository, &oai_dc.metadata_format())?;
        }
        Ok(Provider {
            tokens: TokenKey::new(store.secret()?),
            granularity: settings.granularity.into(),
            descriptions: descriptions(&settings)?,
            namespace: OaiNamespace::parse(&settings.namespace).ok(),
            settings,
            store,
            repository,
        })
    }

    /// The store the answers come from.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The repository in the store.
    pub fn repository(&self) -> RepositoryId {
        self.repository
    }
}

fn descriptions(settings: &config::Repository) -> Result<Vec<Description>> {
    let mut descriptions = Vec::new();
    if !settings.friends.is_empty() {
        descriptions.push(Description::Friends {
            base_urls: settings.friends.clone(),
        });
    }
    if let Some(branding) = settings.branding.clone() {
        let config::Branding {
            icon,
            link,
            title,
            width,
            height,
        } = branding;
        let icon = Some(CollectionIcon {
            url: icon,
            link,
            title,
            width,
            height,
        });
        descriptions.push(Description::Branding {
            icon,
            renderings: vec![],
        });
    }
    if let Some(eprints) = &settings.eprints {
        descriptions.push(Description::Eprints {
            content: eprints.content.as_deref().map(policy),
            metadata_policy: policy(&eprints.metadata_policy),
            data_policy: policy(&eprints.data_policy),
            submission_policy: eprints.submission_policy.as_deref().map(policy),
            comments: eprints.comments.clone(),
        });
    }
    let mut rights = settings.rights.iter().map(rights);
    if let Some(first) = rights.next() {
        descriptions.push(Description::RightsManifest {
            first: first?,
            others: rights.collect::<Result<_>>()?,
        });
    }
    for file in &settings.description_files {
        let text = fs::read_to_string(file).with_context(|| format!("description file {}", file.display()))?;
        let element = standing_alone(&text).with_context(|| format!("description file {}", file.display()))?;
        descriptions.push(Description::Xml(element));
    }
    Ok(descriptions)
}

fn policy(text: &str) -> Policy {
    if config::is_url(text) {
        Policy {
            url: Some(text.to_owned()),
            text: None,
        }
    } else {
        Policy {
            url: None,
            text: Some(text.to_owned()),
        }
    }
}

fn rights(rights: &config::Rights) -> Result<stook_oai::Rights> {
    Ok(match rights {
        config::Rights::Reference(url) => stook_oai::Rights::Reference(url.clone()),
        config::Rights::Definition(xml) => stook_oai::Rights::Definition(standing_alone(xml).context("rights")?),
    })
}

/// One XML element that may stand in a container: well-formed, with its own namespace and schema location.
pub(crate) fn standing_alone(xml: &str) -> Result<String> {
    let element = stook_metadata::check_about(xml, &Namespaces::default())?;
    if !element.contains("schemaLocation") {
        bail!("its root element has no xsi:schemaLocation, which validators ask for\nTry: add one");
    }
    Ok(element)
}
