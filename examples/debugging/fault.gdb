set trace-commands on
run
print index[$lane]
reverse-step
