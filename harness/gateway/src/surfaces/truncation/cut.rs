//! A result made smaller in a way that leaves it a result.
//!
//! `content` stays a list of valid blocks. Only the text of a text block is ever shortened; any other
//! block and any other member is whole or is left out, and what is left out is named.

use std::cmp::Reverse;

use birdstrike_wire::json::{self, Member};
use birdstrike_wire::shape::{escape_pointer, text_block};

use crate::spelled;

/// What a reader of the result is told; the entry has the particulars.
const NOTICE: &str = "[The gateway cut this result to fit its batch. Its entry says what is \
                      missing and how to fetch it.]";
/// Members that tell what a result is; too small to be worth leaving out.
const LABELS: [&str; 2] = ["resultType", "isError"];

/// A step that shortens a string's inside to so many bytes.
pub type Keep = fn(inside: &str, bytes: usize) -> String;

/// A result that was cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// What is left of it.
    pub body: String,
    /// What is not there, as JSON Pointers into the whole result.
    pub left_out: Vec<String>,
    /// The texts that are there in part, likewise.
    pub shortened: Vec<String>,
}

/// What becomes of a block.
enum Fate {
    Whole,
    Shortened(String),
    LeftOut,
}

/// Whole characters.
pub fn keep(inside: &str, bytes: usize) -> String {
    spelled::fitting(inside, bytes).to_owned()
}

/// First the members beside `content` that are too much: the typed part, then what nobody knows, the
/// largest first, then `_meta`. Then blocks share what room is left, the small ones first.
pub fn cut(result: &str, bytes: usize, keep: Keep) -> Option<Cut> {
    let members = json::members(result).ok()?;
    let content_at = members.iter().rposition(|member| member.is("content"));
    let blocks = content_at.and_then(|at| json::items(members[at].value).ok());
    let notice = text_block(NOTICE);
    let mut stays = vec![true; members.len()];
    let mut left_out = Vec::new();
    let mut frame = "{\"content\":[]}".len() + notice.len();
    frame += (0..members.len())
        .filter(|at| Some(*at) != content_at)
        .map(|at| size(&members[at]))
        .sum::<usize>();
    for at in leaving_order(&members, content_at) {
        if frame <= bytes {
            break;
        }
        stays[at] = false;
        frame -= size(&members[at]);
        left_out.push(format!("/{}", escape_pointer(&members[at].key())));
    }
    if content_at.is_some() && blocks.is_none() {
        // It is no list, and a list comes in its place.
        left_out.push("/content".into());
    }
    let blocks = blocks.unwrap_or_default();
    let mut content = Vec::with_capacity(blocks.len() + 1);
    let mut shortened = Vec::new();
    let fates = share(&blocks, bytes.saturating_sub(frame), keep);
    for (at, (block, fate)) in blocks.iter().zip(fates).enumerate() {
        match fate {
            Fate::Whole => content.push((*block).to_owned()),
            Fate::Shortened(block) => {
                shortened.push(format!("/content/{at}/text"));
                content.push(block);
            }
            Fate::LeftOut => left_out.push(format!("/content/{at}")),
        }
    }
    content.push(notice);
    let content = format!("[{}]", content.join(","));
    let mut parts = Vec::with_capacity(members.len() + 1);
    for (at, Member { raw_key, value, .. }) in members.iter().enumerate().filter(|m| stays[m.0]) {
        let value = if Some(at) == content_at { &content } else { *value };
        parts.push(format!("{raw_key}:{value}"));
    }
    if content_at.is_none() {
        parts.push(format!("\"content\":{content}"));
    }
    let body = format!("{{{}}}", parts.join(","));
    (body.len() < result.len()).then_some(Cut { body, left_out, shortened })
}

/// Bytes of a member with its comma.
fn size(member: &Member<'_>) -> usize {
    member.raw_key.len() + member.value.len() + 2
}

/// The members that may be left out, the first to go first.
fn leaving_order(members: &[Member<'_>], content_at: Option<usize>) -> Vec<usize> {
    let is_label = |member: &Member<'_>| LABELS.iter().any(|label| member.is(label));
    let mut order: Vec<usize> = (0..members.len())
        .filter(|&at| Some(at) != content_at && !is_label(&members[at]))
        .collect();
    order.sort_by_key(|&at| {
        let member = &members[at];
        let rank = if member.is("structuredContent") {
            0
        } else if member.is("_meta") {
            2
        } else {
            1
        };
        (rank, Reverse(member.value.len()))
    });
    order
}

fn share(blocks: &[&str], mut room: usize, keep: Keep) -> Vec<Fate> {
    let mut order: Vec<usize> = (0..blocks.len()).collect();
    order.sort_by_key(|&at| blocks[at].len());
    let mut fates: Vec<Fate> = blocks.iter().map(|_| Fate::LeftOut).collect();
    for at in order {
        // With its comma.
        let block = blocks[at];
        if block.len() < room {
            room -= block.len() + 1;
            fates[at] = Fate::Whole;
        } else if let Some(block) = shortened(block, room.saturating_sub(1), keep) {
            room = room.saturating_sub(block.len() + 1);
            fates[at] = Fate::Shortened(block);
        }
    }
    fates
}

/// A text block of at most so many bytes; `None` if there is no room for any text, or it has none.
fn shortened(block: &str, bytes: usize, keep: Keep) -> Option<String> {
    if json::get_string(block, "type").as_deref() != Some("text") {
        return None;
    }
    let value = json::get(block, "text")?;
    let inside = spelled::inside(value)?;
    let room = bytes.checked_sub(block.len() - inside.len())?;
    let kept = keep(inside, room);
    if kept.is_empty() {
        return None;
    }
    json::set(block, "text", &format!("\"{kept}\"")).ok()
}
