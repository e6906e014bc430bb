! The C interface of Tessera (tessera/tessera.h) for Fortran: `use tessera`, link with -ltessera_c.
!
!   call tessera_multiply(a, b, c, status)          c = a * b, arrays of real64 or real32, sections allowed
!   if (status /= tessera_ok) print *, tessera_message()
module tessera
  use, intrinsic :: iso_c_binding
  implicit none
  private

  integer(c_int), parameter, public :: tessera_ok = 0, tessera_failed = 1, tessera_invalid = 2, tessera_unavailable = 4
  integer(c_int), parameter, public :: tessera_f64 = 0, tessera_f32 = 1, tessera_f16 = 2, tessera_bf16 = 3, tessera_i32 = 4, &
                                       tessera_i8 = 5, tessera_u8 = 6
  integer(c_int), parameter, public :: tessera_no_bias = 0, tessera_bias_per_row = 1, tessera_bias_per_column = 2
  integer(c_int), parameter, public :: tessera_no_activation = 0, tessera_relu = 1, tessera_gelu = 2, tessera_silu = 3

  ! Element (i, j), counted from 0, is at data + i * row_stride + j * col_stride, in elements.
  type, bind(c), public :: tessera_matrix
    type(c_ptr) :: data = c_null_ptr
    integer(c_int) :: dtype = tessera_f64
    integer(c_int64_t) :: rows = 0, cols = 0, row_stride = 1, col_stride = 0
  end type

  type, bind(c), public :: tessera_options
    integer(c_size_t) :: size = 0  ! tessera_default_options() sets it
    real(c_double) :: alpha = 1, beta = 0
    integer(c_int) :: bias = tessera_no_bias, activation = tessera_no_activation
    type(c_ptr) :: algorithm = c_null_ptr, arithmetic = c_null_ptr
    integer(c_int) :: threads = 0
  end type

  interface
    function tessera_matmul(a, b, c, bias, options) bind(c) result(status)
      import
      type(tessera_matrix), intent(in) :: a, b, c
      type(c_ptr), value :: bias
      type(tessera_options), intent(in) :: options
      integer(c_int) :: status
    end function
    function tessera_plan_make(plan, a, b, c, options) bind(c) result(status)
      import
      type(c_ptr), intent(out) :: plan
      type(tessera_matrix), intent(in) :: a, b, c
      type(tessera_options), intent(in) :: options
      integer(c_int) :: status
    end function
    function tessera_plan_run(plan, a, b, c, bias) bind(c) result(status)
      import
      type(c_ptr), value :: plan, bias
      type(tessera_matrix), intent(in) :: a, b, c
      integer(c_int) :: status
    end function
    subroutine tessera_plan_free(plan) bind(c)
      import
      type(c_ptr), value :: plan
    end subroutine
    function tessera_pack(packed, b, dtype_of_a) bind(c) result(status)
      import
      type(c_ptr), intent(out) :: packed
      type(tessera_matrix), intent(in) :: b
      integer(c_int), value :: dtype_of_a
      integer(c_int) :: status
    end function
    function tessera_packed_matmul(a, packed, c, bias, options) bind(c) result(status)
      import
      type(tessera_matrix), intent(in) :: a, c
      type(c_ptr), value :: packed, bias
      type(tessera_options), intent(in) :: options
      integer(c_int) :: status
    end function
    subroutine tessera_packed_free(packed) bind(c)
      import
      type(c_ptr), value :: packed
    end subroutine
    function tessera_error() bind(c) result(text)
      import
      type(c_ptr) :: text
    end function
    function tessera_version() bind(c) result(text)
      import
      type(c_ptr) :: text
    end function
    function c_strlen(text) bind(c, name="strlen") result(length)
      import
      type(c_ptr), value :: text
      integer(c_size_t) :: length
    end function
  end interface

  interface tessera_multiply
    procedure multiply_f64, multiply_f32
  end interface
  interface tessera_view
    procedure view_f64, view_f32
  end interface

  public :: tessera_multiply, tessera_view, tessera_matmul, tessera_plan_make, tessera_plan_run, tessera_plan_free, tessera_pack, &
            tessera_packed_matmul, tessera_packed_free, tessera_default_options, tessera_message, tessera_version_text

contains

  function tessera_default_options() result(options)
    type(tessera_options) :: options
    options%size = c_sizeof(options)
  end function

  ! Why the last call failed.
  function tessera_message() result(text)
    character(:), allocatable :: text
    text = fortran_text(tessera_error())
  end function

  function tessera_version_text() result(text)
    character(:), allocatable :: text
    text = fortran_text(tessera_version())
  end function

  function fortran_text(from) result(text)
    type(c_ptr), intent(in) :: from
    character(:), allocatable :: text
    character(c_char), pointer :: letters(:)
    integer :: i
    call c_f_pointer(from, letters, [c_strlen(from)])
    allocate (character(size(letters)) :: text)
    do i = 1, size(letters)
      text(i:i) = letters(i)
    end do
  end function

  ! The matrix of an array or of a section of one, without a copy.
  function view_f64(array) result(view)
    real(c_double), intent(in), target :: array(:, :)
    type(tessera_matrix) :: view
    type(c_ptr) :: below, right
    view%dtype = tessera_f64
    below = c_null_ptr
    right = c_null_ptr
    if (size(array) > 0) view%data = c_loc(array(1, 1))
    if (size(array) > 0 .and. size(array, 1) > 1) below = c_loc(array(2, 1))
    if (size(array) > 0 .and. size(array, 2) > 1) right = c_loc(array(1, 2))
    call set_strides(view, shape(array, c_int64_t), below, right, 8_c_int64_t)
  end function

  function view_f32(array) result(view)
    real(c_float), intent(in), target :: array(:, :)
    type(tessera_matrix) :: view
    type(c_ptr) :: below, right
    view%dtype = tessera_f32
    below = c_null_ptr
    right = c_null_ptr
    if (size(array) > 0) view%data = c_loc(array(1, 1))
    if (size(array) > 0 .and. size(array, 1) > 1) below = c_loc(array(2, 1))
    if (size(array) > 0 .and. size(array, 2) > 1) right = c_loc(array(1, 2))
    call set_strides(view, shape(array, c_int64_t), below, right, 4_c_int64_t)
  end function

  ! From the addresses of the first element and of its neighbours below and to the right; null where there is none.
  subroutine set_strides(view, extents, below, right, bytes)
    type(tessera_matrix), intent(inout) :: view
    integer(c_int64_t), intent(in) :: extents(2), bytes
    type(c_ptr), intent(in) :: below, right
    integer(c_intptr_t) :: at
    view%rows = extents(1)
    view%cols = extents(2)
    view%row_stride = 1
    if (c_associated(below)) view%row_stride = (transfer(below, at) - transfer(view%data, at)) / bytes
    view%col_stride = max(1_c_int64_t, extents(1)) * view%row_stride
    if (c_associated(right)) view%col_stride = (transfer(right, at) - transfer(view%data, at)) / bytes
  end subroutine

  subroutine multiply_f64(a, b, c, status, options)
    real(c_double), intent(in), target :: a(:, :), b(:, :)
    real(c_double), intent(inout), target :: c(:, :)
    integer(c_int), intent(out) :: status
    type(tessera_options), intent(in), optional :: options
    type(tessera_options) :: how
    how = tessera_default_options()
    if (present(options)) how = options
    status = tessera_matmul(tessera_view(a), tessera_view(b), tessera_view(c), c_null_ptr, how)
  end subroutine

  subroutine multiply_f32(a, b, c, status, options)
    real(c_float), intent(in), target :: a(:, :), b(:, :)
    real(c_float), intent(inout), target :: c(:, :)
    integer(c_int), intent(out) :: status
    type(tessera_options), intent(in), optional :: options
    type(tessera_options) :: how
    how = tessera_default_options()
    if (present(options)) how = options
    status = tessera_matmul(tessera_view(a), tessera_view(b), tessera_view(c), c_null_ptr, how)
  end subroutine
end module
