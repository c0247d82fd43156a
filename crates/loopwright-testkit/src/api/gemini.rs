//! Gemini, which Gemini CLI speaks.

use serde_json::{Value, json};

use super::{Stream, items, string};
use crate::conversation::{Asked, Turn};
use crate::reply::{Ids, Reply, Said, halves};
use crate::tools::Tool;

pub(super) fn read(path: &str, body: &Value) -> Asked {
    let mut turns = Vec::new();
    for content in items(body, "contents") {
        let user = string(content, "role") != "model";
        turns.extend(items(content, "parts").map(|part| match part.get("text").and_then(Value::as_str) {
            _ if part.get("functionResponse").is_some() => Turn::Result,
            Some(text) if user => Turn::User(text.to_owned()),
            _ => Turn::Model,
        }));
    }
    let declared = items(body, "tools").flat_map(|it| items(it, "functionDeclarations"));
    let tools: Vec<Tool> = declared
        .map(|it| Tool {
            name: string(it, "name").to_owned(),
            parameters: it
                .get("parametersJsonSchema")
                .or_else(|| it.get("parameters"))
                .cloned()
                .unwrap_or_default(),
            ..Tool::default()
        })
        .collect();
    // The CLI asks for data on the side, such as who speaks next. It stops at an answer that is none.
    let config = body.get("generationConfig").unwrap_or(&Value::Null);
    let data = string(config, "responseMimeType") == "application/json" && tools.is_empty();
    let shape = config.get("responseJsonSchema").or_else(|| config.get("responseSchema"));
    let shape = data.then(|| shape.cloned().unwrap_or_else(|| json!({"type": "object"})));
    Asked { turns, tools, streams: path.ends_with(":streamGenerateContent"), shape }
}

fn parts(reply: &Reply, ids: &Ids) -> Vec<Value> {
    match &reply.said {
        Said::Text(text) => vec![json!({"text": text})],
        Said::Calls(calls) => {
            let part = |(number, call): (usize, &crate::tools::Invocation)| {
                let id = ids.part("call_", number);
                json!({"functionCall": {"id": id, "name": call.tool, "args": call.arguments}})
            };
            calls.iter().enumerate().map(part).collect()
        }
    }
}

fn answer(ids: &Ids, parts: &[Value]) -> Value {
    json!({
        "candidates": [{"index": 0, "content": {"role": "model", "parts": parts}}],
        "modelVersion": ids.model,
        "responseId": ids.answer("response_"),
    })
}

fn last(reply: &Reply, ids: &Ids, parts: &[Value]) -> Value {
    let usage = reply.usage;
    let mut answer = answer(ids, parts);
    answer["candidates"][0]["finishReason"] = json!("STOP");
    answer["usageMetadata"] = json!({
        "promptTokenCount": usage.input,
        "cachedContentTokenCount": usage.cached,
        "candidatesTokenCount": usage.output,
        "totalTokenCount": usage.input.saturating_add(usage.output),
    });
    answer
}

pub(super) fn whole(reply: &Reply, ids: &Ids) -> Value {
    last(reply, ids, &parts(reply, ids))
}

/// Calls come whole, and the one that ends the answer says what it cost.
pub(super) fn stream(reply: &Reply, ids: &Ids) -> Stream {
    let mut pieces = match &reply.said {
        Said::Text(text) => halves(text).map(|it| json!({"text": it})).to_vec(),
        Said::Calls(_) => parts(reply, ids),
    };
    let end = pieces.pop();
    let mut stream = Stream::default();
    for piece in pieces {
        stream.push(None, &answer(ids, &[piece]));
        stream.mark();
    }
    stream.push(None, &last(reply, ids, end.as_slice()));
    stream
}
