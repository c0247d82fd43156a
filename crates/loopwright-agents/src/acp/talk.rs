//! What is said to the agent, in order: who we are, which session, how it is to work, what it is to do.

use std::io;
use std::sync::{Arc, Mutex};

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    ContentBlock, EnvVariable, Implementation, InitializeRequest, LoadSessionRequest, McpServer as Server,
    McpServerStdio, NewSessionRequest, PromptRequest, RequestPermissionOutcome, RequestPermissionResponse,
    ResumeSessionRequest, SelectedPermissionOutcome, SetSessionModeRequest, TextContent,
};
use agent_client_protocol::{
    Agent, Client, Error, ErrorCode, Lines, UntypedMessage, is_incoming_transport_closed,
    on_receive_notification, on_receive_request,
};
use futures::channel::mpsc::UnboundedReceiver;
use serde::Serialize;
use serde_json::{Value, json};

use super::listen::Listener;
use super::{Outgoing, Turn, cause, lock};
use crate::streams::Failed;

/// The whole turn. What comes of it is in the listener.
///
/// Requests are made of the library's types, so that what is said is right. What the agent says is taken as it comes: it
/// may be newer than the library, and what is not understood is passed over.
pub(super) async fn talk(
    turn: Turn,
    listener: Arc<Mutex<Listener>>,
    said: Arc<Outgoing>,
    lines: UnboundedReceiver<io::Result<String>>,
) {
    let sink = futures::sink::unfold(said, async |said: Arc<Outgoing>, line| {
        said.push(line);
        Ok::<_, io::Error>(said)
    });
    let (news, asked, answered) = (Arc::clone(&listener), Arc::clone(&listener), Arc::clone(&listener));
    let ended = Client
        .v1()
        .name("loopwright")
        .on_receive_notification(
            async move |message: UntypedMessage, _| {
                if message.method() == "session/update" {
                    lock(&news).update(message.params());
                }
                Ok(())
            },
            on_receive_notification!(),
        )
        .on_receive_request(
            async move |message: UntypedMessage, responder, _| {
                if message.method() != "session/request_permission" {
                    return responder.respond_with_error(Error::method_not_found());
                }
                let option = lock(&asked).asked(message.params());
                let outcome = option.map_or(RequestPermissionOutcome::Cancelled, |option| {
                    RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(option))
                });
                responder.respond(serde_json::to_value(RequestPermissionResponse::new(outcome))?)
            },
            on_receive_request!(),
        )
        .connect_with(Lines::new(Box::pin(sink), lines), async move |connection: ConnectionTo<Agent>| {
            let ended = Conversation { agent: connection, listener: answered }.take(&turn).await;
            Ok(ended)
        })
        .await;
    match ended {
        Ok(Ok(())) => {}
        Ok(Err(failed)) => lock(&listener).fail(failed),
        Err(error) => {
            lock(&listener)
                .fail(Failed::Crashed(format!("the conversation broke: {}", cause::words(&error))));
        }
    }
}

struct Conversation {
    agent: ConnectionTo<Agent>,
    listener: Arc<Mutex<Listener>>,
}

impl Conversation {
    async fn take(&self, turn: &Turn) -> Result<(), Failed> {
        let us = Implementation::new("loopwright", env!("CARGO_PKG_VERSION"));
        // No files and no terminals of ours: the agent has its own, where it is kept in.
        let hello = InitializeRequest::new(ProtocolVersion::V1).client_info(us);
        let agent = self.ask("initialize", hello).await?;
        let (session, begun) = self.session(turn, &agent).await?;
        lock(&self.listener).session(&session);
        if let Some(mode) = &turn.mode {
            self.mode(&session, &begun, mode).await?;
        }
        if let Some(model) = &turn.model {
            self.model(&session, &begun, model).await?;
        }
        lock(&self.listener).begin();
        let prompt = vec![ContentBlock::Text(TextContent::new(turn.prompt.clone()))];
        let result = self.ask("session/prompt", PromptRequest::new(session, prompt)).await?;
        lock(&self.listener).end(&result);
        Ok(())
    }

    /// Begins a session, or goes on with one: without hearing it all again, if the agent can.
    async fn session(&self, turn: &Turn, agent: &Value) -> Result<(String, Value), Failed> {
        let tools = tools(turn);
        let can = &agent["agentCapabilities"];
        let answer = match &turn.session {
            None => {
                let begun =
                    self.asked("session/new", NewSessionRequest::new(&turn.cwd).mcp_servers(tools)).await;
                begun.and_then(|begun| match begun["sessionId"].as_str() {
                    Some(session) => Ok((session.to_owned(), begun.clone())),
                    None => Err(Error::internal_error().data("it names no session")),
                })
            }
            Some(session) if can["sessionCapabilities"]["resume"].is_object() => {
                let request = ResumeSessionRequest::new(session.clone(), &turn.cwd).mcp_servers(tools);
                self.asked("session/resume", request).await.map(|begun| (session.clone(), begun))
            }
            Some(session) if can["loadSession"] == true => {
                lock(&self.listener).again();
                let request = LoadSessionRequest::new(session.clone(), &turn.cwd).mcp_servers(tools);
                self.asked("session/load", request).await.map(|begun| (session.clone(), begun))
            }
            Some(_) => return Err(Failed::Refused("the agent can not go on with a session".to_owned())),
        };
        answer.map_err(|error| {
            if error.code == ErrorCode::AUTH_REQUIRED {
                Failed::Denied(unknown(&error, &agent["authMethods"]))
            } else {
                failed("session", &error)
            }
        })
    }

    async fn mode(&self, session: &str, begun: &Value, mode: &str) -> Result<(), Failed> {
        if begun["modes"].is_object() {
            let request = SetSessionModeRequest::new(session.to_owned(), mode.to_owned());
            return self.ask("session/set_mode", request).await.map(drop);
        }
        match option(begun, "mode") {
            Some(option) => self.set(session, option, mode).await,
            None => Err(Failed::Refused(format!("the agent has no modes, so it can not be in `{mode}`"))),
        }
    }

    async fn model(&self, session: &str, begun: &Value, model: &str) -> Result<(), Failed> {
        match option(begun, "model") {
            Some(option) => self.set(session, option, model).await,
            None if begun["models"].is_object() => {
                let request = json!({ "sessionId": session, "modelId": model });
                self.ask("session/set_model", request).await.map(drop)
            }
            None => Ok(()),
        }
    }

    async fn set(&self, session: &str, option: &str, value: &str) -> Result<(), Failed> {
        let request = json!({ "sessionId": session, "configId": option, "value": value });
        self.ask("session/set_config_option", request).await.map(drop)
    }

    async fn ask(&self, method: &str, request: impl Serialize) -> Result<Value, Failed> {
        self.asked(method, request).await.map_err(|error| failed(method, &error))
    }

    async fn asked(&self, method: &str, request: impl Serialize) -> Result<Value, Error> {
        self.agent.send_request(UntypedMessage::new(method, request)?).block_task().await
    }
}

/// The option by which an agent is told something, among those it has.
fn option<'a>(begun: &'a Value, category: &str) -> Option<&'a str> {
    let options = begun["configOptions"].as_array()?;
    options.iter().find(|option| option["category"] == category)?["id"].as_str()
}

fn tools(turn: &Turn) -> Vec<Server> {
    let server = turn.mcp.iter().map(|server| {
        let env = server.env.iter().map(|(name, value)| EnvVariable::new(name, value)).collect();
        Server::Stdio(McpServerStdio::new(&server.name, &server.command).args(server.args.clone()).env(env))
    });
    server.collect()
}

fn failed(doing: &str, error: &Error) -> Failed {
    if is_incoming_transport_closed(error) {
        return Failed::Crashed(format!("the agent left before it answered `{doing}`"));
    }
    cause::of_error(i64::from(error.code.value()), &cause::words(error), error.data.as_ref())
}

/// What an agent that does not know us says, and how it might.
fn unknown(error: &Error, methods: &Value) -> String {
    let names: Vec<&str> = methods
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|method| method["name"].as_str().or_else(|| method["id"].as_str()))
        .collect();
    let ways = if names.is_empty() { String::new() } else { format!(" (it knows: {})", names.join(", ")) };
    format!("the agent wants a login: {}{ways}", cause::words(error))
}
