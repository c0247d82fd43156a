//! What every journal promises: the one in memory and the one on the disk do the same, whatever is asked of them.

use loopwright_engine::journal::{Batch, Journal, Lease, Memory, NewRun, Sqlite, Stands};
use proptest::prelude::*;

use crate::{batch, begun, event, new_run};

/// Something to ask of a journal. Runs are numbered; so are the leases that were given out.
#[derive(Clone, Debug)]
enum Ask {
    Create(u8),
    Lease { run: u8, holder: u8, now: u64, until: u64 },
    Renew { lease: usize, until: u64 },
    Release { lease: usize },
    Append { lease: usize, off: i8, count: u8, snapshot: bool, stands: bool, take: Option<u64> },
    Post { run: u8, body: String },
    Put(Vec<u8>),
    Number { series: u8, holder: u8, least: u64 },
    Look { run: u8, after: u64 },
}

fn asks() -> impl Strategy<Value = Ask> {
    let run = 0..3_u8;
    let lease = 0..6_usize;
    prop_oneof![
        1 => run.clone().prop_map(Ask::Create),
        2 => (run.clone(), 0..3_u8, 0..50_u64, 0..60_u64)
            .prop_map(|(run, holder, now, until)| Ask::Lease { run, holder, now, until }),
        1 => (lease.clone(), 0..90_u64).prop_map(|(lease, until)| Ask::Renew { lease, until }),
        1 => lease.clone().prop_map(|lease| Ask::Release { lease }),
        6 => (lease, -1..=1_i8, 0..4_u8, any::<bool>(), any::<bool>(), prop::option::of(1..6_u64))
            .prop_map(|(lease, off, count, snapshot, stands, take)| {
                // Mostly as a driver does it that knows its run.
                let off = if count == 0 { off } else { 0 };
                Ask::Append { lease, off, count, snapshot, stands, take }
            }),
        2 => (run.clone(), ".{0,8}").prop_map(|(run, body)| Ask::Post { run, body }),
        1 => prop::collection::vec(any::<u8>(), 0..12).prop_map(Ask::Put),
        1 => (0..2_u8, 0..3_u8, 0..6_u64)
            .prop_map(|(series, holder, least)| Ask::Number { series, holder, least }),
        2 => (run, 0..5_u64).prop_map(|(run, after)| Ask::Look { run, after }),
    ]
}

/// Does what is asked, and puts what came of it in words.
fn answer(journal: &dyn Journal, ask: &Ask, at: u64, leases: &mut Vec<Lease>) -> String {
    let name = |run: u8| format!("run-{run}");
    let nobody = |at: usize| Lease { run: name(0), holder: "nobody".into(), token: 90 + at as u64 };
    let held = |leases: &[Lease], at: usize| leases.get(at).cloned().unwrap_or_else(|| nobody(at));
    match ask {
        Ask::Create(run) => {
            let run = NewRun { at: at / 3, ..new_run(&name(*run)) };
            format!("{:?}", journal.create(&run))
        }
        Ask::Lease { run, holder, now, until } => {
            let given = journal.lease(&name(*run), &format!("holder-{holder}"), *now, *until);
            leases.extend(given.clone().ok());
            format!("{given:?}")
        }
        Ask::Renew { lease, until } => format!("{:?}", journal.renew(&held(leases, *lease), *until)),
        Ask::Release { lease } => format!("{:?}", journal.release(&held(leases, *lease))),
        Ask::Append { lease, off, count, snapshot, stands, take } => {
            let lease = held(leases, *lease);
            let last = journal.events(&lease.run, 0).map_or(0, |it| it.len() as u64);
            let events: Vec<_> = (0..u64::from(*count)).map(|it| event(at + it)).collect();
            let batch = Batch {
                snapshot: snapshot.then(|| format!("snapshot {at}")),
                stands: stands.then(|| Stands { state: format!("state {at}"), status: "works".into() }),
                taken: take.iter().copied().collect(),
                ..batch(&lease, last.saturating_add_signed(i64::from(*off)), &events)
            };
            format!("{:?}", journal.append(&batch))
        }
        Ask::Post { run, body } => format!("{:?}", journal.post(&name(*run), at, body)),
        Ask::Put(bytes) => {
            let digest = journal.put(bytes).expect("bytes are kept");
            format!("{digest} {:?}", journal.blob(&digest))
        }
        Ask::Number { series, holder, least } => {
            format!("{:?}", journal.number(&series.to_string(), &holder.to_string(), *least))
        }
        Ask::Look { run, after } => {
            let run = name(*run);
            let (events, snapshot) = (journal.events(&run, *after), journal.snapshot(&run));
            format!("{events:?} {snapshot:?} {:?} {:?}", journal.inbox(&run), journal.runs())
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn journals_do_the_same(asks in prop::collection::vec(asks(), 1..40)) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal.db");
        let memory = Memory::default();
        let mut disk = Sqlite::open(&path).expect("a journal");
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for (at, ask) in asks.iter().enumerate() {
            let at = at as u64;
            let wanted = answer(&memory, ask, at, &mut ours);
            prop_assert_eq!(answer(&disk, ask, at, &mut theirs), wanted, "{:?}", ask);
            // Whoever comes back finds what was left.
            if at % 7 == 6 {
                drop(disk);
                disk = Sqlite::open(&path).expect("the journal");
            }
        }
        for run in 0..3 {
            let look = Ask::Look { run, after: 0 };
            prop_assert_eq!(
                answer(&disk, &look, 99, &mut theirs),
                answer(&memory, &look, 99, &mut ours)
            );
        }
    }
}

fn both(promise: impl Fn(&dyn Journal)) {
    promise(&Memory::default());
    let folder = tempfile::tempdir().expect("a folder");
    promise(&Sqlite::open(&folder.path().join("journal.db")).expect("a journal"));
}

#[test]
fn a_run_has_one_driver() {
    both(|journal| {
        let mine = begun(journal, "a");
        let refused = journal.lease("a", "you", 59_999, 120_000).expect_err("it is held");
        assert_eq!(refused.to_string(), "run `a` is driven by me");
        // Its time is over, so somebody else may have it; from then on the first one writes nothing.
        let yours = journal.lease("a", "you", 60_000, 120_000).expect("a lease that is over");
        let refused = journal.append(&batch(&mine, 0, &[event(1)])).expect_err("it was taken over");
        assert_eq!(refused.to_string(), "run `a` is no longer driven by me");
        journal.renew(&mine, 200_000).expect_err("it was taken over");
        journal.release(&mine).expect_err("it was taken over");
        assert_eq!(journal.append(&batch(&yours, 0, &[event(1)])).expect("the driver's"), 1);
        journal.release(&yours).expect("its own");
        journal.append(&batch(&yours, 1, &[event(2)])).expect_err("it was given back");
        assert_eq!(journal.events("a", 0).expect("events").len(), 1);
    });
}

#[test]
fn what_a_driver_does_not_know_of_is_not_overwritten() {
    both(|journal| {
        let lease = begun(journal, "a");
        journal.append(&batch(&lease, 0, &[event(1), event(2)])).expect("events");
        for after in [0, 1, 3] {
            let refused = journal.append(&batch(&lease, after, &[event(9)])).expect_err("it is behind");
            assert_eq!(refused.to_string(), format!("run `a` has 2 events, and the driver knew of {after}"));
        }
        assert_eq!(journal.events("a", 1).expect("events")[0].event, event(2));
    });
}

#[test]
fn letters_are_taken_with_the_events_they_lead_to() {
    both(|journal| {
        let lease = begun(journal, "a");
        let other = begun(journal, "b");
        journal.post("a", 5, "approve").expect("a letter");
        journal.post("a", 6, "stop").expect("a letter");
        let letters = journal.inbox("a").expect("letters");
        let taken = vec![letters[0].id];
        // Nobody takes another run's letters.
        let theirs = Batch { taken: taken.clone(), ..batch(&other, 0, &[event(1)]) };
        journal.append(&theirs).expect("events");
        assert_eq!(journal.inbox("a").expect("letters").len(), 2);
        // What is refused takes nothing.
        let refused = Batch { taken: taken.clone(), ..batch(&lease, 7, &[event(1)]) };
        journal.append(&refused).expect_err("it is ahead");
        assert_eq!(journal.inbox("a").expect("letters").len(), 2);
        journal.append(&Batch { taken, ..batch(&lease, 0, &[event(1)]) }).expect("events");
        let left = journal.inbox("a").expect("letters");
        assert_eq!(left.iter().map(|it| it.body.as_str()).collect::<Vec<_>>(), ["stop"]);
    });
}

#[test]
fn a_number_is_given_once() {
    both(|journal| {
        let number =
            |series: &str, holder: &str, least| journal.number(series, holder, least).expect("a number");
        assert_eq!(number("a", "me", 1), 1);
        assert_eq!(number("a", "you", 1), 2);
        assert_eq!(number("a", "me", 1), 1);
        assert_eq!(number("b", "you", 40), 40);
        // What was given up for another is nobody's.
        assert_eq!(number("a", "me", 2), 3);
        assert_eq!(number("a", "me", 2), 3);
        assert_eq!(number("a", "they", 1), 4);
        assert_eq!(number("a", "they", u64::from(u32::MAX)), u64::from(u32::MAX));
    });
}

#[test]
fn whoever_asks_at_once_is_given_another_number() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("journal.db");
    let taken: Vec<u64> = std::thread::scope(|scope| {
        let ask = |thread: u64| {
            let journal = Sqlite::open(&path).expect("a journal");
            let ask = |at: u64| journal.number("a", &format!("{thread}.{at}"), 5).expect("a number");
            (0..8).map(ask).collect::<Vec<_>>()
        };
        let all: Vec<_> = (0..4).map(|thread| scope.spawn(move || ask(thread))).collect();
        all.into_iter().flat_map(|it| it.join().expect("it goes well")).collect()
    });
    let mut sorted = taken.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, (5..37).collect::<Vec<_>>());
}

#[test]
fn there_is_no_run_but_those_that_began() {
    both(|journal| {
        let no_run = "there is no run `x`";
        let lease = Lease { run: "x".into(), holder: "me".into(), token: 0 };
        assert_eq!(journal.events("x", 0).expect_err("none").to_string(), no_run);
        assert_eq!(journal.snapshot("x").expect_err("none").to_string(), no_run);
        assert_eq!(journal.inbox("x").expect_err("none").to_string(), no_run);
        assert_eq!(journal.post("x", 0, "").expect_err("none").to_string(), no_run);
        assert_eq!(journal.lease("x", "me", 0, 1).expect_err("none").to_string(), no_run);
        assert_eq!(journal.append(&batch(&lease, 0, &[])).expect_err("none").to_string(), no_run);
        journal.create(&new_run("x")).expect("a new run");
        let again = journal.create(&new_run("x")).expect_err("there is one");
        assert_eq!(again.to_string(), "there is a run `x` already");
    });
}
