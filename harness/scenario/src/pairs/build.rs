//! From a row to its scenario: the parts of all its values in one answer, one call, one cell.

use indexmap::IndexMap;

use super::{Driven, Model, Origin, Row, SLUG, Value};
use crate::check::Check;
use crate::scenario::{
    AnswerSpec, Batch, Call, Delivery, Form, Framing, OutcomeSpec, Scenario, SseStyle, Step,
};

impl Model {
    pub(super) fn built(&self, row: &Row, driven: &Driven) -> Scenario {
        let values: Vec<&Value> = self.values(row).collect();
        let word = |part: fn(&Value) -> &Option<String>| {
            values.iter().filter_map(|value| part(value).clone()).collect::<Vec<String>>()
        };
        let routes = word(|value| &value.route);
        let beside = values.iter().find_map(|value| Some((value.beside.as_ref()?, value.times)));
        let packs = routes.iter().any(|route| route == "batch");
        let (answers, steps) = fired(&values, beside, packs);
        let entry = if answers.len() > 1 { "batch.1" } else { "batch.0" };
        let of = packs.then_some(entry);
        Scenario {
            id: format!("{}/{SLUG}", driven.surface),
            surface: driven.surface,
            file: self.file.clone(),
            title: self.title.clone(),
            why: self.why.clone(),
            tool: word(|value| &value.tool).pop().unwrap_or_else(|| "echo".to_owned()),
            definition: None,
            answers,
            needs: values.iter().flat_map(|value| value.needs.iter().cloned()).collect(),
            steps,
            checks: self.checks(&values, driven, of),
            observe: Vec::new(),
            routes,
            revisions: word(|value| &value.client),
            upstream_revisions: word(|value| &value.upstream),
            encodings: word(|value| &value.encoding),
            transports: Vec::new(),
            core_only: true,
            direct_broken: values.iter().any(|value| value.direct_broken),
            harmful: false,
            stress: false,
            deadline_ms: None,
            origin: Origin::Row { row: row.clone(), words: self.words(row) },
        }
    }

    /// The checks that the values bring along, in the order of the model.
    fn checks(&self, values: &[&Value], driven: &Driven, of: Option<&str>) -> Vec<Check> {
        let only: Vec<&String> = values.iter().flat_map(|value| &value.only).collect();
        let mut wanted: Vec<&String> = values.iter().flat_map(|value| &value.adds).collect();
        wanted.extend(&self.always);
        let wanted = if only.is_empty() { wanted } else { only };
        let checks = driven.checks.iter().filter(|check| wanted.contains(&&check.name));
        let of = |check: &Check| Check {
            of: check.of.clone().or_else(|| of.map(str::to_owned)),
            ..check.clone()
        };
        checks.map(of).collect()
    }
}

/// What is asked and answered: alone, or between two others of one batch.
fn fired(
    values: &[&Value],
    beside: Option<(&OutcomeSpec, usize)>,
    packs: bool,
) -> (IndexMap<String, AnswerSpec>, Vec<Step>) {
    let mut main = AnswerSpec { form: Form::Builtin, delivery: Delivery::default(), task: None };
    let mut outcome = OutcomeSpec::default();
    for value in values {
        add_outcome(&mut outcome, value);
        add_delivery(&mut main.delivery, &value.delivery);
    }
    main.form = Form::Outcome(outcome);
    let mut answers = IndexMap::from([("main".to_owned(), main)]);
    let mut batch = vec!["main".to_owned()];
    if let Some((outcome, times)) = beside {
        let mut outcome = outcome.clone();
        outcome.text = outcome.text.map(|text| repeated(&text, times));
        let delivery = Delivery::default();
        answers.insert(
            "beside".to_owned(),
            AnswerSpec { form: Form::Outcome(outcome), delivery, task: None },
        );
        batch = ["beside", "main", "beside"].map(str::to_owned).to_vec();
    }
    let upstream = values.iter().find_map(|value| value.from.clone());
    let step = if packs {
        Step::Batch(Batch { answers: batch, upstream, ..Batch::default() })
    } else {
        Step::Call(Call { answer: Some("main".to_owned()), upstream, ..Call::default() })
    };
    (answers, vec![step])
}

/// Adds a value's part of the outcome.
fn add_outcome(outcome: &mut OutcomeSpec, value: &Value) {
    let part = &value.outcome;
    if value.beside.is_none() {
        let text = part.text.as_deref().map(|text| repeated(text, value.times));
        outcome.text = text.or(outcome.text.take());
    }
    outcome.blocks.extend(part.blocks.iter().cloned());
    outcome.data = part.data.clone().or(outcome.data.take());
    outcome.meta = part.meta.clone().or(outcome.meta.take());
    outcome.error = part.error.or(outcome.error);
    outcome.extra.extend(part.extra.iter().map(|(name, json)| (name.clone(), json.clone())));
}

/// Adds a value's part of the delivery.
fn add_delivery(delivery: &mut Delivery, part: &Delivery) {
    if part.framing != Framing::default() {
        delivery.framing = part.framing;
    }
    delivery.gzip |= part.gzip;
    delivery.status = part.status.or(delivery.status);
    if part.sse != SseStyle::default() {
        delivery.sse = part.sse.clone();
    }
}

fn repeated(text: &str, times: usize) -> String {
    text.repeat(times.max(1))
}
