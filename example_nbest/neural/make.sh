#!/bin/sh
# Trains a forward, a reverse and a language model, and writes lists and scores to $OUT:
#     DATA=… example_nbest/neural/make.sh
# STEPS, BEAM and DEVICE may be set too. A step is skipped where its output is there; a training that was interrupted
# goes on from its last checkpoint.
set -eu
cd "$(dirname "$0")/../.."
DATA=${DATA:?the folder of all data} OUT=${OUT:-work/neural} DEVICE=${DEVICE:-cpu} STEPS=${STEPS:-10000}
PAIRS=$DATA/mt_nbest_tatoeba_de_en/train.de-en.xz SETS=$DATA/mt_nbest_tatoeba_de_en LISTS=$DATA/mt_nbest_neural_de_en
mkdir -p "$OUT"

module() { name=$1; shift; python -m "example_nbest.neural.$name" "$@" --device "$DEVICE"; }

for direction in forward reverse lm; do
    done=$(tail -n 1 "$OUT/$direction/losses.tsv" 2> /dev/null | cut -f 1)
    [ "$done" = "$STEPS" ] || module train "$OUT/$direction" "$PAIRS" --direction $direction --steps "$STEPS" --bfloat16
done
for set in tune test; do
    [ -e "$OUT/$set.nbest.gz" ] || module decode "$OUT/forward" "$SETS/$set.src" --beam "${BEAM:-50}" -o "$OUT/$set.nbest.gz"
    [ -e "$OUT/$set.samples.gz" ] || module decode "$OUT/forward" "$SETS/$set.src" --samples 50 -o "$OUT/$set.samples.gz"
    for direction in reverse lm; do
        [ -e "$OUT/$set.$direction.gz" ] || module score "$OUT/$direction" "$LISTS/$set.nbest.xz" \
            --direction $direction --source "$SETS/$set.src" -o "$OUT/$set.$direction.gz"
    done
done
