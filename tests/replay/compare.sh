#!/bin/sh
# Compares our texts with whisper.cpp's; README.md in this folder says how.
# usage: compare.sh [--beam] WHISPER_CLI MODEL.bin...
set -eu

beam=no
if [ "${1:-}" = --beam ]; then
    beam=yes
    shift
fi
if [ $# -lt 2 ]; then
    echo "usage: compare.sh [--beam] WHISPER_CLI MODEL.bin..." >&2
    exit 2
fi
whisper_cli=$1
shift

here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
replay=${REPLAY:-$source/build/tests/replay/replay}
data=${POCKETSPHINX_DATA:-/usr/share/pocketsphinx/test/data}
work=${REPLAY_WORK:-${TMPDIR:-/tmp}/tilewright-replay}
threads=${THREADS:-2}

for needed in "$whisper_cli" "$replay"; do
    if [ ! -x "$needed" ]; then
        echo "compare.sh: there is no program $needed" >&2
        exit 2
    fi
done
if [ ! -d "$data" ]; then
    echo "compare.sh: there is no folder $data; install pocketsphinx-testdata" >&2
    exit 2
fi

mkdir -p "$work/clips"
clips=$("$replay" make-clips "$source/tests/data/jfk.wav" "$data" "$work/clips")

# One process a file, since whisper.cpp carries state from file to file; what is there is kept, since it never changes.
make_references() {
    mkdir -p "$2"
    for clip in $clips; do
        name=$(basename "$clip" .wav)
        [ -s "$2/$name.json" ] && continue
        rm -f "$2/part.json"
        "$whisper_cli" -m "$1" -f "$clip" -nfa -t 2 -l en -bs 1 -bo 1 -nf -ojf -of "$2/part" >"$2/$name.log" 2>&1 || {
            echo "compare.sh: whisper.cpp failed on $clip with $1; see $2/$name.log" >&2
            exit 2
        }
        mv "$2/part.json" "$2/$name.json"
    done
}

status=0
for model in "$@"; do
    # A cached reference belongs to one program and one model, not to their names.
    key=$(cat "$whisper_cli" "$model" | sha256sum | cut -c 1-16)
    references=$work/references-$(basename "$model" .bin)-$key
    make_references "$model" "$references"
    # shellcheck disable=SC2086 # a list of paths without spaces
    "$replay" compare "$model" "$references" "$threads" $clips || status=$?
    [ "$status" -le 1 ] || exit "$status"
    if [ "$beam" = yes ]; then
        # shellcheck disable=SC2086
        "$replay" beam "$model" $clips || status=$?
        [ "$status" -le 1 ] || exit "$status"
    fi
    echo
done
exit "$status"
