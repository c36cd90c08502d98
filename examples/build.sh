#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds the example kernels' code objects, which are committed. The output is reproducible on any host.
#
# usage: examples/build.sh [TARGET]...     (default: gfx900)
#
# The OpenCL kernels become a code object for each target, the HIP kernels bundles for gfx900 and gfx906, plain and
# compressed.
# Needs clang-19, ld.lld-19 and rocm-device-libs (`dev/setup examples`). Paths in DWARF are relative.
set -eu
cd "$(dirname "$0")"
[ $# -gt 0 ] || set -- gfx900

bitcode=''
for folder in ${BITCODE:-} /usr/lib/x86_64-linux-gnu/amdgcn/bitcode /usr/lib/*/amdgcn/bitcode /usr/amdgcn/bitcode \
    /opt/rocm/amdgcn/bitcode; do
    if [ -f "$folder/ocml.bc" ]; then
        bitcode=$folder
        break
    fi
done
if [ -z "$bitcode" ]; then
    echo "examples/build.sh: no ocml.bc; install rocm-device-libs or set BITCODE to its folder" >&2
    exit 1
fi

resource=$(clang-19 -print-resource-dir)
for target; do
    mkdir -p "$target"
    for source in *.cl; do
        clang-19 -x cl -cl-std=CL2.0 -cl-kernel-arg-info -target amdgcn-amd-amdhsa "-mcpu=$target" \
            "--rocm-device-lib-path=$bitcode" -O3 -g -fdebug-compilation-dir=. "-ffile-prefix-map=$PWD=." \
            "-ffile-prefix-map=$resource=clang" -gno-record-command-line -Wall -Werror "$source" \
            -o "$target/${source%.cl}.co"
        chmod 644 "$target/${source%.cl}.co"
    done
done

mkdir -p hip
for source in *.hip; do
    for form in plain packed; do
        option=''
        [ "$form" = plain ] || option=--offload-compress
        # -fuse-cuid=none: the id of the translation unit would depend on the path.
        # shellcheck disable=SC2086 # nothing, or a word
        clang-19 -x hip --cuda-device-only --offload-arch=gfx900 --offload-arch=gfx906 -nogpulib -nogpuinc \
            -fuse-cuid=none -std=c++17 -O3 -g -fdebug-compilation-dir=. "-ffile-prefix-map=$PWD=." \
            -gno-record-command-line -Wall -Werror $option "$source" -o "hip/${source%.hip}.$form.hipfb"
        chmod 644 "hip/${source%.hip}.$form.hipfb"
    done
done
