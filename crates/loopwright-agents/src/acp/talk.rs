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
    Agent, Client, Error, Lines, UntypedMessage, is_incoming_transport_closed, on_receive_notification,
    on_receive_request,
};
use futures::channel::mpsc::UnboundedReceiver;
use serde::Serialize;
use serde_json::{Value, json};

use super::permit::Gate;
use super::{Outgoing, Turn, lock};
use crate::streams::Failed;
use crate::streams::acp::failure;

/// The whole turn. Why it went no further, if it did not, unless the agent said so itself or left.
///
/// Requests are made of the library's types, so that what is said is right. What the agent says is taken as it comes: it
/// may be newer than the library, and what is not understood is passed over.
pub(super) async fn talk(
    turn: Turn,
    said: Arc<Outgoing>,
    lines: UnboundedReceiver<io::Result<String>>,
) -> Option<Failed> {
    let sink = futures::sink::unfold(said, async |said: Arc<Outgoing>, line| {
        said.push(line);
        Ok::<_, io::Error>(said)
    });
    let gate = Arc::new(Mutex::new(Gate::new(&turn)));
    let news = Arc::clone(&gate);
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
                let option = lock(&gate).asked(message.params());
                let outcome = option.map_or(RequestPermissionOutcome::Cancelled, |option| {
                    RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(option))
                });
                responder.respond(serde_json::to_value(RequestPermissionResponse::new(outcome))?)
            },
            on_receive_request!(),
        )
        .connect_with(Lines::new(Box::pin(sink), lines), async move |connection: ConnectionTo<Agent>| {
            Ok(Conversation { agent: connection }.take(&turn).await)
        })
        .await;
    match ended {
        Ok(Ok(())) => None,
        Ok(Err(Stop::Ours(failed))) => Some(failed),
        Ok(Err(Stop::Theirs(error))) | Err(error) => {
            let is_gone = is_incoming_transport_closed(&error);
            (!is_gone).then(|| failure(&serde_json::to_value(&error).unwrap_or_default()))
        }
    }
}

/// Why it goes no further.
enum Stop {
    /// We will not.
    Ours(Failed),
    /// It can not: the agent says so, or it left, or it can not be understood.
    Theirs(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Theirs(error)
    }
}

struct Conversation {
    agent: ConnectionTo<Agent>,
}

impl Conversation {
    async fn take(&self, turn: &Turn) -> Result<(), Stop> {
        let us = Implementation::new("loopwright", env!("CARGO_PKG_VERSION"));
        // No files and no terminals of ours: the agent has its own, where it is kept in.
        let hello = InitializeRequest::new(ProtocolVersion::V1).client_info(us);
        let agent = self.ask("initialize", hello).await?;
        let (session, begun) = self.session(turn, &agent).await?;
        if let Some(mode) = &turn.mode {
            self.mode(&session, &begun, mode).await?;
        }
        if let Some(model) = &turn.model {
            self.model(&session, &begun, model).await?;
        }
        let prompt = vec![ContentBlock::Text(TextContent::new(turn.prompt.clone()))];
        self.ask("session/prompt", PromptRequest::new(session, prompt)).await?;
        Ok(())
    }

    /// Begins a session, or goes on with one: without hearing it all again, if the agent can.
    async fn session(&self, turn: &Turn, agent: &Value) -> Result<(String, Value), Stop> {
        let tools = tools(turn);
        let can = &agent["agentCapabilities"];
        let Some(session) = &turn.session else {
            let begun = self.ask("session/new", NewSessionRequest::new(&turn.cwd).mcp_servers(tools)).await?;
            let Some(session) = begun["sessionId"].as_str() else {
                return Err(Stop::Ours(Failed::Crashed("the agent names no session".to_owned())));
            };
            return Ok((session.to_owned(), begun.clone()));
        };
        let begun = if can["sessionCapabilities"]["resume"].is_object() {
            let request = ResumeSessionRequest::new(session.clone(), &turn.cwd).mcp_servers(tools);
            self.ask("session/resume", request).await?
        } else if can["loadSession"] == true {
            let request = LoadSessionRequest::new(session.clone(), &turn.cwd).mcp_servers(tools);
            self.ask("session/load", request).await?
        } else {
            return Err(Stop::Ours(Failed::Refused("the agent can not go on with a session".to_owned())));
        };
        Ok((session.clone(), begun))
    }

    async fn mode(&self, session: &str, begun: &Value, mode: &str) -> Result<(), Stop> {
        if begun["modes"].is_object() {
            let request = SetSessionModeRequest::new(session.to_owned(), mode.to_owned());
            return Ok(self.ask("session/set_mode", request).await.map(drop)?);
        }
        let Some(option) = option(begun, "mode") else {
            let why = format!("the agent has no modes, so it can not be in `{mode}`");
            return Err(Stop::Ours(Failed::Refused(why)));
        };
        Ok(self.set(session, option, mode).await?)
    }

    async fn model(&self, session: &str, begun: &Value, model: &str) -> Result<(), Error> {
        match option(begun, "model") {
            Some(option) => self.set(session, option, model).await,
            None if begun["models"].is_object() => {
                let request = json!({ "sessionId": session, "modelId": model });
                self.ask("session/set_model", request).await.map(drop)
            }
            None => Ok(()),
        }
    }

    async fn set(&self, session: &str, option: &str, value: &str) -> Result<(), Error> {
        let request = json!({ "sessionId": session, "configId": option, "value": value });
        self.ask("session/set_config_option", request).await.map(drop)
    }

    async fn ask(&self, method: &str, request: impl Serialize) -> Result<Value, Error> {
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
