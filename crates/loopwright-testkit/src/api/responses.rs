//! `OpenAI` Responses, which Codex speaks. Its tools may lie in namespaces, and may take plain text.

use serde_json::{Value, json};

use super::{Stream, items, string, text};
use crate::conversation::{Asked, Turn};
use crate::reply::{Ids, Reply, Said, halves};
use crate::tools::Tool;

pub(super) fn read(body: &Value) -> Asked {
    let turns = match body.get("input") {
        Some(Value::String(text)) => vec![Turn::User(text.clone())],
        _ => items(body, "input").map(turn).collect(),
    };
    let mut tools = Vec::new();
    for tool in items(body, "tools") {
        if string(tool, "type") == "namespace" {
            let namespace = string(tool, "name");
            tools.extend(items(tool, "tools").map(|it| read_tool(it, Some(namespace.to_owned()))));
        } else {
            tools.push(read_tool(tool, None));
        }
    }
    Asked { turns, tools, streams: body["stream"] == true, shape: None }
}

fn turn(item: &Value) -> Turn {
    match item.get("type").and_then(Value::as_str).unwrap_or("message") {
        "message" if string(item, "role") == "user" => {
            Turn::User(item.get("content").map(text).unwrap_or_default())
        }
        kind if kind.ends_with("_call_output") => Turn::Result,
        _ => Turn::Model,
    }
}

fn read_tool(tool: &Value, namespace: Option<String>) -> Tool {
    let name = tool.get("name").or_else(|| tool.get("type")).and_then(Value::as_str);
    Tool {
        name: name.unwrap_or_default().to_owned(),
        parameters: tool.get("parameters").cloned().unwrap_or_default(),
        custom: string(tool, "type") == "custom",
        namespace,
    }
}

fn output(reply: &Reply, ids: &Ids) -> Vec<Value> {
    let calls = match &reply.said {
        Said::Text(text) => {
            return vec![json!({
                "type": "message",
                "id": ids.part("msg_", 0),
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": text, "annotations": []}],
            })];
        }
        Said::Calls(calls) => calls,
    };
    let item = |(number, call): (usize, &crate::tools::Invocation)| {
        let (kind, id, field) = if call.custom {
            ("custom_tool_call", "ctc_", "input")
        } else {
            ("function_call", "fc_", "arguments")
        };
        let mut item = json!({
            "type": kind,
            "id": ids.part(id, number),
            "call_id": ids.part("call_", number),
            "name": call.tool,
            field: call.text(),
            "status": "completed",
        });
        if let Some(namespace) = &call.namespace {
            item["namespace"] = json!(namespace);
        }
        item
    };
    calls.iter().enumerate().map(item).collect()
}

fn response(reply: &Reply, ids: &Ids, output: &[Value]) -> Value {
    let usage = reply.usage;
    json!({
        "id": ids.answer("resp_"),
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": ids.model,
        "output": output,
        "usage": {
            "input_tokens": usage.input,
            "input_tokens_details": {"cached_tokens": usage.cached},
            "output_tokens": usage.output,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": usage.input.saturating_add(usage.output),
        },
        "error": null,
        "incomplete_details": null,
        "parallel_tool_calls": true,
        "tools": [],
        "tool_choice": "auto",
        "metadata": {},
    })
}

pub(super) fn whole(reply: &Reply, ids: &Ids) -> Value {
    response(reply, ids, &output(reply, ids))
}

pub(super) fn stream(reply: &Reply, ids: &Ids) -> Stream {
    let output = output(reply, ids);
    let mut stream = Stream::default();
    let mut number = 0;
    let mut event = |name: &str, mut data: Value, says: bool| {
        data["type"] = json!(name);
        data["sequence_number"] = json!(number);
        number += 1;
        stream.push(Some(name), &data);
        if says {
            stream.mark();
        }
    };
    let mut created = response(reply, ids, &[]);
    created["status"] = json!("in_progress");
    created["usage"] = Value::Null;
    event("response.created", json!({"response": created}), false);
    for (index, item) in output.iter().enumerate() {
        let mut added = item.clone();
        added["status"] = json!("in_progress");
        let (field, name) = match string(item, "type") {
            "message" => ("content", "output_text"),
            "function_call" => ("arguments", "function_call_arguments"),
            _ => ("input", "custom_tool_call_input"),
        };
        added[field] = if field == "content" { json!([]) } else { json!("") };
        event("response.output_item.added", json!({"output_index": index, "item": added}), false);
        let mut at = json!({"item_id": item["id"], "output_index": index});
        let part = item["content"].get(0);
        if let Some(part) = part {
            at["content_index"] = json!(0);
            let mut empty = part.clone();
            empty["text"] = json!("");
            event("response.content_part.added", with(&at, "part", &empty), false);
        }
        let text = part.map_or(&item[field], |it| &it["text"]);
        for half in halves(text.as_str().unwrap_or_default()) {
            event(&format!("response.{name}.delta"), with(&at, "delta", &json!(half)), true);
        }
        let last = if part.is_some() { "text" } else { field };
        event(&format!("response.{name}.done"), with(&at, last, text), false);
        if let Some(part) = part {
            event("response.content_part.done", with(&at, "part", part), false);
        }
        event("response.output_item.done", json!({"output_index": index, "item": item}), false);
    }
    event("response.completed", json!({"response": response(reply, ids, &output)}), false);
    stream
}

fn with(object: &Value, name: &str, value: &Value) -> Value {
    let mut object = object.clone();
    object[name] = value.clone();
    object
}
