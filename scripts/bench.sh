#!/usr/bin/env bash
# Times the whole program. Prints Markdown: for each setting the wall time (median and best), the
# processor time, MB/s, and the ratios to `wc -w` and to a plain read of the articles, measured in
# the same run; then the share of each stage. On a busy machine only the best time means much.
#
# usage: scripts/bench.sh [--runs N] [--large SIZE] [--crawl DIR] [--joins ROWS] [--program FILE]
#   --runs N       runs of each setting (default 11; of a crawl and of joins 5, since they are long)
#   --large SIZE   also SIZE megabytes of generated text, for example 700
#   --crawl DIR    also the crawl that scripts/real-crawl wrote there, in every format, next to
#                  `gzip -dc` of its WARC files and `wc -w` of its text; with its languages, also
#                  how fast one core makes fingerprints of texts of each, by instructions
#   --joins ROWS   also joins of 10^6 fingerprints within 10 bits, and of ROWS within 3, for example
#                  100000000
#   --program FILE the program to time (default: a release build of this checkout)
#
# The articles are the newsgroups below $SIMTOOL_DATA, with the stop words and the hash table of
# "official" there; if the variable is not set, 35 MB are generated. Scratch files, up to three
# times SIZE, 8 bytes for each of ROWS, and half a GB for the languages, go to $TMPDIR.
set -euo pipefail
# A failing command must not leave a time in a table.
shopt -s inherit_errexit

runs="" large="" crawl="" joins="" program=""
while (($#)); do
    case $1 in
    --runs) runs=$2 ;;
    --large) large=$2 ;;
    --crawl) crawl=$(realpath -m "$2") ;;
    --joins) joins=$2 ;;
    --program) program=$(realpath "$2") ;;
    *)
        sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
        exit 2
        ;;
    esac
    shift 2
done
cd "$(dirname "$0")/.."
if [[ -z $program ]]; then
    cargo build --release --locked --quiet
    program=$PWD/target/release/simtool
fi
scratch=$(mktemp -d "${TMPDIR:-/tmp}/simtool-bench.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

long_runs=${runs:-5} runs=${runs:-11}

# timed COMMAND...: median and best wall time of its runs and the median of their processor time, in
# milliseconds, after one run that does not count.
timed() {
    local TIMEFORMAT='%3R %3U %3S'
    # A crawl may have bad records, which are listed.
    "$@" >/dev/null || [[ $? = 3 ]]
    for ((i = 0; i < runs; i++)); do
        { time "$@" >/dev/null 2>&3; } 3>&2 2>&1
    done | awk '{ print 1000 * $1, 1000 * ($2 + $3) }' >"$scratch/times"
    sort -n "$scratch/times" | awk -v middle=$(((runs + 1) / 2)) '
        NR == 1 { best = $1 } NR == middle { median = $1 } END { printf "%d %d ", median, best }'
    sort -n -k 2 "$scratch/times" | awk -v middle=$(((runs + 1) / 2)) 'NR == middle { print $2 }'
}

simtool() { "$program" --quiet --directory "$folder" "$@"; }
plain_read() { dd if="$folder/article.txt" of=/dev/null bs=1M status=none; }
words() { wc -w "$folder/article.txt"; }

# measure NAME "N M"...: the tables of the folder $folder.
measure() {
    local name=$1 bytes rows
    shift
    bytes=$(stat -Lc %s "$folder/article.txt")
    rows="plain-read $(timed plain_read)
wc-w $(timed words)"
    for setting; do
        # shellcheck disable=SC2086
        rows+="
${setting/ /,} $(timed simtool $setting)"
    done
    awk -v name="$name" -v bytes="$bytes" '
        function per(a, b) { return sprintf("%.1f", a / (b > 0 ? b : 1)) }
        BEGIN {
            printf "\n### %s, %.1f MB\n\n", name, bytes / 1e6
            print "| | median ms | best ms | processor ms | MB/s | wc -w / this |" \
                " best wc -w / best | best / best plain read |"
            print "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
        }
        $1 == "plain-read" { read = $3 }
        $1 == "wc-w" { wc = $2; best_wc = $3 }
        {
            sub(",", " ", $1); sub("-", " ", $1); sub("wc w", "wc -w", $1)
            printf "| %s | %d | %d | %d | %.0f | %s | %s | %s |\n", $1, $2, $3, $4,
                bytes / 1e3 / ($2 > 0 ? $2 : 1), wc ? per(wc, $2) : "–", wc ? per(best_wc, $3) : "–",
                per($3, read)
        }' <<<"$rows"
    for setting; do
        printf '\nstages of `simtool %s`, one run:\n\n```text\n' "$setting"
        # shellcheck disable=SC2086
        simtool --stats $setting 2>&1 >/dev/null
        echo '```'
    done
}

# generate MEGABYTES: a corpus in $folder.
generate() { "$program" generate --bytes "$1M" --output "$folder"; }

printf '%s, %s cores, %s, %s\n' \
    "$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1)" "$(nproc)" \
    "$("$program" --version)" "$(date -u +%F)"
printf 'commit %s, medians of %s runs\n' "$(git rev-parse --short HEAD)" "$runs"

near_duplicates() { "$program" --quiet --force --output "$scratch/found" --corpus "$@"; }
unpack() { gzip -dc "$crawl"/warc/*.warc.gz; }
crawl_words() { wc -w "$crawl/text/pages.txt"; }

# peak COMMAND...: the most memory that it held, in MB, maps included.
peak() { "$@" --stats 2>&1 >/dev/null | awk '/^peak memory/ { print $4 == "GB," ? 1000 * $3 : $3 }'; }

# compared: the rows of a table, each "NAME median best processor peak", with ratios to the rows that
# are called gzip_… and wc_….
compared() {
    awk '
        function per(a, b) { return b ? sprintf("%.2f", a / b) : "–" }
        BEGIN {
            print "| | median ms | best ms | processor ms | peak MB | this / gzip -dc | this / wc -w |" \
                " best / best wc -w |"
            print "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
        }
        $1 ~ /^gzip_/ { gzip = $2 }
        $1 ~ /^wc_/ { wc = $2; best_wc = $3 }
        {
            gsub("_", " ", $1)
            printf "| %s | %d | %d | %d | %s | %s | %s | %s |\n", $1, $2, $3, $4, $5, per($2, gzip),
                per($2, wc), per($3, best_wc)
        }'
}

# row NAME OPTIONS...: a row of near-duplicates by these options.
row() {
    echo "$1 $(timed near_duplicates "${@:2}") $(peak near_duplicates "${@:2}")"
}

# measure_near_duplicates NAME: the table of the articles of the folder $folder.
measure_near_duplicates() {
    printf '\n### near-duplicates, %s\n\n' "$1"
    (
        echo "wc_-w $(timed words) –"
        row "simhash" "$folder/article.txt" --method simhash
        row "exact,_words:5_at_0.7" "$folder/article.txt" --shingle words:5 --similarity 0.7
        row "exact,_chars:5_at_0.8" "$folder/article.txt" --shingle chars:5 --similarity 0.8
    ) | compared
}

# measure_crawl: the table of the crawl $crawl.
measure_crawl() {
    local format method setting runs=$long_runs
    printf '\n### crawl\n\n%s; medians of %s runs\n\n' \
        "$(sed -n '/ pages, /p' "$crawl/report.txt")" "$runs"
    (
        echo "gzip_-dc_of_the_WARC_files $(timed unpack) –"
        echo "wc_-w_of_the_text $(timed crawl_words) –"
        for format in warc wet jsonl parquet text; do
            # A crawl has no Parquet if Python had no pyarrow.
            [[ -d $crawl/$format ]] || continue
            for method in simhash exact; do
                setting=("$crawl/$format" --method "$method")
                case $format in jsonl | parquet) setting+=(--id-field url) ;; esac
                row "$format,_$method" "${setting[@]}"
            done
        done
        row "text,_exact,_words:5_at_0.7" "$crawl/text" --shingle words:5 --similarity 0.7
    ) | compared
}

# language_text LANGUAGE: 6 MB of LibreOffice's help, eight times over. Some languages are in the crawl, the
# others next to it.
language_text() {
    LC_ALL=C awk -v wanted="libreoffice-help-$1/" '
        BEGIN { RS = "\f"; ORS = "\f" }
        index($1, wanted) { size += length($0); pages[count++] = $0 }
        size >= 6e6 { exit }
        END { for (time = 0; time < 8; time++) for (i = 0; i < count; i++) print pages[i] }
    ' "$crawl"/{languages/,}text/pages.txt
}

# repeated_text CHARACTERS: 20 MB of them.
repeated_text() {
    awk -v unit="$(LC_ALL=C.UTF-8 printf %b "$1")" 'BEGIN {
        for (i = 0; i < 2000; i++) page = page unit
        for (size = 0; size < 2e7; size += length(page)) printf "page\n%s\n\f", page
    }'
}

one_core() {
    rm -f "$scratch/rows.f"
    SIMTOOL_ISA=$isa "$program" fingerprint "$text" --format form-feed --method simhash \
        --threads 1 --quiet --output "$scratch/rows.f"
}

# language NAME: the row of $text.
language() {
    local isa took
    printf '| %s |' "$1"
    for isa in avx512 avx2 portable; do
        took=$(timed one_core)
        printf ' %d |' $(($(stat -c %s "$text") / 1000 / ${took##* }))
    done
    printf ' %d |\n' $(($(stat -c %s "$text") / 1000 / $(timed wc -w "$text" | cut -d ' ' -f 2)))
}

# measure_languages: the table of texts of many languages, and of those whose characters each take
# the slow way.
measure_languages() {
    local name unit text runs=$long_runs
    printf '\n### words, shingles of three and SimHash of 64 bits of texts, one thread\n\n'
    printf 'MB/s of processor time, whole process, medians of %s runs; an instruction set that the\n' "$runs"
    printf 'processor does not have is the next lower one\n\n'
    printf '| | AVX-512 | AVX2 | portable | wc -w |\n| --- | ---: | ---: | ---: | ---: |\n'
    text=$scratch/medium/article.txt
    language articles
    text=$scratch/language.txt
    for name in fr de es pl tr vi ru el hi km ja ko zh-tw zh-cn; do
        language_text "$name" >"$text"
        [[ ! -s $text ]] || language "$name"
    done
    while read -r name unit; do
        repeated_text "$unit" >"$text"
        language "$name"
    done <<'END'
decomposed e\u0301\x20
parts_of_Hangul \u1112\u1161\u11ab\x20
fractions \u00bd\x20
full_width \uff21\uff22\x20
ligature_U+FDFA \ufdfa\x20
square_U+337F \u337f\x20
Thai_sara_am \u0e01\u0e33\x20
U+0344 a\u0344\x20
marks_of_underscores _\u0301a\x20
flags \U0001f1e9\U0001f1eaa\x20
END
}

# rows COUNT: a NumPy file of random fingerprints, each fifth within two bits of one before.
rows() {
    python3 - "$1" <<'END'
import array, random, struct, sys

count = int(sys.argv[1])
draw = random.Random(1)
header = "{'descr': '<u8', 'fortran_order': False, 'shape': (%d,), }" % count
header += " " * (-(10 + len(header) + 1) % 64) + "\n"
sys.stdout.buffer.write(b"\x93NUMPY\x01\0" + struct.pack("<H", len(header)) + header.encode())
while count:
    rows = array.array("Q", draw.randbytes(8 * min(count, 1 << 20)))
    for at in range(4, len(rows), 5):
        rows[at] = rows[draw.randrange(at)] ^ 1 << draw.randrange(64) ^ 1 << draw.randrange(64)
    sys.stdout.buffer.write(rows.tobytes())
    count -= len(rows)
END
}

join() { "$program" join "$scratch/rows.npy" -k "$1" --count --quiet; }

# measure_joins: the table of joins.
measure_joins() {
    local setting runs=$long_runs
    printf '\n### joins of fingerprints of 64 bits, medians of %s runs\n\n' "$runs"
    printf '| rows | within | pairs | median ms | best ms | processor ms |\n'
    printf '| ---: | ---: | ---: | ---: | ---: | ---: |\n'
    for setting in "1000000 10" "$joins 3"; do
        rows "${setting% *}" >"$scratch/rows.npy"
        printf '| %s | %s | %s | %s |\n' "${setting% *}" "${setting#* }" "$(join "${setting#* }")" \
            "$(timed join "${setting#* }" | sed 's/ *$//; s/ / | /g')"
        rm "$scratch/rows.npy"
    done
}

folder=$scratch/medium
if [[ -n ${SIMTOOL_DATA:-} ]]; then
    mkdir -p "$folder"
    zstd -dq "$SIMTOOL_DATA/newsgroups/article.txt.zst" -o "$folder/article.txt"
    zstd -dq "$SIMTOOL_DATA/newsgroups/sample.txt.zst" -o "$folder/sample.txt"
    cp "$SIMTOOL_DATA"/official/{stopwords,hashvalue}.txt "$folder"
    measure newsgroups "1000 16" "1000 64" "10000 128"
else
    generate 35
    measure generated "1000 16" "1000 64" "10000 128"
fi
measure_near_duplicates "the same"

if [[ -n $large ]]; then
    folder=$scratch/large
    generate "$large"
    measure "generated, large" "1000 16"
    measure_near_duplicates "the same"
fi
if [[ -z $crawl ]]; then
    :
elif [[ -f $crawl/report.txt ]]; then
    measure_crawl
    if [[ -f $crawl/languages/report.txt ]]; then measure_languages; fi
else
    printf '\n### crawl\n\nskipped: there is no crawl of scripts/real-crawl in %s\n' "$crawl"
fi
if [[ -n $joins ]]; then measure_joins; fi
