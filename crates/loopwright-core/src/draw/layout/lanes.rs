//! Where lines run sideways between two layers: each in a lane, so that no two lie on top of each other.

/// A line that changes its column between two layers.
pub(super) struct Shift {
    pub(super) from: f64,
    pub(super) to: f64,
}

/// Lines that come closer than this at their ends count as overlapping.
const AIR: f64 = 6.0;
/// In a gap with more lines than this, lanes are dealt out in turn: no one could follow the lines anyway.
const MOST: usize = 300;

/// A lane for each line, counted from the top, and the number of lanes.
///
/// Of two lines that run left, the one that starts further left must turn first, or they would cross twice;
/// and the other way round for lines that run right.
pub(super) fn lanes(shifts: &[Shift]) -> (Vec<usize>, usize) {
    let mut lane = vec![0; shifts.len()];
    if shifts.len() > MOST {
        let few = 24;
        lane.iter_mut().enumerate().for_each(|(index, it)| *it = index % few);
        return (lane, few);
    }
    let mut order: Vec<usize> = (0..shifts.len()).collect();
    let runs_left = |it: &Shift| it.to < it.from;
    order.sort_by(|&one, &other| {
        let (one, other) = (&shifts[one], &shifts[other]);
        let key = |it: &Shift| if runs_left(it) { it.from } else { -it.from };
        runs_left(other).cmp(&runs_left(one)).then(key(one).total_cmp(&key(other)))
    });
    let mut count = 0;
    for (place, &index) in order.iter().enumerate() {
        let own = &shifts[index];
        let meets = |other: &Shift| {
            own.from.min(own.to) - AIR < other.from.max(other.to)
                && other.from.min(other.to) - AIR < own.from.max(own.to)
        };
        let earlier = order[..place].iter().copied().filter(|&it| meets(&shifts[it]));
        let (same, opposite): (Vec<usize>, Vec<usize>) =
            earlier.partition(|&it| runs_left(&shifts[it]) == runs_left(own));
        let mut wanted = same.iter().map(|&it| lane[it] + 1).max().unwrap_or(0);
        while opposite.iter().any(|&it| lane[it] == wanted) {
            wanted += 1;
        }
        lane[index] = wanted;
        count = count.max(wanted + 1);
    }
    (lane, count)
}
