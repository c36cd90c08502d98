set trace-commands on
run
who out[0]
goto
who part[64]
info waves
