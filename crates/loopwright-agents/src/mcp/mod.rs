//! The face an agent sees of the engine: a Model Context Protocol server on the standard streams, started by the agent's
//! command line for the length of one call.
//!
//! It knows nothing. Which tools there are, what they take and whether something given is accepted is asked of the
//! desk, which the engine keeps open while the call lasts. A refusal goes back as the result of the tool, so that the
//! model reads it and tries again. When the desk is gone, so is the call, and every tool says so.
//!
//! Standard output carries the protocol and nothing else.

mod bounded;
mod desk;

use std::process::ExitCode;
use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, DiscoverResult, Implementation,
    InitializeRequestParams, InitializeResult, JsonObject, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::{RequestContext, ServerInitializeError, serve_server};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;

use bounded::Bounded;
use desk::{Desk, Offered};

/// Where the desk is: the path of its socket.
pub const DESK: &str = "LOOPWRIGHT_DESK";

/// What the desk knows the call by.
pub const TOKEN: &str = "LOOPWRIGHT_TOKEN";

/// The longest line read from the agent. More than a tool may be given, so that what is somewhat too long is answered in
/// words; with a line beyond this one the conversation ends, as nobody could say which call it was.
const LONGEST_LINE: usize = 2 * desk::LARGEST;

/// Serves until the agent closes the standard input. Blocks.
pub fn serve() -> ExitCode {
    let Some(desk) = Desk::of_environment() else {
        return complain(&format!(
            "`mcp` is started by an agent, for a call: `{DESK}` and `{TOKEN}` are not set"
        ));
    };
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return complain(&format!("no input and output: {error}")),
    };
    let code = runtime.block_on(converse(desk));
    // A read of the standard input that is still waiting keeps nobody here.
    runtime.shutdown_background();
    code
}

async fn converse(desk: Desk) -> ExitCode {
    let input = Bounded::new(tokio::io::stdin(), LONGEST_LINE);
    let transport = AsyncRwTransport::new_server(input, tokio::io::stdout()).with_max_line_length(usize::MAX);
    let running = match serve_server(Face { desk }, transport).await {
        Ok(running) => running,
        // Whoever looks in and leaves without a word did nothing wrong.
        Err(ServerInitializeError::ConnectionClosed(_)) => return ExitCode::SUCCESS,
        Err(error) => return complain(&format!("the conversation did not start: {error}")),
    };
    match running.waiting().await {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => complain(&format!("the conversation broke: {error}")),
    }
}

#[expect(clippy::print_stderr, reason = "standard output belongs to the protocol, and nobody else is told")]
fn complain(what: &str) -> ExitCode {
    eprintln!("error: {what}");
    ExitCode::from(2)
}

struct Face {
    desk: Desk,
}

impl Face {
    /// What the desk says of the tools as a whole. An agent without it still works.
    async fn instructions(&self) -> Option<String> {
        self.desk.tools().await.ok().map(|offered| offered.instructions).filter(|text| !text.is_empty())
    }
}

impl ServerHandler for Face {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("loopwright", env!("CARGO_PKG_VERSION")))
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let mut result = self.negotiate_initialize(&request)?;
        result.instructions = self.instructions().await;
        Ok(result)
    }

    async fn discover(&self, _: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let mut result = DiscoverResult::from_server_info(
            self.supported_protocol_versions().into_owned(),
            self.get_info(),
        );
        result.instructions = self.instructions().await;
        Ok(result)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        match self.desk.tools().await {
            Ok(offered) => Ok(ListToolsResult::with_all_items(offered.tools.into_iter().map(tool).collect())),
            Err(unheard) => Err(ErrorData::internal_error(unheard.to_string(), None)),
        }
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        // Errors of the protocol are kept from the model by most agents, so whatever went wrong is a result, which is not.
        let result = match self.desk.call(&request.name, &arguments).await {
            Ok(answer) if answer.refused => CallToolResult::error(vec![ContentBlock::text(answer.text)]),
            Ok(answer) => CallToolResult::success(vec![ContentBlock::text(answer.text)]),
            Err(unheard) => CallToolResult::error(vec![ContentBlock::text(unheard.to_string())]),
        };
        Ok(result.into())
    }
}

fn tool(offered: Offered) -> Tool {
    let input: JsonObject = match offered.input {
        Value::Object(schema) => schema,
        // A tool that takes nothing in particular. The protocol wants an object here.
        _ => JsonObject::from_iter([("type".to_owned(), Value::from("object"))]),
    };
    let tool = Tool::new(offered.name, offered.description, Arc::new(input));
    if offered.reads_only { tool.with_annotations(ToolAnnotations::new().read_only(true)) } else { tool }
}
