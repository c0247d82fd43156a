//! Questions that people answer badly.

use loopwright_engine::{Answered, Standing};

use crate::actions::start;
use crate::bench::{Bench, workflow};

const ASKS: &str = r#"
workflow: asks
subject: thing
questions:
  ship: {asks: "Ship it?", answers: [yes, no], re-ask: 1}
states:
  ask: {ask: ship, on: {yes: shipped, no | deferred: failed, unanswered: given-up}}
  shipped: {end: success}
  given-up: {end: stopped}
  failed: {end: failure}
"#;

#[test]
fn what_is_no_answer_is_asked_for_again_and_not_for_ever() {
    for (answers, end) in [
        (&["maybe", "perhaps"][..], Some("given-up")),
        (&["maybe", "yes"][..], Some("shipped")),
        // Somebody who went away after a slip is not somebody who gave up.
        (&["maybe"][..], None),
    ] {
        let bench = Bench::with(&[("a", "a\n")]);
        let answer = |it: &&str| Answered { answer: (*it).into(), ..Answered::default() };
        bench.answers.left.lock().expect("answers").extend(answers.iter().map(answer));
        let engine = bench.engine(&[]);
        let standing = start(&engine, &workflow(ASKS)).drive().expect("it runs");
        match end {
            Some(end) => assert_eq!(&*standing.run().at.state, end, "{answers:?}"),
            None => assert!(matches!(standing, Standing::Waits { .. }), "{answers:?}: {standing:?}"),
        }
        assert!(bench.lines().iter().any(|it| it.contains("`maybe` is no answer")), "{:?}", bench.lines());
    }
}
