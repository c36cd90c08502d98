set trace-commands on
starti
watch out if isnan($_new)
continue
who $v8
print in[4]@4
