//! What a resumed run is told of its past: which outcomes the engine is given, in which order, and whether the script
//! asks for the same as before. Pure.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A step as the journal has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct JournaledStep {
    pub step: u32,
    pub fingerprint: String,
    /// The tool's name, or the kind of the step.
    pub name: String,
    pub line: Option<u32>,
    pub began_at_ms: i64,
    pub execution_id: Option<String>,
    /// Absent while it has no outcome.
    pub settled: Option<SettledStep>,
}

/// How a step ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SettledStep {
    /// Which outcome of the run it was, from 0.
    pub order: u32,
    /// The time that the script was told.
    pub now_ms: i64,
    pub is_ok: bool,
    /// The input of the engine, as it was given.
    pub outcome: String,
    pub ended_at_ms: i64,
}

/// Why a script that is run again is not the same run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Divergence {
    /// It asks for something else than before.
    OtherStep { step: u32, name: String },
    /// It no longer asks for what has begun.
    MissingStep { step: u32, name: String },
    /// The journal lacks an outcome, or has two of one place.
    BrokenOrder { at: u32 },
}

impl Divergence {
    pub(super) fn sentence(&self) -> String {
        match self {
            Self::OtherStep { step, name } => format!(
                "run again, the script asks for something else as step {step} than before, which was {name}"
            ),
            Self::MissingStep { step, name } => format!(
                "run again, the script does not ask for step {step} ({name}), which has begun"
            ),
            Self::BrokenOrder { at } => {
                format!("the journal of the run has no outcome {at}, or several")
            }
        }
    }

    pub(super) fn step(&self) -> Option<u32> {
        match self {
            Self::OtherStep { step, .. } | Self::MissingStep { step, .. } => Some(*step),
            Self::BrokenOrder { .. } => None,
        }
    }
}

/// The journal of a run, while the script is run again.
#[derive(Debug, Default)]
pub(super) struct Replay {
    known: BTreeMap<u32, JournaledStep>,
    /// Steps whose outcomes the engine has not been given, in their order.
    waiting: VecDeque<u32>,
    asked: BTreeSet<u32>,
}

impl Replay {
    /// # Errors
    /// The outcomes do not have the orders 0, 1, 2 and so on.
    pub(super) fn new(steps: Vec<JournaledStep>) -> Result<Self, Divergence> {
        let mut settled: Vec<(u32, u32)> = steps
            .iter()
            .filter_map(|step| Some((step.settled.as_ref()?.order, step.step)))
            .collect();
        settled.sort_unstable();
        for (at, (order, _)) in (0_u32..).zip(&settled) {
            if *order != at {
                return Err(Divergence::BrokenOrder { at });
            }
        }
        Ok(Self {
            known: steps.into_iter().map(|step| (step.step, step)).collect(),
            waiting: settled.into_iter().map(|(_, step)| step).collect(),
            asked: BTreeSet::new(),
        })
    }

    /// Whether no step has begun.
    pub(super) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// How many outcomes the journal has.
    pub(super) fn settled(&self) -> u32 {
        let settled = self.known.values().filter(|step| step.settled.is_some());
        u32::try_from(settled.count()).unwrap_or(u32::MAX)
    }

    /// The latest time that the script was told.
    pub(super) fn told_ms(&self) -> Option<i64> {
        let settled = self.known.values().filter_map(|step| step.settled.as_ref());
        settled.map(|settled| settled.now_ms).max()
    }

    /// Bytes of all outcomes.
    pub(super) fn bytes(&self) -> usize {
        let settled = self.known.values().filter_map(|step| step.settled.as_ref());
        settled.map(|settled| settled.outcome.len()).sum()
    }

    /// The script asks for a step. What the journal has of it; nothing if it is new.
    ///
    /// # Errors
    /// It is not what it was.
    pub(super) fn ask(
        &mut self,
        step: u32,
        fingerprint: &str,
    ) -> Result<Option<JournaledStep>, Divergence> {
        self.asked.insert(step);
        match self.known.get(&step) {
            None => Ok(None),
            Some(known) if known.fingerprint == fingerprint => Ok(Some(known.clone())),
            Some(known) => Err(Divergence::OtherStep {
                step,
                name: known.name.clone(),
            }),
        }
    }

    /// The next outcome for the engine; nothing once it has been given all.
    ///
    /// # Errors
    /// The script has not asked for its step.
    pub(super) fn next_outcome(&mut self) -> Result<Option<String>, Divergence> {
        let Some(step) = self.waiting.pop_front() else {
            return Ok(None);
        };
        if !self.asked.contains(&step) {
            return Err(self.missing(step));
        }
        let known = self.known.get(&step);
        let settled = known.and_then(|known| known.settled.as_ref());
        Ok(settled.map(|settled| settled.outcome.clone()))
    }

    /// After the last outcome.
    ///
    /// # Errors
    /// A step has begun that the script has not asked for.
    pub(super) fn check_all_asked(&self) -> Result<(), Divergence> {
        let missing = self.known.keys().find(|step| !self.asked.contains(step));
        missing.map_or(Ok(()), |step| Err(self.missing(*step)))
    }

    fn missing(&self, step: u32) -> Divergence {
        let name = self.known.get(&step).map(|known| known.name.clone());
        Divergence::MissingStep {
            step,
            name: name.unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(step: u32, order: Option<u32>) -> JournaledStep {
        JournaledStep {
            step,
            fingerprint: format!("print {step}"),
            name: format!("tool_{step}"),
            line: Some(1),
            began_at_ms: 10,
            execution_id: None,
            settled: order.map(|order| SettledStep {
                order,
                now_ms: 100 + i64::from(order),
                is_ok: true,
                outcome: format!("outcome of {step}"),
                ended_at_ms: 20,
            }),
        }
    }

    #[test]
    fn outcomes_are_given_in_the_order_in_which_they_came_and_not_in_that_of_their_steps() {
        let steps = vec![step(0, Some(1)), step(1, None), step(2, Some(0))];
        let mut replay = Replay::new(steps).unwrap();
        assert_eq!((replay.settled(), replay.told_ms()), (2, Some(101)));
        for asked in 0..3 {
            let known = replay.ask(asked, &format!("print {asked}")).unwrap();
            assert_eq!(known.unwrap().settled.is_some(), asked != 1);
        }
        assert_eq!(replay.ask(3, "anything").unwrap(), None, "it is new");
        let mut given = Vec::new();
        while let Some(outcome) = replay.next_outcome().unwrap() {
            given.push(outcome);
        }
        assert_eq!(given, ["outcome of 2", "outcome of 0"]);
        assert_eq!(replay.check_all_asked(), Ok(()));
    }

    #[test]
    fn a_script_that_asks_for_something_else_is_not_the_same_run() {
        let mut replay = Replay::new(vec![step(0, Some(0)), step(1, None)]).unwrap();
        let name = |step: u32| format!("tool_{step}");
        assert_eq!(
            replay.ask(0, "print 1"),
            Err(Divergence::OtherStep {
                step: 0,
                name: name(0)
            })
        );
        // The same outcome before its step was asked for, and a step that is never asked for.
        let mut replay = Replay::new(vec![step(0, Some(0)), step(1, None)]).unwrap();
        let missing = |step| Divergence::MissingStep {
            step,
            name: name(step),
        };
        assert_eq!(replay.next_outcome(), Err(missing(0)));
        assert!(replay.ask(0, "print 0").is_ok());
        assert_eq!(replay.check_all_asked(), Err(missing(1)));
        assert!(replay.ask(1, "print 1").is_ok());
        assert_eq!(replay.check_all_asked(), Ok(()));
        assert!(
            missing(1).sentence().contains("step 1 (tool_1)"),
            "{}",
            missing(1).sentence()
        );
    }

    #[test]
    fn a_journal_with_a_gap_or_two_outcomes_of_one_place_is_refused() {
        let gap = Replay::new(vec![step(0, Some(1))]);
        assert_eq!(gap.unwrap_err(), Divergence::BrokenOrder { at: 0 });
        let twice = Replay::new(vec![step(0, Some(0)), step(1, Some(0))]);
        assert_eq!(twice.unwrap_err(), Divergence::BrokenOrder { at: 1 });
        assert!(Replay::new(Vec::new()).is_ok());
    }
}
