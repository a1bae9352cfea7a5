# Completion for bash: recline itself says what may follow. In bash a word also ends at = and :, so
# what precedes them is left out of what is offered.
_recline()
{
  local line=${COMP_LINE:0:COMP_POINT} last words found item
  IFS=$' \t' read -ra words <<<"$line"
  [[ $line != *[[:space:]] ]] || words+=('')
  mapfile -t found < <("${words[0]}" --complete "${words[@]:1}" 2>/dev/null)
  last=${words[-1]}
  COMPREPLY=()
  for item in "${found[@]}"; do
    case $item in
      /) compopt -o default ;;
      *) COMPREPLY+=("${item#"${last%"${last##*[=:]}"}"}") ;;
    esac
  done
  [[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace
}
complete -F _recline recline
