//! Tables by the value of a name.

use indexmap::IndexMap;

use crate::name::Name;

/// Something, or a table of it by a finite name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Table<T> {
    /// The same always.
    One(T),
    /// By the value of a variable or fact.
    By {
        /// The variable or fact.
        name: Name,
        /// A row a value.
        rows: IndexMap<Name, T>,
    },
}

impl<T> Table<T> {
    /// The entry for the present values of names.
    pub fn get(&self, value_of: impl FnOnce(&Name) -> Option<Name>) -> Option<&T> {
        match self {
            Self::One(it) => Some(it),
            Self::By { name, rows } => rows.get(&*value_of(name)?),
        }
    }

    /// All entries.
    pub fn values(&self) -> Box<dyn Iterator<Item = &T> + '_> {
        match self {
            Self::One(it) => Box::new(std::iter::once(it)),
            Self::By { rows, .. } => Box::new(rows.values()),
        }
    }

    /// All entries, each with the name and the value it is for.
    pub fn rows(&self) -> Vec<(Option<(Name, Name)>, &T)> {
        match self {
            Self::One(it) => vec![(None, it)],
            Self::By { name, rows } => {
                rows.iter().map(|(value, it)| (Some((name.clone(), value.clone())), it)).collect()
            }
        }
    }

    /// The name it is a table by.
    pub fn by(&self) -> Option<&Name> {
        match self {
            Self::One(_) => None,
            Self::By { name, .. } => Some(name),
        }
    }
}

impl<T: Default> Default for Table<T> {
    fn default() -> Self {
        Self::One(T::default())
    }
}
