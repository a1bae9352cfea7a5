# Prints, for command/list.c, a row for each MPI program that comes with recline: its name, what it
# is for, and how it is called. All three are read from the comment that opens the program's source:
# "/* NAME: what it is for.", and a line "NAME ARGUMENTS", perhaps behind "Usage: ".
function quoted(text) { gsub(/["\\]/, "\\\\&", text); return "\"" text "\"" }

function row() {
  if (name != "")
    print "{" quoted(name) ", " quoted(what) ", " quoted(usage) "},"
}

FNR == 1 {
  row()
  name = FILENAME
  sub(/.*\//, "", name)
  sub(/\.c$/, "", name)
  what = usage = ""
  in_comment = in_what = index($0, "/* " name ": ") == 1
  if (!in_comment)
    name = ""
}
!in_comment { next }
{
  line = $0
  sub(FNR == 1 ? "^/[*] " name ": " : "^ [*]+ *", "", line)
  closes = sub(/ *\*\/.*/, "", line)
  in_what = in_what && line != ""
  if (in_what) {
    what = what (what == "" ? "" : " ") line
    if (match(what, /(\. |\.$)/)) {
      what = substr(what, 1, RSTART - 1)
      sub(/ \([^)]*\)$/, "", what)
      in_what = 0
    }
  }
  called = line
  sub(/^Usage: /, "", called)
  if (FNR > 1 && usage == "" && index(called, name " ") == 1) {
    sub(/(   |, on ).*/, "", called)
    usage = called
  }
  if (closes)
    in_comment = 0
}
END { row() }
