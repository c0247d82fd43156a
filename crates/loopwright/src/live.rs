//! What is at work, at the bottom of a terminal, for as long as it is.
//!
//! Everything else that is written goes above it, one at a time. Elsewhere than on a terminal nothing of this happens.

use std::cell::Cell;
use std::fmt::Write;
use std::io::IsTerminal as _;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use loopwright_core::machine::{Cost, EffectId, RunView};

use crate::show;

static LIVE: OnceLock<MultiProgress> = OnceLock::new();
static WORK: Mutex<Work> = Mutex::new(Work { bars: Vec::new(), cost: NOTHING });

const NOTHING: Cost = Cost { time: 0, money: 0, tokens: 0, unpriced: false, uncounted: false };
/// While somebody is asked: what others want to write meanwhile, and where to.
static ASKING: Mutex<Option<Vec<(Stream, String)>>> = Mutex::new(None);

thread_local! {
    /// Whether what this thread writes is above the bars already.
    static ASIDE: Cell<bool> = const { Cell::new(false) };
}

/// Columns beside what is told: what turns, and one that stays free, because a line that wraps is not taken away again.
const BESIDE: usize = 5;

/// How wide the terminal is at this moment.
fn columns() -> usize {
    match rustix::termios::tcgetwinsize(std::io::stderr()) {
        Ok(size) if size.ws_col > 0 => usize::from(size.ws_col),
        _ => 80,
    }
}

/// Where something is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    /// What was asked for.
    Out,
    /// Everything else.
    Error,
}

struct Work {
    /// What is at work: the run, the effect, and what is shown of it.
    bars: Vec<(String, String, ProgressBar)>,
    /// What was paid so far.
    cost: Cost,
}

/// Shows what is at work from here on, if somebody can see it.
pub(crate) fn begin() {
    let dumb = std::env::var_os("TERM").is_none_or(|it| it == "dumb" || it.is_empty());
    if std::io::stderr().is_terminal() && !dumb && !crate::background::is_here() {
        LIVE.get_or_init(|| MultiProgress::with_draw_target(ProgressDrawTarget::stderr()));
    }
}

/// Something is at work. Whether it is shown.
pub(crate) fn works((run, effect): (&str, &EffectId), what: &str, view: &RunView) -> bool {
    let Some(live) = LIVE.get() else { return false };
    let mut work = WORK.lock().unwrap_or_else(PoisonError::into_inner);
    let bar = live.add(ProgressBar::new_spinner());
    let left: Vec<String> = view.left.iter().map(|(name, it)| format!("{name} {it}")).collect();
    let left = if left.is_empty() { String::new() } else { format!("{} left", left.join(", ")) };
    let told = [what.to_owned(), left, show::known_cost(&work.cost)];
    let told: Vec<String> = told.into_iter().filter(|it| !it.is_empty()).collect();
    let told = told.join(" · ");
    // No colours: nothing here has to be told apart by them.
    let style = ProgressStyle::with_template("  {spinner} {told}");
    let style = style.unwrap_or_else(|_| ProgressStyle::default_spinner());
    bar.set_style(style.with_key("told", move |state: &ProgressState, out: &mut dyn Write| {
        let elapsed = u64::try_from(state.elapsed().as_millis()).unwrap_or(u64::MAX);
        let told = format!("{} {told}", show::lasting(elapsed));
        let _ = out.write_str(&show::short(&told, columns().saturating_sub(BESIDE)));
    }));
    bar.enable_steady_tick(Duration::from_millis(120));
    work.bars.push((run.to_owned(), effect.to_string(), bar));
    true
}

/// Something came back, at some cost. How long it took, if it was shown.
pub(crate) fn came_back((run, effect): (&str, &EffectId), cost: &Cost) -> Option<String> {
    paid(cost);
    let mut work = WORK.lock().unwrap_or_else(PoisonError::into_inner);
    let effect = effect.to_string();
    let at = work.bars.iter().position(|(of, it, _)| of == run && *it == effect)?;
    let (_, _, bar) = work.bars.remove(at);
    let took = u64::try_from(bar.elapsed().as_millis()).unwrap_or(u64::MAX);
    bar.finish_and_clear();
    LIVE.get().inspect(|it| it.remove(&bar));
    Some(show::lasting(took))
}

/// So much was paid.
pub(crate) fn paid(cost: &Cost) {
    let mut work = WORK.lock().unwrap_or_else(PoisonError::into_inner);
    work.cost.money = work.cost.money.saturating_add(cost.money);
    work.cost.tokens = work.cost.tokens.saturating_add(cost.tokens);
}

/// Nothing is at work any more.
pub(crate) fn end() {
    let bars = std::mem::take(&mut WORK.lock().unwrap_or_else(PoisonError::into_inner).bars);
    for (_, _, bar) in bars {
        bar.finish_and_clear();
    }
}

/// Does something above what is shown. Nobody else writes meanwhile.
pub(crate) fn aside<T>(act: impl FnOnce() -> T) -> T {
    match LIVE.get() {
        Some(live) if !ASIDE.get() => live.suspend(|| {
            ASIDE.set(true);
            let done = act();
            ASIDE.set(false);
            done
        }),
        _ => act(),
    }
}

/// Asks somebody something: nothing moves on the screen until they answered. Whoever works meanwhile goes on, and what
/// they have to say is said afterwards.
pub(crate) fn asking<T>(ask: impl FnOnce() -> T) -> T {
    *asked() = Some(Vec::new());
    if let Some(live) = LIVE.get() {
        let _ = live.clear();
        live.set_draw_target(ProgressDrawTarget::hidden());
    }
    ASIDE.set(true);
    let answer = ask();
    ASIDE.set(false);
    LIVE.get().inspect(|it| it.set_draw_target(ProgressDrawTarget::stderr()));
    let said = asked().take();
    for (stream, text) in said.into_iter().flatten() {
        show::write(stream, &text);
    }
    answer
}

fn asked() -> MutexGuard<'static, Option<Vec<(Stream, String)>>> {
    ASKING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Puts off what would be written into a question. Whether it was.
pub(crate) fn put_off(stream: Stream, text: &str) -> bool {
    match asked().as_mut().filter(|_| !ASIDE.get()) {
        Some(later) => {
            later.push((stream, text.to_owned()));
            true
        }
        None => false,
    }
}

/// Whether somebody is being asked.
pub(crate) fn is_asking() -> bool {
    asked().is_some()
}
