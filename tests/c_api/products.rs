// A product, an error and a layout through the declarations for Rust.
#[allow(dead_code)]
mod tessera;
use std::ffi::{CStr, CString};
use tessera::*;

fn matrix(data: &mut [f64], rows: i64, cols: i64) -> tessera_matrix {
    tessera_matrix { data: data.as_mut_ptr().cast(), dtype: TESSERA_F64, rows, cols, row_stride: cols, col_stride: 1 }
}

fn main() {
    let (mut a, mut b, mut c) = ([1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [0.0; 4]);
    let (a, b, c_view) = (matrix(&mut a, 2, 2), matrix(&mut b, 2, 2), matrix(&mut c, 2, 2));
    let options = tessera_options::default();
    unsafe {
        assert_eq!(tessera_matmul(&a, &b, &c_view, std::ptr::null(), &options), TESSERA_OK);
        let mut check = tessera_check { size: std::mem::size_of::<tessera_check>(), ..Default::default() };
        assert_eq!(tessera_check_product(&mut check, &a, &b, &c_view, std::ptr::null(), std::ptr::null(), &options), TESSERA_OK);
        assert_eq!((check.within_bound, check.same_bits), (1, 1));
        let mut wrong = b;
        wrong.rows = 3;
        assert_eq!(tessera_matmul(&a, &wrong, &c_view, std::ptr::null(), &options), TESSERA_INVALID);
        assert!(CStr::from_ptr(tessera_error()).to_str().unwrap().contains("3 rows"));
        let text = CString::new("(4,2):(2,1)").unwrap();
        let mut layout = std::ptr::null_mut();
        assert_eq!(tessera_layout_make(&mut layout, text.as_ptr()), TESSERA_OK);
        let mut offset = 0;
        assert_eq!(tessera_layout_offset(layout, 5, &mut offset), TESSERA_OK);
        assert_eq!(offset, 3);
        tessera_layout_free(layout);
        let mut device = tessera_device { size: std::mem::size_of::<tessera_device>(), name: [0; 16], full_name: [0; 128], bytes: 0 };
        let mut count = 0;
        assert_eq!(tessera_devices(&mut device, 1, &mut count), TESSERA_OK);
        assert_eq!(CStr::from_ptr(device.name.as_ptr()).to_str().unwrap(), "cpu");
    }
    assert_eq!(c, [19.0, 22.0, 43.0, 50.0]);
}
