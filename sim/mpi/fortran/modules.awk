# Writes what Fortran programs use, from the tables `constants` and `procedures`. `output` is one of
#
#     values   a program in C, which prints the integers that SMPI's mpif.h does not have
#     numbers  the types and operations that fortran_begin() registers, and their numbers
#     mpif     mpif.h: SMPI's file, with the constants that it lacks
#     types    the module of handles and statuses, which the other two use
#     mpi      module mpi
#     mpi_f08  module mpi_f08: interfaces alone, so there is no object file of any module
#     c        what the interfaces of mpi_f08 and the handles call, for the layer
#     calls    for tests: a program with calls of all procedures of mpi_f08, by names of arguments
#
#     awk -v output=mpi_f08 -f modules.awk constants mpif.h [values] [fortran_symbols] procedures
#
# `values` is what that program has printed; fortran_symbols has the names of FORTRAN 77 that the
# layer has. Each procedure of mpi_f08 is called NAME_f08, as MPI says of a library without
# descriptors, and passes its arguments on; a missing ierror is a null pointer there.

BEGIN {
  handles = split("comm type group op request info win file errhandler message session", kinds, " ")
  split("Comm Datatype Group Op Request Info Win File Errhandler Message Session", types, " ")
  for (i = 1; i <= handles; i++) {
    handle[kinds[i]] = "MPI_" types[i]
    declared[kinds[i]] = "type(MPI_" types[i] ")"
  }
  declared["int"] = declared["integer"] = "integer"
  declared["aint"] = "integer(MPI_ADDRESS_KIND)"
  declared["offset"] = "integer(MPI_OFFSET_KIND)"
  declared["count"] = "integer(MPI_COUNT_KIND)"
  declared["double"] = "double precision"
  declared["logical"] = "logical"
  declared["text"] = "character(len=*)"
  declared["status"] = "type(MPI_Status)"
  declared["pointer"] = "type(c_ptr)"
  declared["address"] = "type(c_ptr), value"
  declared["choice"] = "type(*), dimension(*), intent(in)"
  declared["buffer"] = "type(*), dimension(*)"
  numbers = 0
}

/^ *[!#]/ || /^[ \t]*$/ { next }

# Reads SMPI's mpif.h, whose numbers for handles are consecutive.
FILENAME ~ /mpif\.h$/ {
  if (match($0, /^ *(parameter|PARAMETER) *\( *MPI_[A-Z0-9_]+ *= *-?[0-9]+ *\)/)) {
    text = $0
    gsub(/^[^(]*\(|\).*$| /, "", text)
    split(text, part, "=")
    value[part[1]] = part[2]
    in_smpi[part[1]] = 1
  }
  next
}

FILENAME ~ /values$/ {
  value[$1] = $2
  next
}

FILENAME ~ /fortran_symbols$/ {
  available[$1] = 1
  next
}

FILENAME ~ /constants$/ {
  for (i = 2; i <= NF; i++) {
    split($i, part, "=")
    order[++constants] = part[1]
    kind[part[1]] = $1
    meant[part[1]] = part[2]
  }
  next
}

# A procedure ends where the next one begins.
/^[a-zA-Z]/ { procedure(whole) ; whole = "" }
{ whole = whole " " $0 }

END {
  procedure(whole)
  for (i = 1; i <= constants; i++)
    settle(order[i])
  if (output == "values")
    write_values()
  else if (output == "numbers")
    write_numbers()
  else if (output == "mpif")
    write_mpif()
  else if (output == "types")
    write_types()
  else if (output == "mpi")
    write_mpi()
  else if (output == "mpi_f08")
    write_mpi_f08()
  else if (output == "c")
    write_c()
  else
    write_calls()
}

# ---- the tables ----

# Returns whether the C compiler has to tell the value: SMPI's mpif.h has other numbers for classes
# of errors than its functions use.
function of_c(name) {
  return kind[name] == "integer" && meant[name] == "" &&
    (name ~ /^MPI_(ERR_|ROOT$)/ || !(name in in_smpi))
}

function settle(name,   i) {
  if (meant[name] != "")
    value[name] = meant[name] in value ? value[meant[name]] : meant[name]
  else if (!(name in value) && (kind[name] == "type" || kind[name] == "op")) {
    for (i in in_smpi)
      if ((kind[i] ~ /^(type|op|errhandler)$/ || i ~ /^MPI_[LU]B$/) && value[i] >= next_number)
        next_number = value[i] + 1
    value[name] = next_number++
    added[++numbers] = name
  }
}

function procedure(text,   at, head, list, count, i, words) {
  if (text == "")
    return
  at = index(text, ":")
  head = substr(text, 1, at - 1)
  count = split(head, words, " ")
  if (words[count] in result)
    return
  if (count > 1 && words[1] != "callback")
    result[words[count]] = words[1]
  else
    result[words[count]] = ""
  text = substr(text, at + 1)
  if (words[1] == "callback") {
    callback[++callbacks] = words[count]
    arguments[words[count]] = text
  } else if ((tolower(words[count]) "_") in available) {
    called[++procedures] = words[count]
    arguments[words[count]] = text
    if ((tolower(words[count]) "_c_") in available)
      enlarge(words[count])
  }
}

# Adds the same procedure with large counts as `NAME_c`; in Fortran 2008 both have the same name.
# There is none if no kind changes, because addresses are as wide as counts.
function enlarge(name,   count, i, text, kind, changes) {
  count = read_arguments(name)
  for (i = 1; i <= count; i++) {
    kind = kind_of[i]
    if (kind == "int" && name_of[i] ~ /displs$|^disp_unit$/)
      kind = "aint"
    else if (kind == "int" && name_of[i] ~ /(counts?|size|blocklengths?|stride|position)$/)
      kind = "count"
    else if (kind == "int" && name_of[i] ~ /^array_of_(sizes|subsizes|starts|displacements)$/)
      kind = "count"
    changes += kind != kind_of[i]
    if (kind == "aint" && name ~ /^MPI_Type_/)
      kind = "count"
    text = text (i > 1 ? ", " : "") intent_of[i] kind " " name_of[i] shape_of[i]
  }
  if (!changes)
    return
  large[name] = 1
  arguments[name "_c"] = text
  result[name "_c"] = ""
}

# Reads the arguments of a procedure: name_of, kind_of, intent_of, shape_of by number. Returns how
# many there are.
function read_arguments(name,   text, list, count, i, one) {
  text = arguments[name]
  gsub(/\(count, \*\)/, "(count;*)", text)
  gsub(/\(3, \*\)/, "(3;*)", text)
  count = split(text, list, /, */)
  if (text ~ /^[ \t]*$/)
    count = 0
  for (i = 1; i <= count; i++) {
    one = list[i]
    gsub(/^[ \t]+|[ \t]+$/, "", one)
    intent_of[i] = one ~ /^[>=~]/ ? substr(one, 1, 1) : ""
    sub(/^[>=~]/, "", one)
    kind_of[i] = substr(one, 1, index(one, " ") - 1)
    name_of[i] = substr(one, index(one, " ") + 1)
    gsub(/[ \t]/, "", name_of[i])
    shape_of[i] = ""
    if (match(name_of[i], /\(.*\)$/)) {
      shape_of[i] = substr(name_of[i], RSTART)
      gsub(/;/, ", ", shape_of[i])
      name_of[i] = substr(name_of[i], 1, RSTART - 1)
    }
  }
  return count
}

# ---- constants ----

function write_values(   i) {
  print "/* Generated by modules.awk. */\n#include \"include/mpi/mpi.h\"\n\n#include <stdio.h>\n"
  print "int main(void)\n{"
  for (i = 1; i <= constants; i++)
    if (of_c(order[i]))
      printf "  printf(\"%s %%lld\\n\", (long long)%s);\n", order[i], order[i]
  print "  return 0;\n}"
}

function write_numbers(   i) {
  print "/* Generated by modules.awk. */"
  for (i = 1; i <= numbers; i++)
    printf "FORTRAN_%s(%s, %d)\n", toupper(kind[added[i]]), added[i], value[added[i]]
}

# Writes lines that are valid in both forms of Fortran: from column 7, at most to column 72.
function write_mpif(   i, name) {
  while ((getline line < smpi) > 0) {
    if (match(line, /^ *parameter *\( *MPI_[A-Z0-9_]+ *=/)) {
      name = line
      gsub(/^[^(]*\( *| *=.*$/, "", name)
      if (name in kind && of_c(name))
        line = "      parameter(" name "=" value[name] ")"
    }
    print line
  }
  print "\n! What SMPI's file lacks\n"
  for (i = 1; i <= constants; i++) {
    name = order[i]
    if (name in in_smpi)
      continue
    if (kind[name] == "address") {
      if (name !~ /BOTTOM|IN_PLACE|STATUS/)
        print "      external " name
    } else {
      print "      " (kind[name] == "logical" ? "logical" : "integer") " " name
      print "      parameter(" name "=" value[name] ")"
    }
  }
  print "      external MPI_AINT_ADD, MPI_AINT_DIFF"
  print "      integer(8) MPI_AINT_ADD, MPI_AINT_DIFF"
}

# ---- modules ----

function write_types(   i) {
  print "! Generated by modules.awk.\nmodule recline_mpi_types\n  implicit none"
  for (i = 1; i <= handles; i++)
    printf "  type, bind(C) :: %s\n    integer :: MPI_VAL\n  end type\n", handle[kinds[i]]
  print "  type, bind(C) :: MPI_Status\n    integer :: MPI_SOURCE, MPI_TAG, MPI_ERROR"
  print "    integer, private :: bytes, cancelled\n  end type"
  compare("==", "equal")
  compare("/=", "unequal")
  print "end module recline_mpi_types"
}

function compare(operator, name,   i) {
  printf "  interface operator(%s)\n", operator
  for (i = 1; i <= handles; i++) {
    printf "    elemental logical function recline_%s_%s(a, b)\n      import\n", name, kinds[i]
    printf "      type(%s), intent(in) :: a, b\n    end function\n", handle[kinds[i]]
  }
  print "  end interface"
}

# Writes a procedure for arguments of any type and rank, whose descriptors know the size of an
# element.
function write_sizeof(name) {
  printf "  interface %s\n", name
  print "    subroutine recline_sizeof(x, size, ierror) bind(C, name='recline_sizeof')"
  print "      type(*), dimension(..), intent(in) :: x\n      integer, intent(out) :: size"
  print "      integer, optional, intent(out) :: ierror\n    end subroutine\n  end interface"
}

function write_mpi() {
  print "! Generated by modules.awk.\nmodule mpi\n  use recline_mpi_types, only: MPI_Status\n  include 'mpif.h'"
  write_sizeof("MPI_SIZEOF")
  write_conversions()
  print "end module mpi"
}

function write_constant(name,   type) {
  type = declared[kind[name]]
  if (kind[name] in handle)
    printf "  %s, parameter :: %s = %s(%s)\n", type, name, handle[kind[name]], value[name]
  else if (kind[name] != "old" && kind[name] != "address")
    printf "  %s, parameter :: %s = %s\n", type, name, value[name]
}

# Declares the constants that are meant by address. The compiler refers to the symbol and makes
# none, as long as no module is linked.
function write_addresses(   i, name, type) {
  for (i = 1; i <= constants; i++) {
    name = order[i]
    if (kind[name] != "address")
      continue
    type = name ~ /STATUS/ ? "type(MPI_Status)" : name ~ /ARGV/ ? "character(len=1)" : "integer"
    if (name ~ /ARGVS_/)
      type = type ", dimension(1, 1)"
    else if (name !~ /BOTTOM|IN_PLACE|STATUS_/)
      type = type ", dimension(1)"
    printf "  %s, bind(C, name='%s_') :: %s\n", type, tolower(name), name
  }
}

function write_mpi_f08(   i) {
  print "! Generated by modules.awk.\nmodule mpi_f08"
  print "  use, intrinsic :: iso_c_binding, only: c_ptr\n  use recline_mpi_types\n  implicit none"
  print "  private :: c_ptr"
  for (i = 1; i <= constants; i++)
    write_constant(order[i])
  write_addresses()
  print "  abstract interface"
  for (i = 1; i <= callbacks; i++)
    write_interface(callback[i], callback[i], 1)
  print "  end interface\n  interface"
  write_functions_of_keys()
  print "  end interface"
  for (i = 1; i <= procedures; i++) {
    printf "  interface %s\n", called[i]
    write_both(called[i], "")
    printf "  end interface\n  interface P%s\n", called[i]
    write_both(called[i], "p")
    print "  end interface"
  }
  write_sizeof("MPI_Sizeof")
  write_conversions()
  print "end module mpi_f08"
}

function write_both(name, before) {
  write_interface(name, before tolower(name) "_f08", 0)
  if (name in large)
    write_interface(name "_c", before tolower(name) "_c_f08", 0)
}

# Writes the conversions between the two forms of a status.
function write_conversions() {
  write_statuses("MPI_Status_f2f08", "integer, intent(in) :: f_status(MPI_STATUS_SIZE)",
    "type(MPI_Status), intent(out) :: f08_status", "f_status, f08_status")
  write_statuses("MPI_Status_f082f", "type(MPI_Status), intent(in) :: f08_status",
    "integer, intent(out) :: f_status(MPI_STATUS_SIZE)", "f08_status, f_status")
}

function write_statuses(name, first, second, names) {
  printf "  interface %s\n    subroutine recline_status_copy_%s(%s, ierror)\n", name,
    name ~ /f2f08/ ? "in" : "out", names
  printf "      import\n      %s\n      %s\n", first, second
  print "      integer, optional, intent(out) :: ierror\n    end subroutine\n  end interface"
}

# MPI_COMM_DUP_FN and its like are procedures, which programs pass on.
function write_functions_of_keys(   k, name, holder) {
  split("COMM TYPE WIN", holder, " ")
  for (k = 1; k <= 3; k++) {
    name = "MPI_" substr(holder[k], 1, 1) tolower(substr(holder[k], 2))
    write_interface(name "_copy_attr_function", "MPI_" holder[k] "_DUP_FN", 1)
    write_interface(name "_copy_attr_function", "MPI_" holder[k] "_NULL_COPY_FN", 1)
    write_interface(name "_delete_attr_function", "MPI_" holder[k] "_NULL_DELETE_FN", 1)
  }
}

# Returns a text as one line or several, with an ampersand at the end of all but the last.
function folded(text,   lines, at) {
  while (length(text) > 100) {
    for (at = 100; substr(text, at, 1) != " "; at--)
      ;
    lines = lines substr(text, 1, at) "&\n        "
    text = substr(text, at + 1)
  }
  return lines text
}

function declared_as(kind) {
  return kind ~ /^MPI_/ ? "procedure(" kind ")" : declared[kind]
}

# Callbacks have no intents, and no optional ierror.
function write_interface(name, specific, is_callback,   count, i, list, word, intent, extra) {
  count = read_arguments(name)
  for (i = 1; i <= count; i++)
    list = list (i > 1 ? ", " : "") name_of[i]
  if (!is_callback && result[name] == "")
    list = list (count ? ", " : "") "ierror"
  word = is_callback || result[name] ~ /^(nothing)?$/ ? "subroutine" : declared[result[name]] " function"
  print folded("    " word " " specific "(" list ")")
  print "      import"
  for (i = 1; i <= count; i++) {
    extra = ""
    if (kind_of[i] ~ /^(choice|buffer)$/)
      printf "      !GCC$ ATTRIBUTES NO_ARG_CHECK :: %s\n", name_of[i]
    else if (!is_callback && kind_of[i] !~ /^MPI_/ && intent_of[i] != "~")
      extra = intent_of[i] == ">" ? ", intent(out)" : intent_of[i] == "=" ? ", intent(inout)" : ", intent(in)"
    printf "      %s%s :: %s%s\n", declared_as(kind_of[i]), extra, name_of[i], shape_of[i]
  }
  if (!is_callback && result[name] == "")
    print "      integer, optional, intent(out) :: ierror"
  printf "    end %s\n", word ~ /function/ ? "function" : "subroutine"
}

# ---- calls ----

# Writes calls of each procedure, with an error, without one, and by its second name, in a
# subroutine whose arguments are passed on.
function write_calls(   i) {
  print "! Generated by modules.awk.\nmodule of_calls"
  print "  use mpi_f08\n  use iso_c_binding, only: c_ptr\n  implicit none\ncontains"
  for (i = 1; i <= procedures; i++) {
    write_caller(called[i], called[i])
    if (called[i] in large)
      write_caller(called[i] "_c", called[i])
  }
  print "end module of_calls\nprogram calls\nend program calls"
}

function write_caller(name, generic,   count, i, list, passed) {
  count = read_arguments(name)
  for (i = 1; i <= count; i++) {
    list = list (i > 1 ? ", " : "") name_of[i]
    passed = passed (i > 1 ? ", " : "") name_of[i] "=" name_of[i]
  }
  print folded("subroutine of_" name "(" list ")")
  for (i = 1; i <= count; i++)
    printf "  %s :: %s%s\n", kind_of[i] ~ /^(choice|buffer)$/ ? "real" : declared_as(kind_of[i]),
      name_of[i], shape_of[i]
  if (result[name] == "")
    print "  integer :: ierror"
  if (result[name] ~ /^(nothing)?$/)
    print folded("  call " generic "(" passed ")")
  else
    print "  print *, " generic "(" passed ")"
  if (result[name] == "") {
    print folded("  call " generic "(" passed (count ? ", " : "") "ierror=ierror)")
    print folded("  call P" generic "(" passed ")")
  }
  print "end subroutine"
}

# ---- the layer's side ----

# All arguments are addresses; lengths of texts follow behind all of them.
function write_c(   i) {
  print "/* Generated by modules.awk. */\n#include \"sim/mpi/fortran/fortran.h\"\n"
  for (i = 1; i <= handles; i++) {
    printf "int recline_equal_%s_(const int *a, const int *b)\n{\n  return *a == *b;\n}\n\n", kinds[i]
    printf "int recline_unequal_%s_(const int *a, const int *b)\n{\n  return *a != *b;\n}\n\n", kinds[i]
  }
  for (i = 1; i <= procedures; i++) {
    write_passing(called[i])
    if (called[i] in large)
      write_passing(called[i] "_c")
  }
}

# Leaves out procedures whose arguments are others than in FORTRAN 77, which are written by hand
# (wrap_f08.c).
function write_passing(name,   symbol, count, i, head, types, passed, texts, type) {
  if (name ~ /^MPI_((Comm|Type|Win)_[gs]et_attr|F_sync_reg|Aint_add|Aint_diff)$/)
    return
  symbol = tolower(name)
  type = result[name] == "double" ? "double" : "void"
  count = read_arguments(name)
  for (i = 1; i <= count; i++) {
    head = head ", void *a" i
    types = types ", void *"
    passed = passed ", a" i
    texts += kind_of[i] == "text"
  }
  if (type == "void") {
    types = types ", void *"
    passed = passed ", " (result[name] == "" ? "error ? error : &ignored" : "&ignored")
  }
  if (result[name] == "")
    head = head ", void *error"
  for (i = 1; i <= texts; i++) {
    head = head ", size_t length" i
    types = types ", size_t"
    passed = passed ", length" i
  }
  head = head == "" ? "void" : substr(head, 3)
  printf "%s %s_(%s);\n", type, symbol, types == "" ? "void" : substr(types, 3)
  printf "%s %s_f08_(%s)\n{\n", type, symbol, head
  if (type == "double")
    printf "  return %s_(%s);\n}\n\n", symbol, substr(passed, 3)
  else
    printf "  int ignored;\n  %s_(%s);\n}\n\n", symbol, substr(passed, 3)
  printf "%s p%s_f08_(%s) __attribute__((alias(\"%s_f08_\")));\n\n", type, symbol, head, symbol
}
