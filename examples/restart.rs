//! Restart, as restart.c has it, in Rust: when a rank fails, all ranks begin again.
//!
//!     rustc --edition 2021 --crate-type cdylib -O -C panic=abort -o restart.so restart.rs
//!
//! The first part says the door (recline/protocol.h, version 17) again. Of its fields this protocol
//! needs few; their order and sizes must be those of the header, which recline compares by the
//! version alone.
#![no_std]
#![allow(dead_code, non_upper_case_globals)]

use core::ffi::c_void;
use core::mem::size_of;
use core::ptr::null;

const DOOR: u32 = 17;
const FRESH: u32 = 0;

#[repr(C)]
pub struct Config {
    own: i16,
    ranks: i16,
    capacity: u32,
    parameter: [u32; 4],
    neighbours: *const u32,
}

#[repr(C)]
pub struct Event {
    kind: u8,
    part: u8,
    wildcard: u8,
    flow: u8,
    closed: u8,
    makes: u8,
    pad: [u8; 2],
    peer: i16,
    comm: i16,
    tag: i32,
    request: u32,
    bytes: u32,
    checkpoint: u32,
    outcome: u32,
    words: [u32; 3],
}

const START: u8 = 1;
const DOWN: u8 = 2;
const SEND: u8 = 4;
const RECEIVE: u8 = 5;
const ARRIVED: u8 = 11;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Action {
    kind: u8,
    part: u8,
    reason: u8,
    bare: u8,
    peer: i16,
    comm: i16,
    tag: i32,
    request: u32,
    slot: u32,
    checkpoint: u32,
    outcome: u32,
    words: [u32; 3],
    after: [i8; 3],
    pad: u8,
}

const TRANSMIT: u8 = 1;
const MATCH: u8 = 3;
const DELIVER: u8 = 4;
const ROLL_BACK: u8 = 20;

const NO_ACTION: Action = Action {
    kind: 0,
    part: 0,
    reason: 0,
    bare: 0,
    peer: 0,
    comm: 0,
    tag: 0,
    request: 0,
    slot: 0,
    checkpoint: 0,
    outcome: 0,
    words: [0; 3],
    after: [0; 3],
    pad: 0,
};

#[repr(C)]
pub struct Actions {
    count: u32,
    capacity: u32,
    overflow: bool,
    item: *mut Action,
}

type Text = *const u8; // ends with a zero

#[repr(C)]
pub struct Protocol {
    name: Text,
    title: Text,
    piggyback_bytes: u32,
    call_bytes: u32,
    header: bool,
    control_bytes: u32,
    level: u32,
    collectives: bool,
    reconnects: bool,
    independent: bool,
    clocks: bool,
    piggybacks: bool,
    daemon: bool,
    barrier_words: bool,
    controls: *const Text,
    invariants: *const Text,
    parameters: *const Text,
    captures_at: Text,
    promises: *const Text,
    phases: *const c_void,
    state_size: unsafe extern "C" fn(*const Config) -> usize,
    in_use: *const c_void,
    step: unsafe extern "C" fn(*const Config, *mut c_void, *const Event, *mut Actions),
    work: *const c_void,
    violated_invariant: unsafe extern "C" fn(*const Config, *const c_void) -> i32,
    permute_ranks: *const c_void,
    variant: *const Protocol,
    place: *const c_void,
    line: *const c_void,
    spins: u64,
}

const _: () = assert!(size_of::<Config>() == 24 + size_of::<*const u32>());
const _: () = assert!(size_of::<Event>() == 44 && size_of::<Action>() == 44);
const _: () = assert!(size_of::<Protocol>() == 176 || size_of::<usize>() != 8);

/// What is constant, and found by name in the shared object.
#[repr(transparent)]
pub struct Constant<T>(T);
unsafe impl<T> Sync for Constant<T> {}

// ---- the protocol ----

#[repr(C)]
struct State {
    begun: u32, // starts of this memory: a restart from FRESH begins with zeroes
    told: u32,
}

static INVARIANTS: Constant<[Text; 2]> =
    Constant([b"a rank begins once, and once more for each failure\0".as_ptr(), null()]);

unsafe extern "C" fn state_size(_: *const Config) -> usize {
    size_of::<State>()
}

unsafe fn act(actions: *mut Actions, action: Action) {
    if (*actions).count == (*actions).capacity {
        (*actions).overflow = true;
        return;
    }
    *(*actions).item.add((*actions).count as usize) = action;
    (*actions).count += 1;
}

unsafe extern "C" fn step(_: *const Config, memory: *mut c_void, event: *const Event, actions: *mut Actions) {
    let state = &mut *(memory as *mut State);
    let event = &*event;
    let request = event.request;
    match event.kind {
        START => state.begun += 1,
        SEND => act(actions, Action { kind: TRANSMIT, ..NO_ACTION }),
        RECEIVE => {
            act(actions, Action { kind: MATCH, request, peer: event.peer, tag: event.tag, ..NO_ACTION })
        }
        ARRIVED => act(actions, Action { kind: DELIVER, request, ..NO_ACTION }),
        DOWN => {
            state.told += 1;
            act(actions, Action { kind: ROLL_BACK, checkpoint: FRESH, ..NO_ACTION })
        }
        _ => {}
    }
}

unsafe extern "C" fn violated_invariant(_: *const Config, memory: *const c_void) -> i32 {
    let state = &*(memory as *const State);
    (state.begun > state.told + 1) as i32
}

static RESTART: Constant<Protocol> = Constant(Protocol {
    name: b"restart\0".as_ptr(),
    title: b"begin again from the start\0".as_ptr(),
    piggyback_bytes: 0,
    call_bytes: 0,
    header: false,
    control_bytes: 12,
    level: 0,
    collectives: false,
    reconnects: false,
    independent: false,
    clocks: false,
    piggybacks: false,
    daemon: false,
    barrier_words: false,
    controls: null(),
    invariants: &INVARIANTS.0 as *const Text,
    parameters: null(),
    captures_at: null(),
    promises: null(),
    phases: null(),
    state_size,
    in_use: null(),
    step,
    work: null(),
    violated_invariant,
    permute_ranks: null(),
    variant: null(),
    place: null(),
    line: null(),
    spins: 0,
});

#[no_mangle]
pub static recline_door: u32 = DOOR;
#[no_mangle]
pub static recline_protocols: Constant<[*const Protocol; 2]> = Constant([&RESTART.0, null()]);

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}
