// Integers: bit fields, carries, products and quotients of 32 and 64 bits.
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer A { uvec4 a[]; };
layout(set = 0, binding = 1) writeonly buffer B { uint b[][16]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    uvec4 x = a[i];
    b[i][0] = bitfieldExtract(x.x, int(x.y & 15u), int(x.z & 15u));
    b[i][1] = uint(bitfieldExtract(int(x.x), 5, 11));
    b[i][2] = bitfieldInsert(x.x, x.y, int(x.z & 15u), 9);
    b[i][3] = bitfieldReverse(x.x);
    b[i][4] = uint(bitCount(x.x) + findMSB(x.y >> (x.z & 31u)) * 100 + findLSB(x.z) * 10000);
    uint carry, low, high, borrow;
    b[i][5] = uaddCarry(x.x, x.y, carry);
    b[i][6] = usubBorrow(x.x, x.y, borrow) + carry * 2u + borrow;
    umulExtended(x.z, x.w, high, low);
    b[i][7] = high ^ low;
    int signed_high, signed_low;
    imulExtended(int(x.x), int(x.w), signed_high, signed_low);
    b[i][8] = uint(signed_high);
    uint64_t wide = packUint2x32(x.xy), other = uint64_t(x.z) * 3ul + 1ul;
    uvec2 quotient = unpackUint2x32(wide / other);
    b[i][9] = quotient.x;
    b[i][10] = quotient.y;
    b[i][11] = unpackUint2x32(wide * packUint2x32(x.zw)).y;
    int64_t negative = int64_t(wide) >> (x.w & 63u);
    b[i][12] = uint(negative);
    b[i][13] = uint(negative % -1000003l);
    b[i][14] = unpackUint2x32(wide << (x.w & 63u)).y;
    b[i][15] = negative < int64_t(other) ? x.x / (x.y | 1u) : uint(int(x.x) % int(x.y | 1u));
}
