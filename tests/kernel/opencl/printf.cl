// SPDX-License-Identifier: MIT
// Expected output: tests/kernel/printf.py.

kernel void strings(global const int *a)
{
    printf("nothing else\n");
    printf("[%s] %d\n", "", a[0]);
    printf("[%s] %d\n", "a", a[1]);
    printf("[%s] %d\n", "abc", a[2]);
    printf("[%s] %d\n", "abcd", a[3]);
    printf("[%s|%s|%s] %d\n", "abcd", "abcde", "abcdefgh", a[0]);
    printf("[%s|%s|%s] %d\n", "abcdefg", "12345678", "x", 65);
    printf("[%s|%s]\n", "abcdefgh", "abcd");
    printf("[%8s|%-8s|%.2s|%5.1s]\n", "right", "left", "cut", "both");
    printf("100%% of C:\\nothing\t%c%c\n", 'o', 'k');
    printf("%s: colons: %d::\n", "and", a[1]);
}

kernel void integers(global const int *a)
{
    const int x = a[0], y = a[1];
    printf("%d %i %u %x %X %o %5d %-5d| %05d %+d % d\n", x, y, y, y, y, x, x, x, x, x, x);
    printf("%hhd %hhu %hd %hu %hx\n", (char)y, (uchar)y, (short)y, (ushort)y, (ushort)y);
    printf("%ld %lu %lx %.8d %#x %#o\n", (long)x << 40, (ulong)(long)y, (long)y, x, x, x);
    printf("%p\n", (global int *)0x1234abcd5678);
    printf("%.0d|%c|\n", 0, 'c');
}

kernel void floats(global const float *a, global const double *b)
{
    printf("%f %.3f %10.2f %-10.1f| %e %E %g %G\n", a[0], a[1], a[0], a[1], a[0], a[1], a[0], a[2]);
    printf("%f %e %g %a\n", b[0], b[1], b[2], b[0]);
    printf("%f %f %.2f\n", 1.5f, 2.25, 1e10);
    printf("%f %f %+.1f\n", a[3], -a[3], a[0] - a[0]); // not %F: LLVM 19 stores no argument for it
}

kernel void vectors(global const float4 *a, global const int4 *b)
{
    printf("%v4hlf|%v2hlf|%v3hlf\n", a[0], a[0].xy, a[0].xyz);
    printf("%v4hld %v2hld %v3hld %v4hlx\n", b[0], b[0].xy, b[0].yzw, as_uint4(b[0]));
    printf("%v4hd %v2hhd %v4hhx %v3hu\n", convert_short4(b[0]), convert_char2(b[0].xy), convert_uchar4(b[0]), convert_ushort3(b[0].xyz));
    printf("%v2ld %v2lf %.1v4hlf %v8hlu\n", convert_long2(b[0].xw), convert_double2(a[0].yz), a[0], (uint8)(7));
}

kernel void lanes(global const int *a)
{
    const int i = (int)get_global_id(0);
    if (i % 3 == 0)
        printf("item %d of group %d: %d\n", i, (int)get_group_id(0), a[i]);
    else if (i % 3 == 1)
        printf("%s: %d\n", "one", i);
    else if (printf("%s %d\n", "twice", i) != 0)
        printf("never\n");
}

kernel void flood(global const int *a)
{
    for (int j = 0; j < 4000; j++)
        printf("%d %d %d %d\n", a[0], j, j, j);
}

kernel void then_fault(global int *a)
{
    printf("before %d\n", a[0]);
    ((global volatile int *)0)[a[1]] = 1;
}
