#compdef recline
# Completion for zsh: recline itself says what may follow.
local -a found
found=("${(@f)$("${words[1]}" --complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
compadd -S '' -- "${(@M)found:#*=}"
compadd -- "${(@)found:#(*=|/|)}"
(( ! ${found[(I)/]} )) || _files
