//! A minimal, correct MCP gateway: the reference that birdstrike runs against out of the box.
