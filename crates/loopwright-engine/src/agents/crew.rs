//! Who does the work of which role: what the workflow asks for, what somebody configured instead, and who stands in where
//! nobody of these is there.

use std::path::Path;
use std::sync::Arc;

use indexmap::IndexMap;
use loopwright_core::definition::{Kind, Workflow};
use loopwright_core::name::Name;
use loopwright_core::problem::did_you_mean;

use super::Agent;

/// All agents there are, and who is wanted for what.
#[derive(Default)]
pub struct Crew {
    /// The agents, by name.
    pub agents: IndexMap<Name, Arc<dyn Agent>>,
    /// What somebody wants for a role: by `WORKFLOW.ROLE`, or by `ROLE` for all workflows.
    pub wishes: IndexMap<String, Wish>,
    /// Agents that everybody knows, and that somebody has or has not: for these others may stand in.
    pub usual: Vec<Name>,
    /// Who may stand in, the best first.
    pub spare: Vec<Name>,
}

/// What somebody wants for a role. What is not said is as the workflow has it, or as the agent does it by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wish {
    /// The agents, the one that is wanted first.
    pub agents: Vec<Name>,
    /// The model.
    pub model: Option<String>,
    /// How hard it is to think.
    pub effort: Option<String>,
    /// Arguments besides.
    pub arguments: Vec<String>,
}

/// An agent for a role.
pub struct Chosen<'c> {
    /// Its name.
    pub name: Name,
    /// The agent.
    pub agent: &'c dyn Agent,
    /// What is wanted of it.
    pub wish: Wish,
    /// Whether it stands in for one that is not there.
    pub stands_in: bool,
}

impl FromIterator<(Name, Arc<dyn Agent>)> for Crew {
    fn from_iter<I: IntoIterator<Item = (Name, Arc<dyn Agent>)>>(agents: I) -> Self {
        Self { agents: agents.into_iter().collect(), ..Self::default() }
    }
}

impl Crew {
    /// What somebody wants for a role.
    pub fn wish(&self, workflow: &str, role: &str) -> Wish {
        let narrow = self.wishes.get(&format!("{workflow}.{role}"));
        let wide = self.wishes.get(role);
        let mut wish = narrow.cloned().unwrap_or_default();
        if let Some(wide) = wide {
            if wish.agents.is_empty() {
                wish.agents.clone_from(&wide.agents);
            }
            wish.model = wish.model.or_else(|| wide.model.clone());
            wish.effort = wish.effort.or_else(|| wide.effort.clone());
            if wish.arguments.is_empty() {
                wish.arguments.clone_from(&wide.arguments);
            }
        }
        wish
    }

    /// The agents that a role may be given to, in order: those that are wanted and there, or else one that stands in.
    /// Why there is none.
    pub fn who(&self, workflow: &Workflow, role: &Name, folder: &Path) -> Result<Vec<Chosen<'_>>, String> {
        let asked = workflow.roles.get(&**role).map(|it| it.agents.as_slice()).unwrap_or_default();
        let wish = self.wish(&workflow.name, role);
        let wanted = if wish.agents.is_empty() { asked } else { &wish.agents };
        // A slip of the pen is not for somebody else to stand in for.
        if let Some(unknown) = wish.agents.iter().find(|it| !self.agents.contains_key(&***it)) {
            let near = did_you_mean(unknown, self.agents.keys().map(|it| &**it)).unwrap_or_default();
            return Err(format!(
                "the configuration wants `{unknown}`, and there is no agent of that name: {near}"
            ));
        }
        let mut why_not = Vec::new();
        let mut found = self.there(wanted, folder, &mut why_not);
        // Whoever was named on purpose is not for somebody else to stand in for.
        let on_purpose = !wish.agents.is_empty() || !asked.iter().all(|it| self.usual.contains(it));
        let stands_in = found.is_empty() && !on_purpose;
        if stands_in {
            found = self.there(&self.spare, folder, &mut Vec::new());
            found.truncate(1);
        }
        if stands_in && found.is_empty() {
            // That those are not there whom everybody knows, nobody has to hear.
            let configured = self.spare.iter().filter(|it| !self.usual.contains(it) && !wanted.contains(it));
            self.there(&configured.cloned().collect::<Vec<_>>(), folder, &mut why_not);
        }
        if found.is_empty() {
            return Err(why_not.join("; "));
        }
        // A model of one agent is nothing to another.
        let first = wanted.first().cloned();
        let found = found.into_iter().map(|(name, agent)| {
            let its_own = !stands_in && Some(&name) == first.as_ref();
            let wish = if its_own { wish.clone() } else { Wish::default() };
            Chosen { name, agent: &**agent, wish, stands_in }
        });
        Ok(found.collect())
    }

    /// A role that somebody has a wish for and a workflow has not, if they named the workflow.
    pub fn misspelt(&self, workflow: &Workflow) -> Option<String> {
        let named = |it: &&String| it.split_once('.').is_some_and(|(of, _)| of == &*workflow.name);
        let mut roles = self.wishes.keys().filter(named).filter_map(|it| Some(it.split_once('.')?.1));
        let unknown = roles.find(|it| !workflow.roles.contains_key(*it))?;
        let near = did_you_mean(unknown, workflow.roles.keys().map(|it| &**it)).unwrap_or_default();
        Some(format!(
            "the configuration says who `{unknown}` of `{}` is, and it has no such role: {near}",
            workflow.name
        ))
    }

    /// What somebody should know about who does the work of a workflow before it begins.
    pub fn notices(&self, workflow: &Workflow, folder: &Path) -> Vec<String> {
        let mut said = Vec::new();
        let mut workers: IndexMap<Name, Name> = IndexMap::new();
        let mut judges: IndexMap<Name, Name> = IndexMap::new();
        for (role, declared) in &workflow.roles {
            let Ok(Some(first)) = self.who(workflow, role, folder).map(|it| it.into_iter().next()) else {
                continue;
            };
            if first.stands_in {
                let wish = self.wish(&workflow.name, role);
                let wanted = if wish.agents.is_empty() { &declared.agents } else { &wish.agents };
                let wanted: Vec<&str> = wanted.iter().map(|it| &**it).collect();
                said.push(format!("`{}` stands in for `{}` as `{role}`", first.name, wanted.join("`, `")));
            }
            let judges_something = workflow.machines().flat_map(|it| it.states.values()).any(|state| {
                matches!(&state.kind, Kind::Review { call, .. } if call.role.values().any(|it| it == role))
            });
            let kind = if judges_something { &mut judges } else { &mut workers };
            kind.entry(first.name.clone()).or_insert_with(|| role.clone());
            if let Some(why) = first.agent.unbounded().filter(|it| !said.contains(it)) {
                said.push(why);
            }
        }
        for (agent, judge) in &judges {
            if let Some(worker) = workers.get(&**agent) {
                said.push(format!(
                    "`{agent}` is `{judge}` and `{worker}`: judge and worker are the same; another agent would see more"
                ));
            }
        }
        said
    }

    fn there<'c>(
        &'c self,
        names: &[Name],
        folder: &Path,
        why_not: &mut Vec<String>,
    ) -> Vec<(Name, &'c Arc<dyn Agent>)> {
        let mut found = Vec::new();
        for name in names {
            match self.agents.get(&**name) {
                None => why_not.push(format!("there is no agent `{name}`")),
                Some(agent) => match agent.missing(folder) {
                    Some(missing) => why_not.push(format!("`{name}`: {missing}")),
                    None => found.push((name.clone(), agent)),
                },
            }
        }
        found
    }
}
