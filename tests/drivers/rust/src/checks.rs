//! What a check prints, and how it fails.
use serde_json::{json, Value};
use std::error::Error;
use std::future::Future;
use std::time::{Duration, Instant};

pub type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

fn say(line: Value) {
    println!("{line}");
}

pub fn check(feature: &str, detail: &str, outcome: Outcome) {
    match outcome {
        Ok(()) => say(json!({"check": feature, "ok": true, "detail": detail})),
        Err(wrong) => say(json!({"check": feature, "ok": false, "detail": format!("{detail}: {wrong}")})),
    }
}

pub fn not_offered(feature: &str, why: &str) {
    say(json!({"check": feature, "ok": null, "detail": why}));
}

pub fn version(version: &str) {
    say(json!({"version": version}));
}

/// Has the server restarted; false when it is not ours to restart.
pub fn restart() -> bool {
    say(json!({"ask": "restart"}));
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).is_ok() && answer.trim() == "done"
}

/// Fails the check unless both are equal.
pub fn same<T: PartialEq + std::fmt::Debug>(expected: T, found: T) -> Outcome {
    if expected == found {
        return Ok(());
    }
    Err(format!("expected {expected:?}, found {found:?}").into())
}

pub async fn eventually<F: Future<Output = Outcome>>(seconds: u64, holds: impl Fn() -> F) -> Outcome {
    let deadline = Instant::now() + Duration::from_secs(seconds);
    loop {
        match holds().await {
            Ok(()) => return Ok(()),
            Err(wrong) if Instant::now() > deadline => return Err(format!("not within {seconds} s: {wrong}").into()),
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}
