//! The surfaces: every place where this gateway reads or rewrites the result of a call, one file
//! each. The slugs are those of the inventory (`upstream-read`, `answer-reading`, ...).
//!
//! A surface is a few small step functions and the table that names them. The pipeline calls the
//! table and never a function of its own choice, so that each step can be looked at, tested and
//! exchanged by itself.

pub mod answer_reading;
pub mod audit_export;
pub mod batch_packing;
pub mod flat_return;
pub mod is_error;
pub mod listing;
pub mod mutators;
pub mod record;
pub mod redaction;
pub mod resource_links;
pub mod schema_and_digest;
pub mod tasks;
pub mod transport;
pub mod truncation;
pub mod upstream_read;

/// The steps of all surfaces.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    /// Surface 1.
    pub upstream_read: upstream_read::Steps,
    /// Surface 2.
    pub answer_reading: answer_reading::Steps,
    /// Surface 3.
    pub mutators: mutators::Steps,
    /// Surface 4.
    pub truncation: truncation::Steps,
    /// Surface 5.
    pub batch_packing: batch_packing::Steps,
    /// Surface 6.
    pub flat_return: flat_return::Steps,
    /// Surface 7.
    pub resource_links: resource_links::Steps,
    /// Surface 8.
    pub tasks: tasks::Steps,
    /// Surface 9.
    pub is_error: is_error::Steps,
    /// Surface 11.
    pub schema_and_digest: schema_and_digest::Steps,
    /// Surface 10.
    pub redaction: redaction::Steps,
    /// Surface 12.
    pub audit_export: audit_export::Steps,
    /// The area of listings.
    pub listing: listing::Steps,
    /// The area of what travels beside the results.
    pub transport: transport::Steps,
}

impl Steps {
    /// Each step done right.
    pub const RIGHT: Self = Self {
        upstream_read: upstream_read::Steps::RIGHT,
        answer_reading: answer_reading::Steps::RIGHT,
        mutators: mutators::Steps::RIGHT,
        truncation: truncation::Steps::RIGHT,
        batch_packing: batch_packing::Steps::RIGHT,
        flat_return: flat_return::Steps::RIGHT,
        resource_links: resource_links::Steps::RIGHT,
        tasks: tasks::Steps::RIGHT,
        is_error: is_error::Steps::RIGHT,
        schema_and_digest: schema_and_digest::Steps::RIGHT,
        redaction: redaction::Steps::RIGHT,
        audit_export: audit_export::Steps::RIGHT,
        listing: listing::Steps::RIGHT,
        transport: transport::Steps::RIGHT,
    };
}

impl Default for Steps {
    fn default() -> Self {
        Self::RIGHT
    }
}
