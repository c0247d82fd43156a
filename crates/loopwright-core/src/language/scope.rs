//! Where names are looked up, the workflow or a child of it, and tables, which are by the variables found there.

use std::ops::Range;

use indexmap::IndexMap;

use super::loader::{Loader, names_in};
use super::yaml::{Node, shorten};
use crate::definition::Table;
use crate::name::Name;
use crate::problem::did_you_mean;

/// Which machine names are looked up in: the file's, or a child's inside it.
#[derive(Clone, Copy)]
pub(super) struct Scope<'n> {
    /// The machine's own part of the file.
    pub(super) node: &'n Node,
    /// The child's name.
    pub(super) child: Option<&'n str>,
}

impl<'n> Scope<'n> {
    /// The machine itself and, for a child, the file around it.
    fn around<'m>(&self, loader: &Loader<'m>) -> Vec<&'m Node>
    where
        'n: 'm,
    {
        if self.child.is_some() { vec![self.node, loader.root] } else { vec![self.node] }
    }

    /// The values of a variable or fact visible here; none if they were reported as wrong.
    pub(super) fn values_of<'m>(&self, loader: &Loader<'m>, name: &str) -> Option<Vec<Name>>
    where
        'n: 'm,
    {
        for node in self.around(loader) {
            for section in ["vars", "facts"] {
                if let Some(declared) = node.get(section).and_then(|it| it.get(name)) {
                    loader.using(section, name);
                    if loader.is_broken(declared.get("in")) {
                        return Some(Vec::new());
                    }
                    let values = declared.get("in").map(Node::items).unwrap_or_default();
                    return Some(values.into_iter().filter_map(Node::text).map(Name::from).collect());
                }
            }
        }
        None
    }

    /// Where the values of a variable are listed.
    pub(super) fn values_node<'m>(&self, loader: &Loader<'m>, name: &str) -> Option<&'m Node>
    where
        'n: 'm,
    {
        self.around(loader).into_iter().find_map(|it| it.get("vars")?.get(name)?.get("in"))
    }

    /// Names of variables visible here.
    pub(super) fn variables<'m>(&self, loader: &Loader<'m>) -> Vec<&'m str>
    where
        'n: 'm,
    {
        self.around(loader).into_iter().flat_map(|it| names_in(it, "vars")).collect()
    }
}

impl Loader<'_> {
    /// A table, or the thing itself.
    pub(super) fn table<T>(
        &self,
        node: &Node,
        scope: &Scope<'_>,
        mut read: impl FnMut(&Node) -> Option<T>,
    ) -> Option<Table<T>> {
        let Some(by) = node.get("by") else { return read(node).map(Table::One) };
        let name = by.text()?;
        let Some(values) = scope.values_of(self, name) else {
            self.no_variable(name, &by.bytes, scope);
            return None;
        };
        let mut rows = IndexMap::new();
        for entry in node.entries().iter().filter(|it| it.key != "by") {
            if !values.is_empty() && !values.iter().any(|it| **it == *entry.key) {
                let message = format!("`{name}` is never `{}`", entry.key);
                self.wrong(
                    "outside-domain",
                    &entry.key_bytes,
                    message,
                    did_you_mean(&entry.key, values.iter().map(|it| &**it)),
                );
                continue;
            }
            if let Some(row) = read(&entry.node) {
                rows.insert(entry.key.as_str().into(), row);
            }
        }
        Some(Table::By { name: name.into(), rows })
    }

    pub(super) fn no_variable(&self, name: &str, bytes: &Range<usize>, scope: &Scope<'_>) {
        if !self.misplaced(name) {
            let message = format!("there is no variable `{}`", shorten(name));
            let help = did_you_mean(name, scope.variables(self));
            let help = help.or_else(|| Some("declare it: `vars: {NAME: {in: [...], start: ...}}`".into()));
            self.wrong("unknown-name", bytes, message, help);
        }
    }

    /// What a state does is decided by what the run knows: a fact is known only while it is looked at.
    pub(super) fn by_a_variable(&self, node: &Node, scope: &Scope<'_>) {
        let Some((by, name)) = node.get("by").and_then(|it| Some((it, it.text()?))) else { return };
        if scope.values_of(self, name).is_some() && !scope.variables(self).contains(&name) {
            let help = "route by the fact, and `set` a variable that the table is by".to_owned();
            self.wrong(
                "bad-value",
                &by.bytes,
                format!("a table cannot be by the fact `{name}` here"),
                Some(help),
            );
        }
    }

    /// A table of lists; a missing row is an empty list.
    pub(super) fn list_table<T>(
        &self,
        node: Option<&Node>,
        scope: &Scope<'_>,
        mut read: impl FnMut(&Node) -> Option<T>,
    ) -> Table<Vec<T>> {
        let Some(node) = node else { return Table::default() };
        self.by_a_variable(node, scope);
        let found = self
            .table(node, scope, |it| Some(it.items().into_iter().filter_map(&mut read).collect::<Vec<T>>()));
        match found {
            Some(Table::By { name, mut rows }) => {
                for value in scope.values_of(self, &name).unwrap_or_default() {
                    rows.entry(value).or_default();
                }
                Table::By { name, rows }
            }
            Some(one) => one,
            None => Table::default(),
        }
    }

    /// A table that must have every row.
    pub(super) fn full_table<T>(
        &self,
        node: &Node,
        scope: &Scope<'_>,
        read: impl FnMut(&Node) -> Option<T>,
    ) -> Option<Table<T>> {
        let table = self.table(node, scope, read)?;
        if let Table::By { name, rows } = &table {
            let missing: Vec<Name> = scope
                .values_of(self, name)
                .unwrap_or_default()
                .into_iter()
                .filter(|it| !rows.contains_key(&**it))
                .collect();
            if !missing.is_empty() {
                let listed = missing.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ");
                let bytes = super::shape::head(node);
                self.wrong(
                    "missing-row",
                    &bytes,
                    format!("the table by `{name}` has no row for {listed}"),
                    Some("say what stands there for every value".into()),
                );
            }
        }
        Some(table)
    }
}
