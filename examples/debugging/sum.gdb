set trace-commands on
tbreak sum.cl:15
run
who part[0]
goto
print width
