// SPDX-License-Identifier: MIT
// Files whose folders, names and sources are partly the same: each stands once in .debug_line_str, and folders have one number.
.text
.globl k
.p2align 8
.type k,@function
.file 0 "/x" "root.c" md5 0x0123456789abcdef0123456789abcdef source ""
.file 1 "/f/8" "n2.c" md5 0x0123456789abcdef0123456789abc001 source "t7"
.file 2 "/h/1" "root.c" md5 0x0123456789abcdef0123456789abc002 source "root.c"
.file 3 "/h/3" "n3.c" md5 0x0123456789abcdef0123456789abc003 source "t8"
.file 4 "/g/6" "root.c" md5 0x0123456789abcdef0123456789abc004 source "t3"
.file 5 "/f/8" "root.c" md5 0x0123456789abcdef0123456789abc005 source ""
.file 6 "/h/0" "root.c" md5 0x0123456789abcdef0123456789abc006 source "root.c"
.file 7 "/h/6" "n11.c" md5 0x0123456789abcdef0123456789abc007 source "t6"
.file 8 "/h/7" "n2.c" md5 0x0123456789abcdef0123456789abc008 source ""
.file 9 "/f/7" "n3.c" md5 0x0123456789abcdef0123456789abc009 source "t6"
.file 10 "/g/6" "n8.c" md5 0x0123456789abcdef0123456789abc00a source "t5"
.file 11 "/h/6" "root.c" md5 0x0123456789abcdef0123456789abc00b source "t5"
.file 12 "/f/4" "root.c" md5 0x0123456789abcdef0123456789abc00c source "t5"
.file 13 "/h/1" "root.c" md5 0x0123456789abcdef0123456789abc00d source "root.c"
.file 14 "/f/1" "n7.c" md5 0x0123456789abcdef0123456789abc00e source "root.c"
.file 15 "/f/6" "root.c" md5 0x0123456789abcdef0123456789abc00f source "root.c"
.file 16 "/g/1" "root.c" md5 0x0123456789abcdef0123456789abc010 source "t6"
.file 17 "/h/5" "n8.c" md5 0x0123456789abcdef0123456789abc011 source ""
.file 18 "/f/4" "root.c" md5 0x0123456789abcdef0123456789abc012 source "t1"
.file 19 "/h/0" "n3.c" md5 0x0123456789abcdef0123456789abc013 source "t4"
.file 20 "/g/2" "root.c" md5 0x0123456789abcdef0123456789abc014 source "root.c"
.file 21 "/g/2" "n6.c" md5 0x0123456789abcdef0123456789abc015 source "t7"
.file 22 "/g/8" "n1.c" md5 0x0123456789abcdef0123456789abc016 source "t6"
.file 23 "/h/3" "n4.c" md5 0x0123456789abcdef0123456789abc017 source "t4"
.file 24 "/g/8" "root.c" md5 0x0123456789abcdef0123456789abc018 source "t6"
.file 25 "/g/0" "root.c" md5 0x0123456789abcdef0123456789abc019 source "t0"
.file 26 "/h/5" "n7.c" md5 0x0123456789abcdef0123456789abc01a source "t5"
.file 27 "/h/4" "n11.c" md5 0x0123456789abcdef0123456789abc01b source "t0"
.file 28 "/f/0" "n5.c" md5 0x0123456789abcdef0123456789abc01c source "root.c"
.file 29 "/h/5" "n2.c" md5 0x0123456789abcdef0123456789abc01d source "root.c"
.file 30 "/g/4" "n4.c" md5 0x0123456789abcdef0123456789abc01e source ""
.file 31 "/h/2" "root.c" md5 0x0123456789abcdef0123456789abc01f source ""
.file 32 "/g/2" "n10.c" md5 0x0123456789abcdef0123456789abc020 source ""
.file 33 "/h/5" "root.c" md5 0x0123456789abcdef0123456789abc021 source ""
.file 34 "/f/5" "root.c" md5 0x0123456789abcdef0123456789abc022 source "root.c"
.file 35 "/f/1" "root.c" md5 0x0123456789abcdef0123456789abc023 source "t5"
.file 36 "/f/4" "root.c" md5 0x0123456789abcdef0123456789abc024 source "t5"
.file 37 "/f/6" "n4.c" md5 0x0123456789abcdef0123456789abc025 source "root.c"
.file 38 "/h/6" "n4.c" md5 0x0123456789abcdef0123456789abc026 source ""
.file 39 "/g/2" "root.c" md5 0x0123456789abcdef0123456789abc027 source "t7"
.file 40 "/h/6" "root.c" md5 0x0123456789abcdef0123456789abc028 source "t0"
.file 41 "/g/8" "n4.c" md5 0x0123456789abcdef0123456789abc029 source ""
.file 42 "/h/4" "root.c" md5 0x0123456789abcdef0123456789abc02a source ""
.file 43 "/h/8" "n3.c" md5 0x0123456789abcdef0123456789abc02b source ""
.file 44 "/g/1" "n2.c" md5 0x0123456789abcdef0123456789abc02c source "t3"
.file 45 "/f/8" "n8.c" md5 0x0123456789abcdef0123456789abc02d source "t0"
.file 46 "/f/5" "n2.c" md5 0x0123456789abcdef0123456789abc02e source "root.c"
.file 47 "/f/5" "root.c" md5 0x0123456789abcdef0123456789abc02f source "t1"
k:
.loc 0 1 2
  s_nop 0
.loc 5 6 2
  s_nop 0
.loc 10 11 2
  s_nop 0
.loc 15 16 2
  s_nop 0
.loc 20 21 2
  s_nop 0
.loc 25 26 2
  s_nop 0
.loc 30 31 2
  s_nop 0
.loc 35 36 2
  s_nop 0
.loc 40 41 2
  s_nop 0
.loc 45 46 2
  s_nop 0
  s_endpgm
.size k, .-k
.ident "files.s"
