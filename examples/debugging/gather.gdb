set trace-commands on
run
print index[$lane]
who index[$lane]
goto
list
