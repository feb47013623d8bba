//! A real browser, driven by its DevTools protocol over a pair of pipes: messages are JSON, each ended by a zero byte.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// Nothing here takes longer, unless it hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// Chromium with one tab.
pub struct Browser {
    child: Child,
    pipe: ChildStdin,
    messages: Receiver<Value>,
    /// Events that came while something else was waited for.
    events: VecDeque<Value>,
    /// Everything that was asked for over the network.
    pub requested: Vec<String>,
    /// Dialogs that opened.
    pub dialogs: Vec<String>,
    session: String,
    last: u64,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// A browser with a window of this size.
    pub fn start(width: u32, height: u32) -> Browser {
        let profile = tempfile::tempdir().unwrap();
        // The browser talks on descriptors 3 and 4; the shell puts our pipes there.
        let script = "exec chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
                      --disable-background-networking --disable-component-update --disable-sync --lang=en \
                      --user-data-dir=\"$1\" --remote-debugging-pipe about:blank 3<&0 4>&1 >/dev/null 2>&1";
        let found = Command::new("sh").args(["-c", "command -v chromium"]).output().unwrap();
        assert!(
            found.status.success(),
            "these tests need Chromium. Try: apt-get install chromium (cargo xtask test does)"
        );
        let mut child = Command::new("sh")
            .args(["-c", script, "sh"])
            .arg(profile.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let pipe = child.stdin.take().unwrap();
        let mut reader = BufReader::new(child.stdout.take().unwrap());
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut message = Vec::new();
            while reader.read_until(0, &mut message).is_ok_and(|count| count > 0) {
                message.pop();
                let Ok(value) = serde_json::from_slice(&message) else {
                    return;
                };
                if sender.send(value).is_err() {
                    return;
                }
                message.clear();
            }
        });
        let mut browser = Browser {
            child,
            pipe,
            messages,
            events: VecDeque::new(),
            requested: Vec::new(),
            dialogs: Vec::new(),
            session: String::new(),
            last: 0,
            _profile: profile,
        };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        let attached = browser.call(
            "Target.attachToTarget",
            json!({"targetId": target["targetId"], "flatten": true}),
        );
        browser.session = attached["sessionId"].as_str().unwrap().to_owned();
        for domain in ["Page", "Network", "Runtime"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser.resize(width, height);
        browser
    }

    /// A window of another size.
    pub fn resize(&mut self, width: u32, height: u32) {
        let metrics = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600});
        self.call("Emulation.setDeviceMetricsOverride", metrics);
    }

    /// Light or dark.
    pub fn prefer(&mut self, scheme: &str) {
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.call("Emulation.setEmulatedMedia", features);
    }

    /// Without scripts, as some people browse.
    pub fn disable_scripts(&mut self) {
        self.call("Emulation.setScriptExecutionDisabled", json!({"value": true}));
    }

    /// Calls a method and waits for its result.
    pub fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.last += 1;
        let id = self.last;
        let mut message = json!({"id": id, "method": method, "params": parameters});
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.pipe.write_all(&bytes).unwrap();
        let deadline = Instant::now() + PATIENCE;
        loop {
            let message = self
                .next_message(deadline)
                .unwrap_or_else(|| panic!("no result of {method}"));
            if message["id"] == json!(id) {
                assert!(message.get("error").is_none(), "{method}: {}", message["error"]);
                return message["result"].clone();
            }
            self.events.push_back(message);
        }
    }

    fn next_message(&mut self, deadline: Instant) -> Option<Value> {
        let left = deadline.saturating_duration_since(Instant::now());
        let message = self.messages.recv_timeout(left).ok()?;
        match message["method"].as_str() {
            Some("Network.requestWillBeSent") => {
                let url = message["params"]["request"]["url"].as_str().unwrap_or_default();
                self.requested.push(url.to_owned());
            }
            Some("Page.javascriptDialogOpening") => self.dialogs.push(message["params"].to_string()),
            _ => {}
        }
        Some(message)
    }

    /// Waits for an event.
    pub fn wait_for(&mut self, event: &str) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            while let Some(message) = self.events.pop_front() {
                if message["method"] == event {
                    return;
                }
            }
            let message = self
                .next_message(deadline)
                .unwrap_or_else(|| panic!("{event} never came"));
            self.events.push_back(message);
        }
    }

    /// Opens a page and waits until it is there.
    pub fn open(&mut self, url: &str) {
        self.events.clear();
        self.call("Page.navigate", json!({"url": url}));
        self.wait_for("Page.loadEventFired");
    }

    /// Does something that leads to another page, and waits until that is there.
    pub fn then_loads(&mut self, act: impl FnOnce(&mut Browser)) {
        self.events.clear();
        act(self);
        self.wait_for("Page.loadEventFired");
    }

    /// The value of an expression. It runs for the test, even where the page may run nothing.
    pub fn value(&mut self, expression: &str) -> Value {
        let parameters = json!({"expression": expression, "returnByValue": true});
        let result = self.call("Runtime.evaluate", parameters);
        assert!(result.get("exceptionDetails").is_none(), "{expression}: {result}");
        result["result"]["value"].clone()
    }

    /// The text that people see.
    pub fn text(&mut self) -> String {
        self.value("document.body.innerText")
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    /// Presses a key, with Shift perhaps.
    pub fn press(&mut self, key: &str) {
        let (code, text) = match key {
            "Enter" => (13, "\r"),
            "Tab" => (9, ""),
            " " => (32, " "),
            other => panic!("{other} is not known here"),
        };
        let mut down = json!({"type": "keyDown", "key": key, "code": key, "windowsVirtualKeyCode": code});
        if !text.is_empty() {
            down["text"] = json!(text);
        }
        self.call("Input.dispatchKeyEvent", down);
        let up = json!({"type": "keyUp", "key": key, "code": key, "windowsVirtualKeyCode": code});
        self.call("Input.dispatchKeyEvent", up);
    }

    /// Types a text where the focus is.
    pub fn enter_text(&mut self, text: &str) {
        self.call("Input.insertText", json!({"text": text}));
    }

    /// Presses Tab until the focus is on what a script says; what it passed on the way.
    pub fn tab_to(&mut self, is_there: &str) -> Vec<String> {
        let mut passed = Vec::new();
        for _ in 0..300 {
            self.press("Tab");
            let described =
                "(e => e.tagName + ' ' + (e.id || e.name || e.innerText || '').slice(0, 40))(document.activeElement)";
            passed.push(self.value(described).as_str().unwrap_or_default().to_owned());
            if self.value(&format!("(e => !!({is_there}))(document.activeElement)")) == json!(true) {
                return passed;
            }
        }
        panic!("the focus never comes to {is_there}: {passed:#?}");
    }

    /// Clicks on the first element that a selector finds.
    pub fn click(&mut self, selector: &str) {
        let expression = format!(
            "(e => {{ e.scrollIntoView({{block: 'center'}}); const r = e.getClientRects()[0]; return [r.x + r.width / 2, r.y + r.height / 2]; }})(document.querySelector({selector:?}))"
        );
        let place = self.value(&expression);
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({"type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1});
            self.call("Input.dispatchMouseEvent", event);
        }
    }

    /// Whether the page can be moved sideways, which nobody likes on a telephone.
    pub fn overflows(&mut self) -> bool {
        self.value("document.documentElement.scrollWidth > window.innerWidth") == json!(true)
    }

    /// A picture of the page for people, where STOOK_SCREENSHOTS names a folder.
    pub fn picture(&mut self, name: &str) {
        let Some(folder) = std::env::var_os("STOOK_SCREENSHOTS") else {
            return;
        };
        let parameters = json!({"format": "png", "captureBeyondViewport": false});
        let picture = self.call("Page.captureScreenshot", parameters);
        let bytes = STANDARD.decode(picture["data"].as_str().unwrap()).unwrap();
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(std::path::Path::new(&folder).join(format!("{name}.png")), bytes).unwrap();
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
