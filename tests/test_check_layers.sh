#!/usr/bin/env bash
# check-layers on folders made up here: what it must let pass, and each thing that it must find.
set -euo pipefail
check=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

try() { # EXPECTED_STATUS EXPECTED_WORDS FILE LINE
    rm -rf "${folder:?}"/*
    mkdir -p "$folder/base" "$folder/$(dirname "$3")"
    printf '#include "base/error.h"\n#include <stdio.h>\n%s\n' "$4" >"$folder/$3"
    local status=0 said
    said=$("$check" "$folder" 2>&1) || status=$?
    if [ "$status" != "$1" ] || [[ $said != *"$2"* ]]; then
        echo "'$4' in $3: status $status, expected $1; said '$said', expected '$2'" >&2
        exit 1
    fi
}

try 0 "" graph/a.c '#include "graph/type.h"'
try 0 "" host/a.c '#include "graph/graph.h"'
try 0 "" isa/tables/a.c '#include "isa/isa.h"'
try 0 "" emu/a.c '#include "uapi/calls.h"'
try 0 "" cli/a.c '#include "tilewright.h"'
try 1 'graph/a.c:3:#include "host/host.h"' graph/a.c '#include "host/host.h"'
try 1 'graph/a.h:3:' graph/a.h '  #  include "whisper/mel.h"'
try 1 'base/deep/a.c:3:' base/deep/a.c '#include "graph/type.h"'
try 1 'npu1/a.c:3:' npu1/a.c '#include "isa/isa.h"'
try 1 'emu/a.c:3:' emu/a.c '#include "kernels/job.h"'
try 1 'host/a.c:3:' host/a.c '#include "device/device.h"'
try 1 'graph/a.c:3:' graph/a.c '#include "emu/emu.h"'
try 1 'ggml/a.c:3:' ggml/a.c '#include "whisper/model.h"'
try 1 'graph/a.c:3:' graph/a.c '#include "base/../host/host.h"'
try 1 'graph/a.c:3:' graph/a.c '#include "unknown/thing.h"'
try 1 'has no place' attic/a.c ''
