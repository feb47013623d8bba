//! The first page: which repository?

use maud::{Markup, html};

use super::Visitor;
use super::state::{Place, State};
use super::words::W;
use crate::config::Explore;
use crate::provider::access::{Verdict, judge};
use crate::provider::http::Site;

/// The page.
pub(super) fn page(site: &Site, visitor: &Visitor) -> Markup {
    let is_open = |provider: &crate::provider::Provider| {
        let access = &provider.settings.access;
        judge(access, visitor.client, visitor.authorization.as_deref()) == Verdict::Welcome
    };
    html! {
        h1 { (W.start_title) }
        p.lead { (W.start_lead) }
        h2 { (W.own_title) }
        ul.choices {
            @for provider in site.providers() {
                @let settings = &provider.settings;
                @let state = State::at(Place::Own(settings.name.clone()));
                li.card {
                    a href=(state.href()) { (settings.repository_name) }
                    // Of a repository that the visitor may not see, this says only that there is one.
                    @if is_open(provider) { code { (settings.base_url) } } @else { span.soft { (W.own_closed) } }
                }
            }
        }
        @if site.settings().explore == Explore::Any { (other("")) }
    }
}

/// The form for another repository.
pub(super) fn other(url: &str) -> Markup {
    html! {
        h2 { (W.other_title) }
        form.fields.card action="explore" method="get" {
            div.field.wide {
                label for="url" { (W.other_label) }
                input id="url" name="url" type="url" value=(url) required placeholder="https://" aria-describedby="url-hint";
                span.soft id="url-hint" { (W.other_hint) }
            }
            button type="submit" { (W.other_go) }
        }
    }
}
