//! How far the analyses may look before they settle for less.
//!
//! Every walk is bounded by a count, never by a clock, so the same workflow gets the same answer on every
//! machine. What a limit cuts short is reported as a bound or as unknown, never as an answer.

/// How much work the analyses may do. The defaults keep 200 nodes with 8 counters under two seconds and
/// 300 MB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Spaces of at most this many possible configurations are walked at once, without asking prices first.
    pub small_keys: u64,
    /// Spaces of at most this many possible configurations are indexed by an array, larger ones by a hash.
    pub dense_keys: u64,
    /// How many configurations are walked when they are indexed by an array.
    pub dense_configurations: usize,
    /// How many configurations are walked when they are indexed by a hash.
    pub hashed_configurations: usize,
    /// How many configurations a search for one path may open.
    pub quest: usize,
    /// How many configurations a search for one worst case may open.
    pub opened: usize,
    /// How many real runs are kept side by side when only a lower bound can be had.
    pub beam: usize,
    /// How many configurations all of these runs may have together.
    pub kept: usize,
    /// How many numbers the exact worst cases may hold at once (lanes times configurations).
    pub values: usize,
    /// How many times the arguments that go over the same steps again and again may look at one.
    pub relaxations: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            small_keys: 1 << 22,
            dense_keys: 1 << 24,
            dense_configurations: 4_000_000,
            hashed_configurations: 1_000_000,
            quest: 200_000,
            opened: 50_000,
            beam: 64,
            kept: 400_000,
            values: 16_000_000,
            relaxations: 40_000_000,
        }
    }
}

/// An index as a 32-bit number: no table here is let to grow past what it can name.
pub(crate) fn small(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// A key as an index into an array that was sized for it.
pub(crate) fn index(key: u64) -> usize {
    usize::try_from(key).unwrap_or(usize::MAX)
}
