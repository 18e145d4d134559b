#!/usr/bin/env bash
# Installs the library below a temporary folder, compiles the installed examples against it by pkg-config alone, and runs them.
# Usage: test_installed.sh BUILD SOURCE COMPILER MAKE_COPY_PROGRAM [COMPILER_OPTION]...
set -euo pipefail
build=$1 source=$2 compiler=$3 maker=$4
shift 4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

cmake --install "$build" --component library --prefix "$folder/usr" >/dev/null
config=$(find "$folder/usr" -name tilewright.pc)
# The prefix of the file is the one that the build was configured with.
flags=$(PKG_CONFIG_PATH=$(dirname "$config") pkg-config --define-variable=prefix="$folder/usr" --cflags --libs tilewright)
libraries=$(dirname "$(dirname "$config")")
examples=$folder/usr/share/doc/tilewright/examples

cd "$folder"
for example in "$source"/examples/*.c; do
    cmp "$example" "$examples/$(basename "$example")"
done
# shellcheck disable=SC2086 # flags are several words
for example in run_xclbin product; do
    "$compiler" -std=c17 -Wall -Wextra -Werror "$@" -o $example "$examples/$example.c" $flags -Wl,-rpath,"$libraries"
done
"$maker" "$folder"
TILEWRIGHT_DEVICE=emu ./run_xclbin copy.xclbin copy.insts input.bin 1024 output.bin
cmp input.bin output.bin

./product --device emu | grep -q '^emu: 0 of 15000 numbers are wrong; launches on the NPU: 1$'

# Asked for silicon where there is none, it says so, and does not emulate in silence.
if [ ! -e /sys/class/accel ]; then
    if TILEWRIGHT_DEVICE=npu ./run_xclbin copy.xclbin copy.insts input.bin 1024 none.bin 2>message; then
        echo "ran without an NPU" >&2
        exit 1
    fi
    grep -q '^TW_E_NO_DEVICE: ' message
    [ ! -e none.bin ]
    if ./product --device npu 2>message; then
        echo "multiplied without an NPU" >&2
        exit 1
    fi
    grep -q '^TW_E_NO_DEVICE: ' message
fi

# Nothing but the public functions is visible.
if nm -D --defined-only "$libraries/libtilewright.so" | grep -E ' [TDBR] ' | grep -vE ' tw_(buffer|chain|code|context|device|engine|graph|job|product)_'; then
    echo "the library shows more than its interface" >&2
    exit 1
fi
for name in $(grep -oE 'tw_[a-z_]+\(' "$source/include/tilewright.h" | tr -d '(' | sort -u); do
    nm -D --defined-only "$libraries/libtilewright.so" | grep -q " T $name\(@\|$\)" || { echo "$name is missing" >&2; exit 1; }
done
