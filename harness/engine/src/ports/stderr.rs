//! A process's standard error, line by line as it was written.

use std::sync::{Arc, Mutex, PoisonError};

use super::cut::{Cutter, Cutting};
use super::store::Store;

/// Where the bytes of one process go besides the lines that are kept of it.
#[derive(Clone, Debug)]
pub struct Tap(Arc<Mutex<Vec<Cutter>>>);

impl Tap {
    /// A tap that fills these stores.
    pub fn new(stores: impl Iterator<Item = Arc<Store>>) -> Self {
        let cutters = stores.map(|store| Cutter::new(store, Cutting::Lines));
        Self(Arc::new(Mutex::new(cutters.collect())))
    }

    /// Takes what the process wrote.
    pub fn push(&self, bytes: &[u8]) {
        let mut cutters = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        cutters.iter_mut().for_each(|cutter| cutter.push(bytes));
    }

    /// The process closed it.
    pub fn end(&self) {
        let mut cutters = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        cutters.iter_mut().for_each(Cutter::end);
    }
}
