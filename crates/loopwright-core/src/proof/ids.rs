//! Sets of counters or monitors.

use std::fmt;

/// A set of small numbers. Those below 64 are bits of a word; a workflow rarely has others.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Ids {
    low: u64,
    /// The others, sorted.
    #[expect(
        clippy::box_collection,
        reason = "a set is two words long; there are very many, and few have others"
    )]
    high: Option<Box<Vec<u16>>>,
}

impl Ids {
    /// Puts a number in.
    pub fn insert(&mut self, id: u16) {
        if id < 64 {
            self.low |= 1 << id;
            return;
        }
        let high = self.high.get_or_insert_default();
        if let Err(place) = high.binary_search(&id) {
            high.insert(place, id);
        }
    }

    /// Takes a number out.
    pub fn remove(&mut self, id: u16) {
        self.retain(|it| it != id);
    }

    /// Whether a number is in it.
    pub fn contains(&self, id: u16) -> bool {
        if id < 64 { self.low >> id & 1 == 1 } else { self.high().binary_search(&id).is_ok() }
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.low == 0 && self.high.is_none()
    }

    /// What is in it, in order.
    pub fn iter(&self) -> impl Iterator<Item = u16> + '_ {
        Bits(self.low).chain(self.high().iter().copied())
    }

    /// Those from `first` on that fit in a word, as its bits.
    pub(crate) fn bits_from(&self, first: u16) -> u64 {
        if first == 0 && self.high.is_none() {
            return self.low;
        }
        let inside = self.iter().filter_map(|id| id.checked_sub(first).filter(|bit| *bit < 64));
        inside.fold(0, |set, bit| set | 1 << bit)
    }

    /// Keeps what is wanted.
    pub(crate) fn retain(&mut self, wanted: impl Fn(u16) -> bool) {
        self.low = Bits(self.low).filter(|id| wanted(*id)).fold(0, |set, id| set | 1 << id);
        if let Some(high) = &mut self.high {
            high.retain(|id| wanted(*id));
        }
        self.high.take_if(|it| it.is_empty());
    }

    fn high(&self) -> &[u16] {
        self.high.as_ref().map_or(&[], |it| it.as_slice())
    }
}

impl Extend<u16> for Ids {
    fn extend<I: IntoIterator<Item = u16>>(&mut self, ids: I) {
        ids.into_iter().for_each(|id| self.insert(id));
    }
}

impl FromIterator<u16> for Ids {
    fn from_iter<I: IntoIterator<Item = u16>>(ids: I) -> Self {
        let mut set = Self::default();
        set.extend(ids);
        set
    }
}

impl<const COUNT: usize> From<[u16; COUNT]> for Ids {
    fn from(ids: [u16; COUNT]) -> Self {
        ids.into_iter().collect()
    }
}

impl fmt::Debug for Ids {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_set().entries(self.iter()).finish()
    }
}

/// The members of a set of bits, in order.
pub(crate) fn members(set: &[u64]) -> impl Iterator<Item = u16> + '_ {
    (0_u16..).step_by(64).zip(set).flat_map(|(first, bits)| Bits(*bits).map(move |bit| first + bit))
}

/// The bits of a word that are set, lowest first.
struct Bits(u64);

impl Iterator for Bits {
    type Item = u16;

    fn next(&mut self) -> Option<u16> {
        let bit = self.0.trailing_zeros();
        // Without any, there is none to clear.
        self.0 &= self.0.wrapping_sub(1);
        u16::try_from(bit).ok().filter(|it| *it < 64)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_a_set(one in proptest::collection::btree_set(0u16..140, 0..12), out in 0u16..140, first in 0u16..140) {
            let mut ids: Ids = one.iter().rev().copied().chain(one.first().copied()).collect();
            prop_assert!(ids.iter().eq(one.iter().copied()));
            prop_assert_eq!(ids.contains(out), one.contains(&out));
            let bits = members(&[ids.bits_from(first)]).map(|bit| bit + first).collect::<Vec<_>>();
            prop_assert!(bits.into_iter().eq(one.range(first..first + 64).copied()));
            ids.remove(out);
            prop_assert!(ids.iter().eq(one.iter().copied().filter(|id| *id != out)));
            prop_assert_eq!(ids.is_empty(), one.iter().all(|id| *id == out));
        }
    }
}
