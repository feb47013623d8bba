//! Says in the log when a replica stops being asked, and when it is asked again.

use std::collections::HashMap;
use std::time::Duration;

use stook_store::{ReplicaState, Store};
use tracing::{info, warn};

const PAUSE: Duration = Duration::from_secs(10);

/// Watches the replicas of a store, if it has any, for as long as the runtime runs.
pub fn watch(store: &Store) {
    let store = store.clone();
    tokio::spawn(async move {
        let mut known = HashMap::new();
        loop {
            let asked = store.clone();
            match tokio::task::spawn_blocking(move || asked.replicas()).await {
                Ok(replicas) if !replicas.is_empty() => report(&replicas, &mut known),
                _ => return,
            }
            tokio::time::sleep(PAUSE).await;
        }
    });
}

/// Tells what has changed since the last time.
fn report(replicas: &[ReplicaState], known: &mut HashMap<String, bool>) {
    for replica in replicas {
        let (place, is_close) = (&replica.place, replica.is_close());
        if known.insert(place.clone(), is_close) == Some(is_close) {
            continue;
        }
        match &replica.seconds_behind {
            Ok(seconds) if is_close => info!(replica = place, seconds_behind = seconds, "reading from a replica"),
            Ok(seconds) => warn!(
                replica = place,
                seconds_behind = seconds,
                "a replica is too far behind to be asked"
            ),
            Err(error) => warn!(
                replica = place,
                "a replica is not asked: {error}. Try: {}",
                error.hint()
            ),
        }
    }
}
