//! nginx serving saved pages: the limit of what a server can do with them.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::server::Server;
use crate::workspace::{free_port, output};

/// Starts nginx on the files in `folder`.
///
/// # Errors
/// When it does not start.
pub(super) fn start(folder: &Path) -> Result<Server> {
    let port = free_port()?;
    let config = folder.join("nginx.conf");
    // Started by root it would give its workers to a user who may not read
    // the folder.
    let root = output(Command::new("id").arg("-u"))?.trim_ascii() == b"0";
    let user = if root { "user root;" } else { "" };
    fs::write(&config, configuration(folder, port, user)).context("writing nginx.conf")?;
    fs::write(folder.join("ready"), "").context("writing to nginx's folder")?;
    let mut command = Command::new("nginx");
    command
        .env("PATH", path_with_sbin())
        .arg("-p")
        .arg(folder)
        .arg("-c")
        .arg(&config)
        .arg("-e")
        .arg(folder.join("error.log"));
    Server::start("nginx", &mut command, port, "/ready", folder)
}

/// Everything that makes nginx fast at this is on; gzip as the clients ask.
fn configuration(folder: &Path, port: u16, user: &str) -> String {
    let folder = folder.display();
    format!(
        "{user}
daemon off;
worker_processes 2;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    sendfile on;
    tcp_nopush on;
    keepalive_requests 1000000000;
    open_file_cache max=20000;
    open_file_cache_valid 1h;
    types {{ text/xml xml; }}
    gzip on;
    gzip_comp_level 6;
    gzip_types text/xml;
    client_body_temp_path {folder}/tmp-body;
    proxy_temp_path {folder}/tmp-proxy;
    fastcgi_temp_path {folder}/tmp-fastcgi;
    uwsgi_temp_path {folder}/tmp-uwsgi;
    scgi_temp_path {folder}/tmp-scgi;
    server {{
        listen 127.0.0.1:{port};
        root {folder};
    }}
}}
"
    )
}

/// Debian keeps nginx where only root's PATH looks.
fn path_with_sbin() -> String {
    format!("{}:/usr/sbin", std::env::var("PATH").unwrap_or_default())
}
