set trace-commands on
check float
who $v2
goto
