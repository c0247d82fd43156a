//! The supervisor of commands as a program of its own, for tests of this crate. The binary of Loopwright has it built in.

fn main() -> std::process::ExitCode {
    loopwright_engine::process::supervise()
}
