//! Answers read back the way the libraries of the interfaces do: pieces are joined, and what has to agree is compared.

use serde_json::{Value, json};

/// What an answer says: text or calls, why it stopped, and what it cost (read, written, of what was read from a cache).
#[derive(Debug, Default)]
pub(crate) struct Parsed {
    pub(crate) text: String,
    pub(crate) calls: Vec<Value>,
    pub(crate) stop: String,
    pub(crate) usage: Value,
}

impl Parsed {
    pub(crate) fn value(&self) -> Value {
        let (text, stop, usage) = (&self.text, &self.stop, &self.usage);
        if self.calls.is_empty() {
            return json!({"text": text, "stop": stop, "usage": usage});
        }
        assert_eq!(text, "", "text beside calls");
        json!({"calls": self.calls, "stop": stop, "usage": usage})
    }
}

/// The events of a stream: their names (empty if there are none) and their data.
pub(crate) fn events(body: &str) -> Vec<(String, Value)> {
    let events = body.split_terminator("\n\n").map(|event| {
        let mut name = String::new();
        let mut data = Value::Null;
        for line in event.lines() {
            match line.split_once(": ").unwrap() {
                ("event", it) => it.clone_into(&mut name),
                ("data", "[DONE]") => data = json!("[DONE]"),
                ("data", it) => data = serde_json::from_str(it).unwrap(),
                other => panic!("{other:?}"),
            }
        }
        (name, data)
    });
    events.collect()
}

pub(crate) fn whole(api: &str, body: &Value) -> Parsed {
    let mut parsed = Parsed::default();
    match api {
        "anthropic" => {
            for block in list(&body["content"]) {
                anthropic_block(&mut parsed, block, &block["input"]);
            }
            parsed.stop = string(&body["stop_reason"]);
            parsed.usage = anthropic_usage(&body["usage"]);
        }
        "responses" => responses(&mut parsed, body),
        "chat" => {
            let choice = &body["choices"][0];
            parsed.text.push_str(choice["message"]["content"].as_str().unwrap_or_default());
            for call in choice["message"]["tool_calls"].as_array().into_iter().flatten() {
                chat_call(&mut parsed, call, &string(&call["function"]["arguments"]));
            }
            parsed.stop = string(&choice["finish_reason"]);
            parsed.usage = chat_usage(&body["usage"]);
        }
        _ => gemini(&mut parsed, body),
    }
    parsed
}

pub(crate) fn stream(api: &str, body: &str) -> Parsed {
    let events = events(body);
    match api {
        "anthropic" => anthropic_stream(&events),
        "responses" => responses_stream(&events),
        "chat" => chat_stream(&events),
        _ => {
            let mut parsed = Parsed::default();
            for (_, data) in &events {
                gemini(&mut parsed, data);
            }
            parsed
        }
    }
}

fn anthropic_block(parsed: &mut Parsed, block: &Value, input: &Value) {
    match block["type"].as_str() {
        Some("text") => parsed.text.push_str(block["text"].as_str().unwrap()),
        Some("tool_use") => {
            assert!(block["id"].as_str().unwrap().starts_with("toolu_"));
            parsed.calls.push(json!({"tool": block["name"], "arguments": input}));
        }
        other => panic!("{other:?}"),
    }
}

fn anthropic_usage(usage: &Value) -> Value {
    let number = |name: &str| usage[name].as_u64().unwrap();
    let cached = number("cache_read_input_tokens");
    json!([number("input_tokens") + cached, number("output_tokens"), cached])
}

fn anthropic_stream(events: &[(String, Value)]) -> Parsed {
    let mut parsed = Parsed::default();
    let mut open: Option<(Value, String)> = None;
    for (name, data) in events {
        assert_eq!(data["type"], name.as_str());
        match name.as_str() {
            "message_start" => assert_eq!(data["message"]["content"], json!([])),
            "content_block_start" => open = Some((data["content_block"].clone(), String::new())),
            "content_block_delta" => {
                let delta = &data["delta"];
                let piece = delta.get("text").or_else(|| delta.get("partial_json")).unwrap();
                open.as_mut().unwrap().1.push_str(piece.as_str().unwrap());
            }
            "content_block_stop" => {
                let (mut block, joined) = open.take().unwrap();
                if block["type"] == "text" {
                    block["text"] = json!(joined);
                    anthropic_block(&mut parsed, &block, &Value::Null);
                } else {
                    anthropic_block(&mut parsed, &block, &serde_json::from_str(&joined).unwrap());
                }
            }
            "message_delta" => {
                parsed.stop = string(&data["delta"]["stop_reason"]);
                parsed.usage = anthropic_usage(&data["usage"]);
            }
            "message_stop" => assert!(open.is_none()),
            other => panic!("{other}"),
        }
    }
    assert_eq!(events.last().unwrap().0, "message_stop");
    parsed
}

fn responses(parsed: &mut Parsed, response: &Value) {
    for item in list(&response["output"]) {
        match item["type"].as_str().unwrap() {
            "message" => parsed.text.push_str(item["content"][0]["text"].as_str().unwrap()),
            "function_call" => {
                let arguments: Value = serde_json::from_str(item["arguments"].as_str().unwrap()).unwrap();
                let mut call = json!({"tool": item["name"], "arguments": arguments});
                if let Some(namespace) = item.get("namespace") {
                    call["namespace"] = namespace.clone();
                }
                parsed.calls.push(call);
            }
            "custom_tool_call" => {
                let call = json!({"tool": item["name"], "arguments": item["input"], "custom": true});
                parsed.calls.push(call);
            }
            other => panic!("{other}"),
        }
    }
    parsed.stop = string(&response["status"]);
    let usage = &response["usage"];
    let cached = &usage["input_tokens_details"]["cached_tokens"];
    parsed.usage = json!([usage["input_tokens"], usage["output_tokens"], cached]);
}

/// An item is told three times: in pieces, at its end, and with the whole answer. All have to say the same.
fn responses_stream(events: &[(String, Value)]) -> Parsed {
    let mut joined = String::new();
    let mut items = Vec::new();
    for (at, (name, data)) in events.iter().enumerate() {
        assert_eq!((&data["type"], &data["sequence_number"]), (&json!(name), &json!(at)));
        match name.rsplit('.').next().unwrap() {
            "delta" => joined.push_str(data["delta"].as_str().unwrap()),
            "done" if name == "response.output_item.done" => {
                let item = &data["item"];
                let told = item.get("arguments").or_else(|| item.get("input"));
                assert_eq!(told.unwrap_or(&item["content"][0]["text"]), joined.as_str());
                joined.clear();
                items.push(item.clone());
            }
            _ => {}
        }
    }
    let (name, last) = events.last().unwrap();
    assert_eq!(name, "response.completed");
    assert_eq!(last["response"]["output"], json!(items));
    let mut parsed = Parsed::default();
    responses(&mut parsed, &last["response"]);
    parsed
}

fn chat_call(parsed: &mut Parsed, call: &Value, arguments: &str) {
    assert!(call["id"].as_str().unwrap().starts_with("call_"));
    let arguments: Value = serde_json::from_str(arguments).unwrap();
    parsed.calls.push(json!({"tool": call["function"]["name"], "arguments": arguments}));
}

fn chat_usage(usage: &Value) -> Value {
    let cached = &usage["prompt_tokens_details"]["cached_tokens"];
    json!([usage["prompt_tokens"], usage["completion_tokens"], cached])
}

fn chat_stream(events: &[(String, Value)]) -> Parsed {
    let mut parsed = Parsed::default();
    let mut calls: Vec<(Value, String)> = Vec::new();
    let (last, chunks) = events.split_last().unwrap();
    assert_eq!(last.1, "[DONE]");
    for (_, chunk) in chunks {
        let choice = &chunk["choices"][0];
        parsed.text.push_str(choice["delta"]["content"].as_str().unwrap_or_default());
        for call in choice["delta"]["tool_calls"].as_array().into_iter().flatten() {
            let index: usize = serde_json::from_value(call["index"].clone()).unwrap();
            if index == calls.len() {
                calls.push((call.clone(), String::new()));
            }
            calls[index].1.push_str(call["function"]["arguments"].as_str().unwrap());
        }
        if let Some(stop) = choice["finish_reason"].as_str() {
            stop.clone_into(&mut parsed.stop);
        }
        if let Some(usage) = chunk.get("usage") {
            parsed.usage = chat_usage(usage);
        }
    }
    for (call, arguments) in &calls {
        chat_call(&mut parsed, call, arguments);
    }
    parsed
}

fn gemini(parsed: &mut Parsed, answer: &Value) {
    let candidate = &answer["candidates"][0];
    for part in list(&candidate["content"]["parts"]) {
        match part.get("functionCall") {
            Some(call) => parsed.calls.push(json!({"tool": call["name"], "arguments": call["args"]})),
            None => parsed.text.push_str(part["text"].as_str().unwrap()),
        }
    }
    if let Some(stop) = candidate["finishReason"].as_str() {
        assert_eq!(parsed.stop, "", "it stops once");
        stop.clone_into(&mut parsed.stop);
        let usage = &answer["usageMetadata"];
        let cached = &usage["cachedContentTokenCount"];
        parsed.usage = json!([usage["promptTokenCount"], usage["candidatesTokenCount"], cached]);
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

fn string(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}
