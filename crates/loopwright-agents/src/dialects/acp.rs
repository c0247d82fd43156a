//! Any agent that speaks the Agent Client Protocol: all there is to know about it is configured.

use std::io;
use std::path::PathBuf;

use loopwright_engine::agents::Says;

use super::{Asked, Dialect, Order, Speech};
use crate::own::Surroundings;

pub(super) struct Acp {
    pub(super) command: Vec<String>,
    pub(super) mode: Option<String>,
}

impl Dialect for Acp {
    fn name(&self) -> &str {
        self.command.first().map(String::as_str).unwrap_or_default()
    }

    fn get(&self) -> String {
        "its configuration says where it is".to_owned()
    }

    fn log_in(&self) -> String {
        "say in its configuration which `files` and `environment` log it in".to_owned()
    }

    fn tried(&self) -> Option<(&'static str, &'static str)> {
        None
    }

    fn credentials(&self, _: &Surroundings) -> Vec<(PathBuf, PathBuf)> {
        Vec::new()
    }

    fn variables(&self, _: &Surroundings) -> Vec<&'static str> {
        vec![]
    }

    fn keys(&self) -> &'static [&'static str] {
        &[]
    }

    fn order(&self, _: &Asked<'_>) -> io::Result<Order> {
        Ok(Order { arguments: self.command.iter().skip(1).cloned().collect(), ..Order::default() })
    }

    fn says(&self) -> Says {
        Says { tokens: false, money: false }
    }

    fn speech(&self, asked: &Asked<'_>) -> Speech {
        Speech::Acp(asked.turn(self.mode.clone()))
    }
}
