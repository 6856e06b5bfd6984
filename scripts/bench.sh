#!/usr/bin/env bash
# Times the whole program. Prints Markdown: for each setting the wall time (median and best), the
# processor time, MB/s, and the ratios to `wc -w` and to a plain read of the articles, measured in
# the same run; then the share of each stage. On a busy machine only the best time means much.
#
# usage: scripts/bench.sh [--runs N] [--large SIZE] [--crawl DIR] [--program FILE]
#   --runs N       runs of each setting (default 11; of a crawl 5, since they are long)
#   --large SIZE   also SIZE megabytes of generated text, for example 700
#   --crawl DIR    also the crawl that scripts/real-crawl wrote there, in every format, beside
#                  `gzip -dc` of its WARC files and `wc -w` of its text
#   --program FILE the program to time (default: a release build of this checkout)
#
# The articles are the newsgroups below $SIMTOOL_DATA, with the stop words and the hash table of
# "official" there; where the variable is not set, 35 MB are generated. Scratch files, up to three
# times SIZE, go to $TMPDIR.
set -euo pipefail

runs="" large="" crawl="" program=""
while (($#)); do
    case $1 in
    --runs) runs=$2 ;;
    --large) large=$2 ;;
    --crawl) crawl=$(realpath -m "$2") ;;
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

crawl_runs=${runs:-5} runs=${runs:-11}

# timed COMMAND...: median and best wall time of its runs and the median of their processor time, in
# milliseconds, after one run that does not count.
timed() {
    local TIMEFORMAT='%3R %3U %3S'
    "$@" >/dev/null
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

near_duplicates() { "$program" --quiet --force --output "$scratch/found" --corpus "$@"; }
unpack() { gzip -dc "$crawl"/warc/*.warc.gz; }
crawl_words() { wc -w "$crawl/text/pages.txt"; }

# peak COMMAND...: the most memory that it held, in MB, maps included.
peak() { "$@" --stats 2>&1 >/dev/null | sed -n 's/^peak memory *\([0-9.]* [MG]B\).*/\1/p'; }

# measure_crawl: the table of the crawl $crawl.
measure_crawl() {
    local rows format method setting
    local runs=$crawl_runs
    rows="gzip_-dc_of_the_WARC_files $(timed unpack) –
wc_-w_of_the_text $(timed crawl_words) –"
    for format in warc wet jsonl parquet text; do
        for method in simhash exact; do
            setting=(near_duplicates "$crawl/$format" --method "$method")
            case $format in jsonl | parquet) setting+=(--id-field url) ;; esac
            rows+="
$format,_$method $(timed "${setting[@]}") $(peak "${setting[@]}")"
        done
    done
    setting=(near_duplicates "$crawl/text" --shingle words:5 --similarity 0.7)
    rows+="
text,_exact,_words:5_at_0.7 $(timed "${setting[@]}") $(peak "${setting[@]}")"
    printf '\n### crawl\n\n%s; medians of %s runs\n\n' \
        "$(sed -n '/ pages, /p' "$crawl/report.txt")" "$runs"
    awk '
        function per(a, b) { return sprintf("%.2f", a / (b > 0 ? b : 1)) }
        BEGIN {
            print "| | median ms | best ms | processor ms | peak MB | this / gzip -dc | this / wc -w |" \
                " best / best wc -w |"
            print "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
        }
        NR == 1 { gzip = $2 }
        NR == 2 { wc = $2; best_wc = $3 }
        {
            gsub("_", " ", $1)
            printf "| %s | %d | %d | %d | %s | %s | %s | %s |\n", $1, $2, $3, $4, $5, per($2, gzip),
                wc ? per($2, wc) : "–", wc ? per($3, best_wc) : "–"
        }' <<<"$rows"
}

if [[ -n $large ]]; then
    folder=$scratch/large
    generate "$large"
    measure "generated, large" "1000 16"
fi
if [[ -z $crawl ]]; then
    :
elif [[ -f $crawl/report.txt ]]; then
    measure_crawl
else
    printf '\n### crawl\n\nskipped: there is no crawl of scripts/real-crawl in %s\n' "$crawl"
fi
