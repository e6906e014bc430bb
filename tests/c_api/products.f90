! Products through the module for Fortran; stops with what is wrong.
program products
  use, intrinsic :: iso_c_binding
  use tessera
  implicit none
  real(c_double) :: a(19, 31), b(31, 23), c(19, 23), wide(60, 70)
  real(c_float) :: a4(19, 31), b4(31, 23), c4(19, 23)
  integer(c_int) :: status
  type(c_ptr) :: plan, packed
  type(tessera_options) :: options

  call random_number(a)
  call random_number(b)
  call tessera_multiply(a, b, c, status)
  if (status /= tessera_ok) error stop "f64: status"
  if (maxval(abs(c - matmul(a, b))) > 1e-12) error stop "f64: result"
  a4 = real(a, c_float)
  b4 = real(b, c_float)
  call tessera_multiply(a4, b4, c4, status)
  if (status /= tessera_ok .or. maxval(abs(c4 - matmul(a4, b4))) > 1e-4) error stop "f32"

  ! A section is a matrix with other strides; what lies between its elements stays as it is.
  wide = -1
  call tessera_multiply(a, b, wide(2:38:2, 1:67:3), status)
  if (status /= tessera_ok .or. maxval(abs(wide(2:38:2, 1:67:3) - c)) > 0) error stop "section: result"
  if (count(wide == -1) /= size(wide) - size(c)) error stop "section: written between"

  options = tessera_default_options()
  options%alpha = 2
  options%beta = 1
  call tessera_multiply(a, b, c, status, options)
  if (status /= tessera_ok .or. maxval(abs(c - 3 * matmul(a, b))) > 1e-11) error stop "alpha and beta"

  if (tessera_plan_make(plan, tessera_view(a), tessera_view(b), tessera_view(c), tessera_default_options()) /= tessera_ok) &
    error stop "plan"
  if (tessera_plan_run(plan, tessera_view(a), tessera_view(b), tessera_view(c), c_null_ptr) /= tessera_ok) error stop "run"
  call tessera_plan_free(plan)
  if (maxval(abs(c - matmul(a, b))) > 1e-12) error stop "plan: result"
  if (tessera_pack(packed, tessera_view(b), tessera_f64) /= tessera_ok) error stop "pack"
  if (tessera_packed_matmul(tessera_view(a), packed, tessera_view(c), c_null_ptr, tessera_default_options()) /= tessera_ok) &
    error stop "packed"
  call tessera_packed_free(packed)

  call tessera_multiply(a, b(1:30, :), c, status)
  if (status /= tessera_invalid) error stop "shapes that do not fit"
  if (index(tessera_message(), "31") == 0) error stop "message"
  if (len(tessera_version_text()) < 5) error stop "version"
end program
