//! What was said, as data, to be held against a table.

use loopwright_agents::streams::{Failed, Said};
use serde_json::{Map, Value, json};

/// Only what there is.
pub fn shown(said: &Said) -> Value {
    let all = json!({
        "failed": said.failed.as_ref().map(failed),
        "text": said.text,
        "session": said.session,
        "input": said.usage.input,
        "cached": said.usage.cached,
        "output": said.usage.output,
        "money": said.usage.money,
        "denied": said.denied,
    });
    let Value::Object(all) = all else { return all };
    let some =
        all.into_iter().filter(|(_, value)| !value.is_null() && *value != json!("") && *value != json!([]));
    Value::Object(some.collect::<Map<_, _>>())
}

pub fn failed(failed: &Failed) -> Value {
    match failed {
        Failed::Crashed(why) => json!({ "crashed": why }),
        Failed::Limited { why, .. } => json!({ "limited": why }),
        Failed::Refused(why) => json!({ "refused": why }),
        Failed::Denied(why) => json!({ "denied": why }),
        Failed::OverBudget(why) => json!({ "over-budget": why }),
        Failed::Timeout => json!("timeout"),
        Failed::Stalled => json!("stalled"),
        Failed::Cancelled => json!("cancelled"),
    }
}
