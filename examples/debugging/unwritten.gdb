set trace-commands on
check uninit
who index[0]
reverse-step
