# SPDX-License-Identifier: MIT
# Completion of wavemem in fish; the command itself finds the candidates.
function __wavemem_candidates
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for candidate in ($words[1] __complete $words[2..-1] "$current" 2>/dev/null)
        if test "$candidate" = :files
            __fish_complete_path "$current"
        else
            echo $candidate
        end
    end
end
complete -c wavemem -f -a '(__wavemem_candidates)'
