//! The moments at which something outside changes: just before and just after a file is replaced or removed, or git does
//! something.
//!
//! A run survives whoever drives it, at any of them. That is promised, so that it has to be tried at each: a test listens
//! here and ends its own process. Nobody else listens.

use std::fmt;
use std::sync::Arc;

type Listener = dyn Fn(&str) + Send + Sync;

/// Who is told, if anybody.
#[derive(Clone, Default)]
pub struct Moments(Option<Arc<Listener>>);

impl Moments {
    /// Somebody listens.
    pub fn told_to(listener: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(listener)))
    }

    /// Does something, and tells when.
    pub(crate) fn around<T>(&self, what: impl Fn() -> String, work: impl FnOnce() -> T) -> T {
        self.tell(|| format!("before {}", what()));
        let done = work();
        self.tell(|| format!("after {}", what()));
        done
    }

    fn tell(&self, what: impl FnOnce() -> String) {
        if let Some(listener) = &self.0 {
            listener(&what());
        }
    }
}

impl fmt::Debug for Moments {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(if self.0.is_some() { "Moments(told)" } else { "Moments" })
    }
}
