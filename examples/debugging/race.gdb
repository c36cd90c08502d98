set trace-commands on
check race
who part[$lane]
reverse-stepi
