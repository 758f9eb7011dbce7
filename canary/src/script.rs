//! Which plan serves which nonce.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::plan::Plan;
use crate::tasks::Tasks;

/// The plans of a canary by nonce. Plans may be made and forgotten while calls are answered; a call
/// that is being answered keeps the plan that it began with.
#[derive(Debug, Default)]
pub struct Script {
    plans: Mutex<HashMap<String, Arc<Plan>>>,
    /// What lives of the tasks that were planned.
    pub(crate) tasks: Tasks,
}

impl Script {
    /// Makes a plan for all calls that carry this nonce, in place of an earlier one.
    pub fn plan(&self, nonce: impl Into<String>, plan: Plan) {
        self.plans().insert(nonce.into(), Arc::new(plan));
    }

    /// Forgets the plan for this nonce; a call that carries it is then answered by its tool's family.
    pub fn forget(&self, nonce: &str) {
        self.plans().remove(nonce);
        self.tasks.forget(nonce);
    }

    pub(crate) fn find(&self, nonce: &str) -> Option<Arc<Plan>> {
        self.plans().get(nonce).cloned()
    }

    fn plans(&self) -> MutexGuard<'_, HashMap<String, Arc<Plan>>> {
        // The map is whole after every step, so a panic elsewhere does not make it unusable.
        self.plans.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Answer;

    #[test]
    fn the_last_plan_for_a_nonce_counts_until_it_is_forgotten() {
        let script = Script::default();
        script.plan("n", Plan::new(Answer::Builtin));
        script.plan("n", Plan::new(Answer::Message("m".into())));
        assert_eq!(script.find("n").unwrap().answer, Answer::Message("m".into()));
        script.forget("n");
        assert!(script.find("n").is_none());
    }
}
