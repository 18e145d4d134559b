#!/bin/sh
# Results recorded on the chip, in the folder that TILEWRIGHT_RECORDINGS names, against the emulator.
if [ -z "$TILEWRIGHT_RECORDINGS" ]; then
    echo "skipped: TILEWRIGHT_RECORDINGS names no folder of results recorded on the chip (docs/emulator.md)"
    exit 77
fi
exec "$TILEWRIGHT_BIN" vectors "$TILEWRIGHT_RECORDINGS"
