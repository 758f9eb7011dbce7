//! The runner of birdstrike: launches, client, cells, events and reporters.
