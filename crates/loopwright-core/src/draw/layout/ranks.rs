//! Which lines point up, and how far down each box stands.

use super::Link;

/// Finds the links that shall point up so that no cycle is left.
///
/// Every guess at the author's intent is right for some workflows, so three are tried and the one with the
/// shortest lines is kept: walk the lines as they are listed, walk them in the order of the boxes they lead
/// to, or take the order of the boxes itself.
pub(super) fn upward(count: usize, links: &[Link], first: &[usize]) -> Vec<bool> {
    let listed = walk(count, links, first, |it| (std::cmp::Reverse(links[it].weight), it));
    let by_target = walk(count, links, first, |it| (std::cmp::Reverse(0), links[it].to));
    let by_place = links.iter().map(|it| it.to < it.from && !first.contains(&it.from)).collect();
    let mut best: Option<(i64, Vec<bool>)> = None;
    for upward in [listed, by_target, by_place] {
        let rank = ranks(count, links, &upward);
        let cost = links.iter().zip(&upward).map(|(link, &up)| {
            let span = i64::try_from(rank[link.from].abs_diff(rank[link.to])).unwrap_or(i64::MAX / 1024);
            i64::from(link.weight) * (span + i64::from(up) * UPWARD_COSTS)
        });
        let cost = cost.sum();
        if best.as_ref().is_none_or(|it| cost < it.0) {
            best = Some((cost, upward));
        }
    }
    best.map_or_else(Vec::new, |it| it.1)
}

/// A line that points up is as bad as one that is so many ranks longer.
const UPWARD_COSTS: i64 = 2;

/// Walks from `first` along the lines, sorted by `key` at each box; every line that leads back to a box still
/// being walked points up.
fn walk<Key: Ord>(count: usize, links: &[Link], first: &[usize], key: impl Fn(usize) -> Key) -> Vec<bool> {
    let mut leaving = vec![Vec::new(); count];
    let mut entered = vec![false; count];
    for (index, link) in links.iter().enumerate() {
        leaving[link.from].push(index);
        entered[link.to] = true;
    }
    for list in &mut leaving {
        list.sort_by_key(|&it| key(it));
    }
    let mut upward = vec![false; links.len()];
    let mut state = vec![Walk::Ahead; count];
    let sources = (0..count).filter(|&it| !entered[it]);
    for root in first.iter().copied().chain(sources).chain(0..count) {
        if state[root] != Walk::Ahead {
            continue;
        }
        state[root] = Walk::Within;
        let mut path = vec![(root, 0)];
        while let Some((node, next)) = path.last_mut() {
            let Some(&index) = leaving[*node].get(*next) else {
                state[*node] = Walk::Done;
                path.pop();
                continue;
            };
            *next += 1;
            let target = links[index].to;
            match state[target] {
                Walk::Ahead => {
                    state[target] = Walk::Within;
                    path.push((target, 0));
                }
                Walk::Within => upward[index] = true,
                Walk::Done => {}
            }
        }
    }
    upward
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Walk {
    Ahead,
    Within,
    Done,
}

/// Gives each box the least rank its lines allow, then moves boxes up and down while that shortens the lines.
pub(super) fn ranks(count: usize, links: &[Link], upward: &[bool]) -> Vec<usize> {
    const ROUNDS: usize = 40;
    let mut above = vec![Vec::new(); count];
    let mut below = vec![Vec::new(); count];
    for (link, &up) in links.iter().zip(upward) {
        let (top, bottom) = if up { (link.to, link.from) } else { (link.from, link.to) };
        above[bottom].push((top, link.weight));
        below[top].push((bottom, link.weight));
    }
    let sorted = topological(&above, &below);
    let mut rank = vec![0_usize; count];
    for &node in &sorted {
        rank[node] = above[node].iter().map(|&(it, _)| rank[it] + 1).max().unwrap_or(0);
    }
    for round in 0..ROUNDS {
        let mut moved = false;
        let mut visit = |node: usize| {
            let pull: i32 = below[node].iter().map(|it| it.1).sum::<i32>()
                - above[node].iter().map(|it| it.1).sum::<i32>();
            let highest = above[node].iter().map(|&(it, _)| rank[it] + 1).max();
            let lowest = below[node].iter().filter_map(|&(it, _)| rank[it].checked_sub(1)).min();
            let wanted = match (pull.signum(), highest, lowest) {
                (1, _, Some(lowest)) => lowest,
                (-1, Some(highest), _) => highest,
                _ => rank[node],
            };
            moved |= wanted != rank[node];
            rank[node] = wanted;
        };
        if round % 2 == 0 {
            for &it in sorted.iter().rev() {
                visit(it);
            }
        } else {
            for &it in &sorted {
                visit(it);
            }
        }
        if !moved && round > 0 {
            break;
        }
    }
    close_gaps(&mut rank);
    rank
}

/// The boxes so that every line leads from an earlier to a later one.
fn topological(above: &[Vec<(usize, i32)>], below: &[Vec<(usize, i32)>]) -> Vec<usize> {
    let mut waiting: Vec<usize> = above.iter().map(Vec::len).collect();
    let mut sorted: Vec<usize> = (0..above.len()).filter(|&it| waiting[it] == 0).collect();
    let mut next = 0;
    while let Some(&node) = sorted.get(next) {
        next += 1;
        for &(target, _) in &below[node] {
            waiting[target] -= 1;
            if waiting[target] == 0 {
                sorted.push(target);
            }
        }
    }
    sorted
}

fn close_gaps(rank: &mut [usize]) {
    let mut used: Vec<usize> = rank.to_vec();
    used.sort_unstable();
    used.dedup();
    for value in rank {
        *value = used.binary_search(value).unwrap_or(0);
    }
}
