//! Anthropic Messages, which Claude Code speaks.

use serde_json::{Value, json};

use super::{Stream, items, string, text};
use crate::conversation::{Asked, Turn};
use crate::reply::{Ids, Reply, Said, halves};
use crate::tools::Tool;

pub(super) fn read(body: &Value) -> Asked {
    let mut turns = Vec::new();
    for message in items(body, "messages") {
        let user = string(message, "role") == "user";
        let said = |text: String| if user { Turn::User(text) } else { Turn::Model };
        match message.get("content") {
            Some(Value::Array(parts)) => turns.extend(parts.iter().map(|part| match string(part, "type") {
                "tool_result" => Turn::Result,
                "text" => said(string(part, "text").to_owned()),
                _ => Turn::Model,
            })),
            Some(content) => turns.push(said(text(content))),
            None => {}
        }
    }
    let tools = items(body, "tools").map(|it| Tool {
        name: string(it, "name").to_owned(),
        parameters: it.get("input_schema").cloned().unwrap_or_default(),
        ..Tool::default()
    });
    Asked { turns, tools: tools.collect(), streams: body["stream"] == true, shape: None }
}

fn blocks(reply: &Reply, ids: &Ids) -> (Vec<Value>, &'static str) {
    match &reply.said {
        Said::Text(text) => (vec![json!({"type": "text", "text": text})], "end_turn"),
        Said::Calls(calls) => {
            let blocks = calls.iter().enumerate().map(|(number, call)| {
                json!({
                    "type": "tool_use",
                    "id": ids.part("toolu_", number),
                    "name": call.tool,
                    "input": call.arguments,
                })
            });
            (blocks.collect(), "tool_use")
        }
    }
}

fn usage(reply: &Reply) -> Value {
    let usage = reply.usage;
    json!({
        "input_tokens": usage.input.saturating_sub(usage.cached),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached,
        "output_tokens": usage.output,
    })
}

fn message(reply: &Reply, ids: &Ids, content: &[Value], reason: Option<&str>) -> Value {
    json!({
        "id": ids.answer("msg_"),
        "type": "message",
        "role": "assistant",
        "model": ids.model,
        "content": content,
        "stop_reason": reason,
        "stop_sequence": null,
        "usage": usage(reply),
    })
}

pub(super) fn whole(reply: &Reply, ids: &Ids) -> Value {
    let (content, reason) = blocks(reply, ids);
    message(reply, ids, &content, Some(reason))
}

pub(super) fn stream(reply: &Reply, ids: &Ids) -> Stream {
    let (content, reason) = blocks(reply, ids);
    let mut stream = Stream::default();
    let mut event = |data: Value, says: bool| {
        stream.push(Some(string(&data, "type")), &data);
        if says {
            stream.mark();
        }
    };
    let mut start = message(reply, ids, &[], None);
    start["usage"]["output_tokens"] = json!(1);
    event(json!({"type": "message_start", "message": start}), false);
    for (index, mut block) in content.into_iter().enumerate() {
        let (field, kind, delta, whole) = if string(&block, "type") == "text" {
            ("text", "text_delta", "text", string(&block, "text").to_owned())
        } else {
            ("input", "input_json_delta", "partial_json", block["input"].to_string())
        };
        block[field] = if field == "text" { json!("") } else { json!({}) };
        event(json!({"type": "content_block_start", "index": index, "content_block": block}), false);
        for half in halves(&whole) {
            let delta = json!({"type": kind, delta: half});
            event(json!({"type": "content_block_delta", "index": index, "delta": delta}), true);
        }
        event(json!({"type": "content_block_stop", "index": index}), false);
    }
    let delta = json!({"stop_reason": reason, "stop_sequence": null});
    event(json!({"type": "message_delta", "delta": delta, "usage": usage(reply)}), false);
    event(json!({"type": "message_stop"}), false);
    stream
}
