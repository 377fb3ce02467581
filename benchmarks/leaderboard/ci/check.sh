#!/usr/bin/env bash
# Checks a submission: what it touches, then `arena check` with the agents locked up, then the ratings as they would be.
#
#     check.sh BASE SUBMISSION
#
# BASE: a checkout that is trusted, of what the submission is to be merged into; its tabletop_envs is the installed one.
# SUBMISSION: a checkout of the same with the submission merged in. Nothing is written into either.
#
# IMAGE   a container image (see Dockerfile) in which agents run, each in a container of its own: without network, with
#         nothing but its own folder in sight, read-only, with limits of CPU, memory and processes. Without one they run
#         here, with limits of CPU and memory, and without network where the system lets anybody have that.
# SALT    what the drawing of the decisions that are asked again depends on; by default nobody knows it before
# BOARD   the board's folder in the checkouts (benchmarks/leaderboard)
# PYTHON  which runs tabletop_envs (python)
set -euo pipefail

base=$(realpath "$1") submission=$(realpath "$2")
board=${BOARD:-benchmarks/leaderboard}
python=${PYTHON:-python}
salt=${SALT:-$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

refuse() {
    echo "$1" >&2
    exit 1
}

# --- what it touches: one agent's folder, and games of that agent

links=$(cd "$submission" && find . -name .git -prune -o -type l -print)
known=$(cd "$base" && find . -name .git -prune -o -type l -print)
[ "$links" = "$known" ] || refuse "a submission holds no links, but this one: $links"

digests() {
    (cd "$1" && find . -name .git -prune -o -name __pycache__ -prune -o -type f -print0 | sort -z | xargs -0 sha256sum)
}
changed=$({ diff <(digests "$base") <(digests "$submission") || true; } | sed -n 's/^[<>] \\\?[0-9a-f]\{64\}  \.\///p' | sort -u)
[ -n "$changed" ] || refuse "the submission changes nothing"
name=""
while IFS= read -r path; do
    found=""
    if [[ $path =~ ^"$board"/agents/([a-z0-9][a-z0-9-]*)/[A-Za-z0-9_][A-Za-z0-9_.-]*$ ]]; then
        found=${BASH_REMATCH[1]}
    elif [[ $path =~ ^"$board"/seasons/[a-z0-9_]+/[0-9]+p/[a-z0-9.-]+/games-([a-z0-9][a-z0-9-]*)\.jsonl\.gz$ ]]; then
        found=${BASH_REMATCH[1]}
        [ -f "$submission/$path" ] || refuse "a submission takes no games away: $path"
    else
        refuse "a submission changes its own agent and its games, not $path"
    fi
    [ -z "$name" ] || [ "$name" = "$found" ] || refuse "a submission is of one agent, not of $name and $found: $path"
    name=$found
done <<<"$changed"
echo "a submission of the agent $name; salt $salt"

# --- where agents run

if [ -n "${IMAGE:-}" ]; then
    inside="docker run --rm --interactive --network none --read-only --tmpfs /tmp:size=64m --cpus 1 --memory 4g
        --memory-swap 4g --pids-limit 256 --cap-drop ALL --security-opt no-new-privileges --user 65534:65534
        --volume {folder}:{folder}:ro $IMAGE timeout 3600"
else
    inside="prlimit --cpu=3600 --as=17179869184 --core=0"
    if unshare --map-root-user --net true 2>/dev/null; then
        inside="unshare --map-root-user --net $inside"
    else
        echo "warning: agents have a network; set IMAGE to run them in containers" >&2
    fi
fi

# --- the check: schedules and all other agents are those of the base

"$python" -m tabletop_envs arena check "$submission/$board/agents/$name" --base "$base/$board" --salt "$salt" \
    --inside "$inside"

# --- the ratings with it

cp -r "$submission/$board" "$scratch/board"
chmod -R u+w "$scratch/board"
"$python" -m tabletop_envs arena rate "$scratch/board" >"$scratch/rated"
diff -uN --label before --label after "$base/$board/README.md" "$scratch/board/README.md" || true
