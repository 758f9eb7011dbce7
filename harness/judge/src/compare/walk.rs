//! The walk through two values at once, with a stack of its own.

use super::align::{Alignment, CELLS, Prints, align};
use super::object::{Entry, match_members};
use super::{Allowances, Comparison, Difference, MAX_DIFFERENCES, Sameness, describe};
use crate::fidelity::Fidelity;
use crate::number;
use crate::pointer::Pointer;
use crate::scan::{JsonStr, Kind, Node};

/// Beyond this many segments, or this many bytes of them, a place is named by its last ancestor
/// that is not.
const MAX_SEGMENTS: u32 = 128;
const MAX_POINTER_BYTES: u32 = 4096;

/// A place in the compared values.
#[derive(Clone, Copy)]
struct Place {
    /// Its crumb; `None` is the compared value itself.
    crumb: Option<u32>,
    /// Whether the real place is somewhere below, too deep to be named.
    beyond: bool,
    /// Whether it is inside a member that is followed by another of the same name. What differs
    /// there does not change the value of the object.
    shadowed: bool,
}

/// One step of the way to a place. Steps share their beginnings, so that naming a place costs
/// nothing until it is told.
struct Crumb<'x> {
    parent: Option<u32>,
    segment: Segment<'x>,
    segments: u32,
    bytes: u32,
}

#[derive(Clone, Copy)]
enum Segment<'x> {
    Member(JsonStr<'x>),
    /// Its position upstream and its position downstream; the same one twice where there is but
    /// one.
    Element(usize, usize),
}

/// What is still to be looked at.
enum Task<'x> {
    /// Two values that belong together.
    Pair(Place, Node<'x>, Node<'x>),
    /// A value that is missing downstream.
    Lost(Place, Node<'x>),
    /// A value that is missing upstream.
    Added(Place, Node<'x>),
}

/// One comparison under way.
pub(super) struct Walk<'a, 'x> {
    base: &'a Pointer,
    allow: &'a Allowances,
    crumbs: Vec<Crumb<'x>>,
    tasks: Vec<Task<'x>>,
    roots: Option<(Node<'x>, Node<'x>)>,
    /// Made when the first arrays have to be aligned.
    prints: Option<(Prints, Prints)>,
    cells: usize,
    found: Comparison,
}

impl<'a, 'x> Walk<'a, 'x> {
    pub(super) fn new(base: &'a Pointer, allow: &'a Allowances) -> Self {
        Self {
            base,
            allow,
            crumbs: Vec::new(),
            tasks: Vec::new(),
            roots: None,
            prints: None,
            cells: CELLS,
            found: Comparison {
                sameness: Sameness::Bytes,
                differences: Vec::new(),
                suppressed: 0,
                permitted: 0,
            },
        }
    }

    pub(super) fn run(mut self, up: Option<Node<'x>>, down: Option<Node<'x>>) -> Comparison {
        let here = Place { crumb: None, beyond: false, shadowed: false };
        match (up, down) {
            (None, None) => {}
            (Some(up), Some(down)) => {
                if up.raw() != down.raw() {
                    self.worsen(Sameness::Json);
                    self.roots = Some((up, down));
                    self.tasks.push(Task::Pair(here, up, down));
                }
            }
            (Some(up), None) => self.tasks.push(Task::Lost(here, up)),
            (None, Some(down)) => self.tasks.push(Task::Added(here, down)),
        }
        while let Some(task) = self.tasks.pop() {
            let children = self.tasks.len();
            match task {
                Task::Pair(place, up, down) => self.pair(place, up, down),
                Task::Lost(place, up) => self.one_sided(place, up, Fidelity::Lost),
                Task::Added(place, down) => self.one_sided(place, down, Fidelity::Added),
            }
            // They were pushed in document order and are taken from the top.
            self.tasks[children..].reverse();
        }
        self.found
    }

    fn pair(&mut self, place: Place, up: Node<'x>, down: Node<'x>) {
        match (up.kind(), down.kind()) {
            (Kind::Object, Kind::Object) => self.objects(place, up, down),
            (Kind::Array, Kind::Array) => self.arrays(place, up, down),
            _ if up.raw() == down.raw() => {}
            _ => {
                let sameness = scalars(up, down);
                let detail = || describe::change(up, down, sameness < Sameness::Different);
                self.altered(place, (up, down), sameness, detail);
            }
        }
    }

    fn objects(&mut self, place: Place, up: Node<'x>, down: Node<'x>) {
        let matching = match_members(up, down);
        if matching.reordered {
            let detail = || "member order changed".to_owned();
            self.altered(place, (up, down), Sameness::Value, detail);
        }
        for entry in matching.entries {
            match entry {
                Entry::OnlyUp(member) => {
                    let place = self.member(place, member.key);
                    self.tasks.push(Task::Lost(place, member.value));
                }
                Entry::OnlyDown(member) => {
                    let place = self.member(place, member.key);
                    self.tasks.push(Task::Added(place, member.value));
                }
                Entry::Both { up, down, shadowed } => {
                    let place = Place { shadowed: place.shadowed || shadowed, ..place };
                    self.member_names(place, up.key, down.key, (up.value, down.value));
                    self.queue(place, Segment::Member(up.key), (up.value, down.value));
                }
                Entry::Repeated { up, down, counts } => {
                    let values = (up.value, down.value);
                    let member = self.member(place, up.key);
                    self.altered(member, values, Sameness::Value, || describe::repetition(counts));
                    self.queue(place, Segment::Member(up.key), values);
                }
            }
        }
    }

    /// Tells when the same name is written otherwise.
    fn member_names(
        &mut self,
        place: Place,
        up: JsonStr<'x>,
        down: JsonStr<'x>,
        values: (Node<'x>, Node<'x>),
    ) {
        if up.raw() != down.raw() {
            let member = self.member(place, up);
            let detail = || describe::spelling("member name", up.raw(), down.raw());
            self.altered(member, values, Sameness::Json, detail);
        }
    }

    fn arrays(&mut self, place: Place, up: Node<'x>, down: Node<'x>) {
        let ups: Vec<_> = up.items().collect();
        let downs: Vec<_> = down.items().collect();
        let Alignment { pairs, moved } = self.alignment(&ups, &downs);
        let mut partner = vec![None; ups.len()];
        let mut free = vec![true; downs.len()];
        for &(at_up, at_down) in pairs.iter().chain(&moved) {
            partner[at_up] = Some(at_down);
            free[at_down] = false;
        }
        for &(at_up, at_down) in &moved {
            let element = self.step(place, Segment::Element(at_up, at_down));
            let detail = || format!("element moved from position {at_up} to {at_down}");
            self.altered(element, (ups[at_up], downs[at_down]), Sameness::Different, detail);
        }
        for (at_up, (&up, partner)) in ups.iter().zip(partner).enumerate() {
            if let Some(at_down) = partner {
                self.queue(place, Segment::Element(at_up, at_down), (up, downs[at_down]));
            } else {
                let element = self.step(place, Segment::Element(at_up, at_up));
                self.tasks.push(Task::Lost(element, up));
            }
        }
        for (at_down, &down) in downs.iter().enumerate().filter(|&(at, _)| free[at]) {
            let element = self.step(place, Segment::Element(at_down, at_down));
            self.tasks.push(Task::Added(element, down));
        }
    }

    fn alignment(&mut self, ups: &[Node<'x>], downs: &[Node<'x>]) -> Alignment {
        let trivial = ups.len() <= 1 && downs.len() <= 1;
        let Some((up, down)) = self.roots.filter(|_| !trivial) else {
            let pairs = (0..ups.len().min(downs.len())).map(|at| (at, at)).collect();
            return Alignment { pairs, moved: Vec::new() };
        };
        let (up_prints, down_prints) =
            self.prints.get_or_insert_with(|| (Prints::of(up), Prints::of(down)));
        let ups: Vec<_> = ups.iter().map(|&node| up_prints.get(node)).collect();
        let downs: Vec<_> = downs.iter().map(|&node| down_prints.get(node)).collect();
        align(&ups, &downs, &mut self.cells)
    }

    /// A value that only one leg has. Where an allowance names something inside it, its parts are
    /// judged one by one.
    fn one_sided(&mut self, place: Place, node: Node<'x>, fidelity: Fidelity) {
        if !place.beyond && self.allow.reach_below(fidelity, &self.pointer(place, fidelity)) {
            let task = if fidelity == Fidelity::Lost { Task::Lost } else { Task::Added };
            let before = self.tasks.len();
            for member in node.members() {
                let place = self.member(place, member.key);
                self.tasks.push(task(place, member.value));
            }
            for (at, item) in node.items().enumerate() {
                let place = self.step(place, Segment::Element(at, at));
                self.tasks.push(task(place, item));
            }
            if self.tasks.len() > before {
                return;
            }
        }
        let what = match place.crumb.map(|crumb| self.crumbs[crumb as usize].segment) {
            None => "value",
            Some(Segment::Member(_)) => "member",
            Some(Segment::Element(..)) => "element",
        };
        let detail = || match (fidelity, node.kind()) {
            (Fidelity::Lost, Kind::Null) => "null became absent".to_owned(),
            (Fidelity::Lost, _) => format!("{what} removed: {}", describe::excerpt(node.raw())),
            (_, Kind::Null) => "absent became null".to_owned(),
            _ => format!("{what} added: {}", describe::excerpt(node.raw())),
        };
        let (up, down) = match fidelity {
            Fidelity::Lost => (Some(node), None),
            _ => (None, Some(node)),
        };
        self.tell(place, fidelity, Sameness::Different, (up, down), detail);
    }

    /// Queues a pair, unless a glance shows that there is nothing to tell.
    fn queue(&mut self, place: Place, segment: Segment<'x>, (up, down): (Node<'x>, Node<'x>)) {
        let scalar = |node: Node<'_>| !matches!(node.kind(), Kind::Object | Kind::Array);
        if scalar(up) && up.raw() == down.raw() {
            return;
        }
        let place = self.step(place, segment);
        self.tasks.push(Task::Pair(place, up, down));
    }

    fn altered(
        &mut self,
        place: Place,
        (up, down): (Node<'x>, Node<'x>),
        sameness: Sameness,
        detail: impl FnOnce() -> String,
    ) {
        let both = (Some(up), Some(down));
        self.tell(place, Fidelity::Altered, sameness, both, detail);
    }

    fn tell(
        &mut self,
        place: Place,
        fidelity: Fidelity,
        sameness: Sameness,
        (up, down): (Option<Node<'x>>, Option<Node<'x>>),
        detail: impl FnOnce() -> String,
    ) {
        let full = self.found.differences.len() >= MAX_DIFFERENCES;
        let pointer = if full && self.allow.is_empty() {
            Pointer::root()
        } else {
            self.pointer(place, fidelity)
        };
        if self.allow.permits(fidelity, &pointer) {
            self.found.permitted += 1;
            self.worsen(Sameness::Json);
            return;
        }
        let sameness = if place.shadowed { sameness.min(Sameness::Value) } else { sameness };
        self.worsen(sameness);
        if full {
            self.found.suppressed += 1;
            return;
        }
        let beyond = if place.beyond { "too deep to be named: " } else { "" };
        self.found.differences.push(Difference {
            pointer,
            fidelity,
            sameness,
            detail: format!("{beyond}{}", detail()),
            up: up.map(Node::span),
            down: down.map(Node::span),
        });
    }

    fn worsen(&mut self, sameness: Sameness) {
        self.found.sameness = self.found.sameness.max(sameness);
    }

    fn member(&mut self, place: Place, key: JsonStr<'x>) -> Place {
        self.step(place, Segment::Member(key))
    }

    /// The place one step below another.
    fn step(&mut self, place: Place, segment: Segment<'x>) -> Place {
        let (segments, bytes) = place.crumb.map_or((0, 0), |crumb| {
            let crumb = &self.crumbs[crumb as usize];
            (crumb.segments, crumb.bytes)
        });
        let length = match segment {
            Segment::Member(key) => key.raw().len() as u32,
            Segment::Element(..) => 8,
        };
        let bytes = bytes.saturating_add(length);
        if place.beyond || segments >= MAX_SEGMENTS || bytes > MAX_POINTER_BYTES {
            return Place { beyond: true, ..place };
        }
        self.crumbs.push(Crumb { parent: place.crumb, segment, segments: segments + 1, bytes });
        Place { crumb: Some(self.crumbs.len() as u32 - 1), ..place }
    }

    /// Names a place as seen from the leg on which the value stands, from the root of its document.
    fn pointer(&self, place: Place, fidelity: Fidelity) -> Pointer {
        let mut segments = Vec::new();
        let mut at = place.crumb;
        while let Some(crumb) = at {
            let crumb = &self.crumbs[crumb as usize];
            segments.push(crumb.segment);
            at = crumb.parent;
        }
        let mut pointer = self.base.clone();
        for segment in segments.into_iter().rev() {
            match segment {
                Segment::Member(key) => pointer.push(&key.text()),
                Segment::Element(_, down) if fidelity == Fidelity::Added => {
                    pointer.push_index(down);
                }
                Segment::Element(up, _) => pointer.push_index(up),
            }
        }
        pointer
    }
}

/// How far two values agree that are not written alike and not both containers of one kind.
fn scalars(up: Node<'_>, down: Node<'_>) -> Sameness {
    let same_string = matches!((up.string(), down.string()), (Some(up), Some(down)) if up == down);
    if same_string {
        return Sameness::Json;
    }
    match (up.number(), down.number()) {
        (Some(up), Some(down)) if number::same_value(up, down) == Some(true) => Sameness::Value,
        _ => Sameness::Different,
    }
}
