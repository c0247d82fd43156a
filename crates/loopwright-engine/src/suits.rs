//! Whether everything is there that a run will need: better said before anybody has worked.

use loopwright_core::definition::{Action, CheckWhat, Kind, State, Workflow, matches};
use loopwright_core::language::Folder;
use loopwright_core::language::units::Unit;
use loopwright_core::machine::{Started, before};
use loopwright_core::name::Name;
use loopwright_core::paths::FileSet;

use crate::config::CONFIG;
use crate::engine::{Begin, Engine};
use crate::error::EngineError;
use crate::files::{Change, Files, Look, Own};
use crate::git::{Git, GitError};
use crate::scene::{Scene, Shell};

impl Engine {
    /// Whether everything is there that a run will need.
    pub(crate) fn suits(&self, workflow: &Workflow, begin: &Begin) -> Result<(), EngineError> {
        let wrong = |why: String| Err(EngineError::Wrong(why));
        if let Some(what) = crate::unkept::first(workflow) {
            return wrong(format!(
                "`{}` does not run yet: {what}, and that is not kept to yet; it can be checked and rehearsed",
                workflow.name
            ));
        }
        self.has_agents(workflow)?;
        self.can_count(workflow)?;
        self.has_commands(workflow)?;
        self.may_commit(workflow)?;
        if begin.subject.trim().is_empty() {
            return wrong(format!(
                "a run of `{}` is about a {}: say which",
                workflow.name, workflow.subject.name
            ));
        }
        if is_in_a_path(workflow) && (begin.subject.contains('/') || begin.subject.starts_with('.')) {
            return wrong(format!(
                "`{}` cannot be a {}: it would be part of a path",
                begin.subject, workflow.subject.name
            ));
        }
        if !matches(workflow.subject.matches.as_deref(), &begin.subject) {
            let pattern = workflow.subject.matches.as_deref().unwrap_or_default();
            return wrong(format!(
                "`{}` is no {}: it has to match `{pattern}`",
                begin.subject, workflow.subject.name
            ));
        }
        for (name, input) in &workflow.inputs {
            match begin.inputs.get(name) {
                // Of one that is taken over, documents are all there is.
                None if !input.optional && begin.phase.is_none() => {
                    let about = input.about.as_ref().map(|it| format!(" ({it})")).unwrap_or_default();
                    return wrong(format!("the input `{name}` is missing{about}: `--input {name}=...`"));
                }
                Some(value) if !matches(input.matches.as_deref(), value) => {
                    let pattern = input.matches.as_deref().unwrap_or_default();
                    return wrong(format!(
                        "the input `{name}` has to match `{pattern}`, and `{value}` does not"
                    ));
                }
                _ => {}
            }
        }
        if let Some(name) = begin.inputs.keys().find(|it| !workflow.inputs.contains_key(*it)) {
            let known = loopwright_core::problem::did_you_mean(name, workflow.inputs.keys().map(|it| &**it));
            return wrong(format!(
                "there is no input `{name}`: {}",
                known.unwrap_or_else(|| "it takes none".into())
            ));
        }
        for (name, value) in &begin.vars {
            let Some(variable) = workflow.main.vars.get(name) else {
                let known = workflow.main.vars.iter().filter(|(_, it)| it.input).map(|(it, _)| &**it);
                let known = loopwright_core::problem::did_you_mean(name, known);
                let known = known.unwrap_or_else(|| "there is none to choose".into());
                return wrong(format!("there is no variable `{name}`: {known}"));
            };
            if begin.phase.is_none() && !variable.input {
                return wrong(format!(
                    "the variable `{name}` is not for you to choose: the workflow sets it"
                ));
            }
            if !variable.values.contains(value) {
                let values: Vec<&str> = variable.values.iter().map(|it| &**it).collect();
                return wrong(format!("`{name}` is one of {}, and not `{value}`", values.join(", ")));
            }
        }
        Ok(())
    }

    /// Whether there is somebody for every role.
    fn has_agents(&self, workflow: &Workflow) -> Result<(), EngineError> {
        if let Some(why) = self.crew.misspelt(workflow) {
            return Err(EngineError::Wrong(why));
        }
        for (name, role) in &workflow.roles {
            let Err(why) = self.crew.who(workflow, name, self.home.root()) else { continue };
            let agent = role.agents.first().map(|it| &**it).unwrap_or_default();
            return Err(EngineError::Wrong(format!(
                "nobody can be the `{name}` of `{}`: {why}; `loopwright doctor` shows which agents are here, and `{CONFIG}` says who else it may be: `roles: {{{name}: {{agent: NAME}}}}`, or what `{agent}` is: `agents: {{{agent}: {{command: \"...\"}}}}`",
                workflow.name
            )));
        }
        Ok(())
    }

    /// Whether everybody says what the budgets of a workflow count.
    fn can_count(&self, workflow: &Workflow) -> Result<(), EngineError> {
        let budgets = workflow.machines().flat_map(|it| &it.budgets).map(|(name, it)| (name, it.unit()));
        for (budget, unit) in budgets.filter(|(_, it)| matches!(it, Unit::Money | Unit::Tokens)) {
            for role in workflow.roles.keys() {
                let chosen = self.crew.who(workflow, role, self.home.root()).unwrap_or_default();
                let silent = chosen.iter().find(|it| match unit {
                    Unit::Money => !it.agent.says().money,
                    _ => !it.agent.says().tokens,
                });
                if let Some(silent) = silent {
                    let what = if unit == Unit::Money { "money" } else { "tokens" };
                    return Err(EngineError::Wrong(format!(
                        "the budget `{budget}` counts {what}, and `{}`, who is the `{role}`, does not say how much it uses; give the role to another agent, or count something else",
                        silent.name
                    )));
                }
            }
        }
        Ok(())
    }

    /// Whether the project has the commands that are its checks.
    fn has_commands(&self, workflow: &Workflow) -> Result<(), EngineError> {
        for state in states(workflow) {
            let Kind::Check(check) = &state.kind else { continue };
            let name = match &check.what {
                CheckWhat::Project(name) => &**name,
                CheckWhat::Named(_) => "test",
                CheckWhat::Run(_) => continue,
            };
            if !check.none_passes && self.project.commands_of(name).is_empty() {
                return Err(EngineError::Wrong(format!(
                    "`{}` runs the project's own `{name}`, and there is no command for that; say in `{CONFIG}` which: `project: {{test: \"...\"}}`",
                    state.name
                )));
            }
        }
        Ok(())
    }

    /// Whether the documents are there that every role is given, and whether git sees what becomes of them: what it ignores
    /// nobody could undo, nor tell that it changed.
    pub(crate) fn has_documents(
        &self,
        (workflow, folder): (&Workflow, &Folder),
        begin: &Begin,
    ) -> Result<(), EngineError> {
        self.ahead((workflow, folder), begin, |scene| self.sees_documents(scene, begin))
    }

    /// The folder that a run would have of its own.
    pub(crate) fn own(
        &self,
        (workflow, folder): (&Workflow, &Folder),
        begin: &Begin,
    ) -> Result<Option<Own>, EngineError> {
        self.ahead((workflow, folder), begin, |scene| Ok(scene.own()?))
    }

    /// What can be seen before a run of a workflow is begun: files by their names.
    fn ahead<T>(
        &self,
        (workflow, folder): (&Workflow, &Folder),
        begin: &Begin,
        look_at: impl FnOnce(&Scene<'_>) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        let started = Started {
            definition: workflow.digest.clone(),
            subject: begin.subject.clone(),
            inputs: begin.inputs.clone(),
            vars: begin.vars.clone(),
            ..Started::default()
        };
        let run = &before(workflow, &started)?;
        let (files, look) = (&Files::by_name(self.home.root()), &Look::default());
        let (project, name, now) = (&self.project, "begin", (self.clock)());
        let shell = Shell { supervisor: &self.supervisor, cancel: None };
        look_at(&Scene {
            workflow,
            folder,
            run,
            name,
            files,
            look,
            project,
            now,
            shell,
            item: None,
            finding: None,
            is_for_key: false,
        })
    }

    /// How a run begins, with what documents choose for it that nobody else did.
    pub(crate) fn chosen(
        &self,
        (workflow, folder): (&Workflow, &Folder),
        begin: &Begin,
    ) -> Result<Begin, EngineError> {
        let mut chosen = begin.clone();
        let open = workflow.main.vars.iter().filter(|(name, _)| !begin.vars.contains_key(*name));
        for (name, variable, path) in open.filter_map(|(name, it)| Some((name, it, it.from.as_ref()?))) {
            let said = self.ahead((workflow, folder), begin, |scene| Ok(scene.said_by(path)?))?;
            let Some((value, file)) = said else { continue };
            let value: Name = value.as_str().into();
            if !variable.values.contains(&value) {
                let values: Vec<&str> = variable.values.iter().map(|it| &**it).collect();
                let field = path.rsplit('.').next().unwrap_or_default();
                return Err(EngineError::Wrong(format!(
                    "`{field}` is `{value}` in {file}, and `{}` knows {} for it; change it there (usual is {})",
                    workflow.name,
                    values.join(", "),
                    variable.start,
                )));
            }
            chosen.vars.insert(name.clone(), value);
        }
        Ok(chosen)
    }

    fn sees_documents(&self, scene: &Scene<'_>, begin: &Begin) -> Result<(), EngineError> {
        let workflow = scene.workflow;
        let given = |name: &Name| {
            workflow.given.iter().any(|it| !it.maybe && it.name == format!("docs.{}", name.in_expression()))
        };
        let (mut paths, mut written) = (Vec::new(), Vec::new());
        for (name, _) in workflow.documents.iter().filter(|(_, it)| !it.engine_owned) {
            // A path that is not known yet is looked at when it is.
            let Ok(Some(path)) = scene.path(name) else { continue };
            let place = self.home.root().join(&path);
            if given(name) && begin.phase.is_none() && !place.is_file() {
                let root = self.home.root().display();
                return Err(EngineError::Wrong(if place.exists() {
                    format!("`{path}` in {root} is a folder, and no file: put it elsewhere")
                } else {
                    format!(
                        "there is no `{path}` in {root}, where a run of `{}` works: at the root of the repository",
                        workflow.name
                    )
                }));
            }
            if is_written(workflow, name) {
                written.push(path.clone());
            }
            paths.push(path);
        }
        // What lies in the run's own folder is looked at all the same; only a commit would go without it.
        let own = scene.own_folder()?.map(|it| format!("{}/", it.trim_end_matches('/')));
        let commits = committed(scene)?;
        paths.retain(|path| {
            let is_own = own.as_ref().is_some_and(|it| path.starts_with(it.as_str()));
            !is_own || commits.iter().any(|it| it.matches(path))
        });
        if paths.is_empty() || !self.home.is_repository {
            return Ok(());
        }
        if let Some((link, path)) = written.iter().find_map(|it| Some((self.link_to(it)?, it))) {
            return Err(EngineError::Wrong(format!(
                "`{link}` is a link, so git would not see what an agent makes of `{path}`; put there what it leads to"
            )));
        }
        match self.home.git.ignored(&paths) {
            Some(path) => Err(EngineError::Wrong(format!(
                "git ignores `{path}`, so nobody could see what an agent makes of it; take it out of what is ignored (`git check-ignore -v {path}` says where that is)"
            ))),
            None => Ok(()),
        }
    }

    /// The link by which a file of the project would be reached, which is then somewhere else.
    fn link_to(&self, path: &str) -> Option<String> {
        let parts: Vec<&str> = path.split('/').collect();
        let mut there = (1..=parts.len()).map(|many| parts[..many].join("/"));
        there.find(|it| self.home.root().join(it).is_symlink())
    }

    /// Whether git would let a workflow commit that does.
    fn may_commit(&self, workflow: &Workflow) -> Result<(), EngineError> {
        // Where there is no repository, whatever else needs one says so when it is its turn; a commit comes last.
        if !self.home.is_repository && actions(workflow).any(|it| *it.verb == *"commit") {
            return Err(EngineError::Wrong(format!(
                "`{}` commits what it did, and {}",
                workflow.name,
                crate::effects::NO_REPOSITORY
            )));
        }
        if !self.home.is_repository || !actions(workflow).any(|it| it.commits.is_some()) {
            return Ok(());
        }
        self.is_finished(workflow, &self.home.git)?;
        for who in ["GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"] {
            match self.home.git.text(&["var", who]) {
                Ok(_) => {}
                Err(missing @ GitError::Missing(_)) => return Err(missing.into()),
                Err(GitError::Failed { .. }) => {
                    return Err(EngineError::Wrong(
                        "git does not know who commits here; tell it: `git config user.name \"...\"` and `git config user.email \"...\"`".into(),
                    ));
                }
            }
        }
        Ok(())
    }

    /// Whether what somebody began with git has come to its end, where a workflow commits.
    pub(crate) fn is_finished(&self, workflow: &Workflow, git: &Git) -> Result<(), EngineError> {
        if !self.home.is_repository || !actions(workflow).any(|it| it.commits.is_some()) {
            return Ok(());
        }
        match crate::effects::unfinished(git)? {
            Some(what) => {
                Err(EngineError::Wrong(format!("`{}` commits what it did, and {what}", workflow.name)))
            }
            None => Ok(()),
        }
    }

    /// Whether some of these files would be committed.
    pub(crate) fn committed_of(&self, scene: &Scene<'_>, paths: &[String]) -> Result<bool, EngineError> {
        let sets = if self.home.is_repository { committed(scene)? } else { Vec::new() };
        Ok(paths.iter().any(|path| sets.iter().any(|it| it.matches(path))))
    }

    /// What was changed and not committed before the run began, if it will be part of what is committed.
    pub(crate) fn begun_before(&self, scene: &Scene<'_>) -> Result<Option<String>, EngineError> {
        if !self.home.is_repository {
            return Ok(None);
        }
        let sets = committed(scene)?;
        let Some(head) = scene.files.git().head()?.filter(|_| !sets.is_empty()) else { return Ok(None) };
        let changes = scene.look.since(&scene.files.look_back(&head)?);
        let paths: Vec<String> = changes.iter().map(Change::path).map(str::to_owned).collect();
        let paths: Vec<String> =
            paths.into_iter().filter(|path| sets.iter().any(|it| it.matches(path))).collect();
        Ok((!paths.is_empty()).then(|| {
            let listed = crate::effects::listed(&paths);
            format!("not committed yet, and so part of what will be judged and committed: {listed}")
        }))
    }
}

/// Whether anybody may write a document.
fn is_written(workflow: &Workflow, document: &Name) -> bool {
    let roles = workflow.roles.values().flat_map(|it| it.may_write.values()).flatten();
    roles.chain(actions(workflow).filter_map(|it| it.writes.as_ref()).flatten()).any(|it| it == document)
}

/// What a workflow commits.
fn committed(scene: &Scene<'_>) -> Result<Vec<FileSet>, EngineError> {
    let mut sets = Vec::new();
    for document in actions(scene.workflow).filter_map(|it| it.commits.as_ref()).flatten() {
        sets.extend(scene.set(document)?);
    }
    Ok(sets)
}

/// All states of a workflow, those of its children with them.
fn states(workflow: &Workflow) -> impl Iterator<Item = &State> {
    let machines = std::iter::once(&workflow.main).chain(workflow.children.values());
    machines.flat_map(|it| it.states.values())
}

fn actions(workflow: &Workflow) -> impl Iterator<Item = &Action> {
    let done = states(workflow).filter_map(|it| match &it.kind {
        Kind::Do { actions, .. } => Some(actions),
        _ => None,
    });
    done.flatten()
}

/// Whether what a run is about is part of a path.
fn is_in_a_path(workflow: &Workflow) -> bool {
    let named = |text: &str| text.contains("subject");
    let mut sets = workflow.documents.values().filter_map(|it| it.set.as_ref());
    workflow.folder.as_deref().is_some_and(named) || sets.any(|it| it.templates().any(named))
}
