//! The C interface of Tessera (tessera/tessera.h) as Rust declarations; link with `-l tessera_c`. Everything is unsafe here: a safe
//! wrapper owns plans, packed matrices and layouts, frees them in `Drop`, and keeps the slices of its matrices alive.
#![allow(non_camel_case_types)]

use std::os::raw::{c_char, c_int, c_void};

pub const TESSERA_OK: c_int = 0;
pub const TESSERA_FAILED: c_int = 1;
pub const TESSERA_INVALID: c_int = 2;
pub const TESSERA_UNAVAILABLE: c_int = 4;

pub const TESSERA_F64: c_int = 0;
pub const TESSERA_F32: c_int = 1;
pub const TESSERA_F16: c_int = 2;
pub const TESSERA_BF16: c_int = 3;
pub const TESSERA_I32: c_int = 4;
pub const TESSERA_I8: c_int = 5;
pub const TESSERA_U8: c_int = 6;

/// Element (i, j) is at data[i * row_stride + j * col_stride]; strides in elements.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tessera_matrix {
    pub data: *mut c_void,
    pub dtype: c_int,
    pub rows: i64,
    pub cols: i64,
    pub row_stride: i64,
    pub col_stride: i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tessera_options {
    pub size: usize,
    pub alpha: f64,
    pub beta: f64,
    pub bias: c_int,
    pub activation: c_int,
    pub algorithm: *const c_char,
    pub arithmetic: *const c_char,
    pub threads: c_int,
}

impl Default for tessera_options {
    fn default() -> Self {
        tessera_options {
            size: std::mem::size_of::<tessera_options>(),
            alpha: 1.0,
            beta: 0.0,
            bias: 0,
            activation: 0,
            algorithm: std::ptr::null(),
            arithmetic: std::ptr::null(),
            threads: 0,
        }
    }
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct tessera_check {
    pub size: usize,
    pub within_bound: c_int,
    pub same_bits: c_int,
    pub max_error_ratio: f64,
    pub outside: i64,
    pub row: i64,
    pub col: i64,
    pub expected: f64,
    pub got: f64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tessera_device {
    pub size: usize,
    pub name: [c_char; 16],
    pub full_name: [c_char; 128],
    pub bytes: u64,
}

#[repr(C)]
pub struct tessera_plan {
    _private: [u8; 0],
}
#[repr(C)]
pub struct tessera_packed {
    _private: [u8; 0],
}
#[repr(C)]
pub struct tessera_layout {
    _private: [u8; 0],
}

extern "C" {
    pub fn tessera_version() -> *const c_char;
    pub fn tessera_error() -> *const c_char;
    pub fn tessera_matmul(a: *const tessera_matrix, b: *const tessera_matrix, c: *const tessera_matrix, bias: *const c_void,
                          options: *const tessera_options) -> c_int;
    pub fn tessera_plan_make(plan: *mut *mut tessera_plan, a: *const tessera_matrix, b: *const tessera_matrix,
                             c: *const tessera_matrix, options: *const tessera_options) -> c_int;
    pub fn tessera_plan_text(plan: *const tessera_plan) -> *const c_char;
    pub fn tessera_plan_run(plan: *const tessera_plan, a: *const tessera_matrix, b: *const tessera_matrix, c: *const tessera_matrix,
                            bias: *const c_void) -> c_int;
    pub fn tessera_plan_free(plan: *mut tessera_plan);
    pub fn tessera_pack(packed: *mut *mut tessera_packed, b: *const tessera_matrix, dtype_of_a: c_int) -> c_int;
    pub fn tessera_packed_bytes(packed: *const tessera_packed) -> usize;
    pub fn tessera_packed_matmul(a: *const tessera_matrix, packed: *const tessera_packed, c: *const tessera_matrix,
                                 bias: *const c_void, options: *const tessera_options) -> c_int;
    pub fn tessera_packed_free(packed: *mut tessera_packed);
    pub fn tessera_check_product(check: *mut tessera_check, a: *const tessera_matrix, b: *const tessera_matrix,
                                 c: *const tessera_matrix, c_before: *const tessera_matrix, bias: *const c_void,
                                 options: *const tessera_options) -> c_int;
    pub fn tessera_layout_make(layout: *mut *mut tessera_layout, expression: *const c_char) -> c_int;
    pub fn tessera_layout_text(layout: *const tessera_layout) -> *const c_char;
    pub fn tessera_layout_size(layout: *const tessera_layout) -> i64;
    pub fn tessera_layout_offset(layout: *const tessera_layout, index: i64, offset: *mut i64) -> c_int;
    pub fn tessera_layout_free(layout: *mut tessera_layout);
    pub fn tessera_devices(devices: *mut tessera_device, most: c_int, count: *mut c_int) -> c_int;
}
