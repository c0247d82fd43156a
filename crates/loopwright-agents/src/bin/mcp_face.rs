//! What the binary does for agents besides what people ask of it, as a process of its own, for the tests.

fn main() -> std::process::ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("supervise") => loopwright_engine::process::supervise(),
        _ => loopwright_agents::mcp::serve(),
    }
}
