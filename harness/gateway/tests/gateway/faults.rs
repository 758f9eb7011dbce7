//! Every fault shows.
