//! Points, sizes and boxes, with `y` growing downwards as in SVG.

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Size {
    pub(super) width: f64,
    pub(super) height: f64,
}

/// A box, by its upper left corner.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Area {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Point {
    pub(super) fn shifted(self, by: Self) -> Self {
        Self { x: self.x + by.x, y: self.y + by.y }
    }
}

impl Area {
    pub(super) fn right(self) -> f64 {
        self.x + self.width
    }

    pub(super) fn bottom(self) -> f64 {
        self.y + self.height
    }

    pub(super) fn middle(self) -> Point {
        Point { x: self.x + self.width / 2.0, y: self.y + self.height / 2.0 }
    }

    pub(super) fn shifted(self, by: Point) -> Self {
        Self { x: self.x + by.x, y: self.y + by.y, ..self }
    }

    pub(super) fn centred(middle: Point, size: Size) -> Self {
        let Size { width, height } = size;
        Self { x: middle.x - width / 2.0, y: middle.y - height / 2.0, width, height }
    }
}

/// A count as a length. No picture has more than four billion of anything.
pub(super) fn real(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

/// Moves wishes apart: the positions nearest to `wished` (sorted, by least squares) that keep `gap` between
/// neighbours and stay between `low` and `high`. Where there is no room for the gap, it shrinks.
pub(super) fn spread(wished: &[f64], gap: f64, low: f64, high: f64) -> Vec<f64> {
    let slots = real(wished.len().saturating_sub(1));
    let gap = if slots > 0.0 { gap.min(((high - low) / slots).max(0.0)) } else { 0.0 };
    // With the gaps taken out, what remains is to find the nearest rising sequence: merge falling runs.
    let mut runs: Vec<(f64, usize)> = Vec::new();
    for (index, wish) in wished.iter().enumerate() {
        let mut run = (wish - gap * real(index), 1);
        while let Some(&(mean, count)) = runs.last().filter(|it| it.0 > run.0) {
            runs.pop();
            let total = real(count + run.1);
            run = ((mean * real(count) + run.0 * real(run.1)) / total, count + run.1);
        }
        runs.push(run);
    }
    let highest = (high - gap * slots).max(low);
    let flat = runs.iter().flat_map(|&(mean, count)| std::iter::repeat_n(mean.clamp(low, highest), count));
    flat.enumerate().map(|(index, it)| it + gap * real(index)).collect()
}
