! Returns memory from ALLOCATE, which nobody has written.
function allocate_in_fortran(bytes) bind(c) result(memory)
  use iso_c_binding
  implicit none
  integer(c_int), value :: bytes
  type(c_ptr) :: memory
  character(c_char), pointer :: items(:)
  allocate (items(bytes))
  memory = c_loc(items(1))
end function
