# SPDX-License-Identifier: MIT
# Completion of wavemem in bash; the command itself finds the candidates.
_wavemem()
{
    local IFS=$'\n' candidate current=${COMP_WORDS[COMP_CWORD]}
    COMPREPLY=()
    for candidate in $("$1" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null); do
        if [[ $candidate == :files ]]; then
            while read -r candidate; do COMPREPLY+=("$candidate"); done < <(compgen -f -- "$current")
            compopt -o filenames 2>/dev/null
        else
            COMPREPLY+=("$candidate")
        fi
    done
    [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
    return 0
}
complete -F _wavemem wavemem
