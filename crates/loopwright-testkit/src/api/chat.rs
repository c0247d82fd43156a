//! `OpenAI` Chat Completions, which opencode and Copilot speak.

use serde_json::{Value, json};

use super::{Stream, items, string, text};
use crate::conversation::{Asked, Turn};
use crate::reply::{Ids, Reply, Said, halves};
use crate::tools::Tool;

pub(super) fn read(body: &Value) -> Asked {
    let turns = items(body, "messages").map(|message| match string(message, "role") {
        "user" => Turn::User(message.get("content").map(text).unwrap_or_default()),
        "tool" => Turn::Result,
        _ => Turn::Model,
    });
    let tools = items(body, "tools").filter_map(|it| it.get("function")).map(|it| Tool {
        name: string(it, "name").to_owned(),
        parameters: it.get("parameters").cloned().unwrap_or_default(),
        ..Tool::default()
    });
    Asked { turns: turns.collect(), tools: tools.collect(), streams: body["stream"] == true, shape: None }
}

fn calls(reply: &Reply, ids: &Ids) -> Option<Vec<Value>> {
    let Said::Calls(calls) = &reply.said else { return None };
    let calls = calls.iter().enumerate().map(|(number, call)| {
        json!({
            "id": ids.part("call_", number),
            "type": "function",
            "function": {"name": call.tool, "arguments": call.text()},
        })
    });
    Some(calls.collect())
}

fn usage(reply: &Reply) -> Value {
    let usage = reply.usage;
    json!({
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input.saturating_add(usage.output),
        "prompt_tokens_details": {"cached_tokens": usage.cached},
    })
}

fn reason(reply: &Reply) -> &'static str {
    match reply.said {
        Said::Text(_) => "stop",
        Said::Calls(_) => "tool_calls",
    }
}

pub(super) fn whole(reply: &Reply, ids: &Ids) -> Value {
    let message = match (&reply.said, calls(reply, ids)) {
        (Said::Text(text), _) => json!({"role": "assistant", "content": text}),
        (Said::Calls(_), calls) => json!({"role": "assistant", "content": null, "tool_calls": calls}),
    };
    json!({
        "id": ids.answer("chatcmpl-"),
        "object": "chat.completion",
        "created": 1,
        "model": ids.model,
        "choices": [{"index": 0, "message": message, "finish_reason": reason(reply)}],
        "usage": usage(reply),
    })
}

pub(super) fn stream(reply: &Reply, ids: &Ids) -> Stream {
    let mut stream = Stream::default();
    let chunk = |choices: Value| {
        json!({
            "id": ids.answer("chatcmpl-"),
            "object": "chat.completion.chunk",
            "created": 1,
            "model": ids.model,
            "choices": choices,
        })
    };
    let delta = |delta: Value| chunk(json!([{"index": 0, "delta": delta, "finish_reason": null}]));
    stream.push(None, &delta(json!({"role": "assistant", "content": ""})));
    if let Said::Text(text) = &reply.said {
        for half in halves(text) {
            stream.push(None, &delta(json!({"content": half})));
            stream.mark();
        }
    }
    for (index, mut call) in calls(reply, ids).into_iter().flatten().enumerate() {
        let arguments = string(&call["function"], "arguments").to_owned();
        let [first, second] = halves(&arguments);
        call["index"] = json!(index);
        call["function"]["arguments"] = json!(first);
        stream.push(None, &delta(json!({"tool_calls": [call]})));
        stream.mark();
        let rest = json!({"index": index, "function": {"arguments": second}});
        stream.push(None, &delta(json!({"tool_calls": [rest]})));
    }
    stream.push(None, &chunk(json!([{"index": 0, "delta": {}, "finish_reason": reason(reply)}])));
    let mut last = chunk(json!([]));
    last["usage"] = usage(reply);
    stream.push(None, &last);
    stream.push(None, "[DONE]");
    stream
}
