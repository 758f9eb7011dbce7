//! An independent client, in both lifecycles.
