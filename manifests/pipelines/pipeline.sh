#!/bin/sh
# Checks, plans or applies a change of a FoundationDB cluster in a pipeline, and comments on a pull request or a merge
# request.
# docs/pipelines.md describes the variables. Needs kubectl-fdb; comments and plans need jq, comments need curl.
set -eu
set +x # a trace would print the token

fail() {
  echo "error: $1" >&2
  exit 2
}

mode=${MODE:-}
cluster=${CLUSTER:-}
namespace=${NAMESPACE:-}
plan=${PLAN:-plan.json}
results=${RESULTS:-}
marker="<!-- kubectl-fdb $mode $namespace/$cluster -->"

# forge is where comments are: that of the job, with its address and what it commented on.
forge=${FORGE:-${GITLAB_CI:+gitlab}}
forge=${forge:-github}
if [ "$forge" = gitlab ]; then
  pull_request=${PULL_REQUEST:-${CI_MERGE_REQUEST_IID:-}}
  REPOSITORY=${REPOSITORY:-${CI_PROJECT_ID:-}}
  RUN_URL=${RUN_URL:-${CI_JOB_URL:-}}
  TOKEN=${TOKEN:-${KUBECTL_FDB_TOKEN:-}}
  export TOKEN
  if [ -n "$pull_request" ] && [ -z "$TOKEN" ]; then # a job of a fork has no protected variables
    echo "warning: merge request $pull_request gets no comment: KUBECTL_FDB_TOKEN is not set" >&2
    pull_request=
  fi
  api_url=${API_URL:-${CI_API_V4_URL:-https://gitlab.com/api/v4}}
  comments_url=$api_url/projects/$REPOSITORY/merge_requests/$pull_request/notes
  comment_url=$comments_url changing=PUT
else
  pull_request=${PULL_REQUEST:-}
  api_url=${API_URL:-https://api.github.com}
  comments_url=$api_url/repos/${REPOSITORY:-}/issues/$pull_request/comments
  comment_url=$api_url/repos/${REPOSITORY:-}/issues/comments changing=PATCH
fi

case $forge in github | gitlab) ;; *) fail "invalid forge \"$forge\": must be github or gitlab" ;; esac
case $mode in check | plan | apply) ;; *) fail "invalid mode \"$mode\": must be check, plan or apply" ;; esac
case $cluster in '' | -* | *[!a-z0-9.-]*) fail "invalid cluster \"$cluster\": must be the name of a FoundationDBCluster" ;; esac
case $namespace in -* | *[!a-z0-9-]*) fail "invalid namespace \"$namespace\": must be the name of a namespace" ;; esac
case $plan in -*) fail "invalid plan \"$plan\": must be a file" ;; esac
case $pull_request in *[!0-9]*) fail "invalid pull request \"$pull_request\": must be a number" ;; esac
case ${REPOSITORY:-} in *[!A-Za-z0-9._/-]* | *..*) fail "invalid repository \"$REPOSITORY\": must be OWNER/NAME" ;; esac
if [ -n "$pull_request" ] && { [ -z "${REPOSITORY:-}" ] || [ -z "${TOKEN:-}" ]; }; then
  fail "a pull request requires a repository and a token"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

digest() {
  if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

# result keeps a value for the steps after this one.
result() {
  if [ -n "$results" ]; then printf %s "$2" >"$results/$1"; fi
  if [ -n "${DOTENV:-}" ]; then echo "$(echo "$1" | tr a-z- A-Z_)=$2" >>"$DOTENV"; fi
  if [ -n "${GITHUB_OUTPUT:-}" ]; then echo "$1=$2" >>"$GITHUB_OUTPUT"; fi
}

# run copies the output of a command into a file and to the log, and sets code. A signal is passed on, so that
# the command finishes its action and releases its locks.
run() {
  output=$1
  shift
  mkfifo "$work/pipe"
  tee "$output" <"$work/pipe" &
  log=$!
  command='' ended=''
  # A signal may arrive before the ID of the command is stored: then it is passed on once it is, and only once, since a
  # second one ends the command at once.
  trap 'if [ -n "$command" ]; then kill -TERM "$command" 2>/dev/null || true; else ended=1; fi' INT TERM
  "$@" >"$work/pipe" &
  command=$!
  if [ -n "$ended" ]; then kill -TERM "$command" 2>/dev/null || true; fi
  code=0
  wait "$command" || code=$?
  while kill -0 "$command" 2>/dev/null; do
    code=0
    wait "$command" || code=$?
  done
  trap - INT TERM
  wait "$log" || true
}

# api sends a request and prints the HTTP status. The token is in no argument, which other processes could read.
api() {
  method=$1 url=$2 answer=$3
  shift 3
  printf 'header = "Authorization: Bearer %s"\n' "$TOKEN" |
    curl --config - --silent --show-error --max-time 60 --request "$method" --header 'Accept: application/json' \
      --header 'Content-Type: application/json' --output "$answer" --write-out '%{http_code}' "$@" "$url"
}

# author prints the user that the token writes comments as. Tokens of apps, as GitHub Actions has them, may not read
# /user, and the address of GraphQL on GitHub Enterprise Server has no version.
author() {
  if [ "$forge" = gitlab ]; then
    status=$(api GET "$api_url/user" "$work/viewer") || return 1
    [ "$status" = 200 ] && jq -er '.username // empty' "$work/viewer" 2>/dev/null
    return
  fi
  status=$(api POST "${api_url%/v3}/graphql" "$work/viewer" --data-binary '{"query":"{viewer{login}}"}') || return 1
  [ "$status" = 200 ] && jq -er '.data.viewer.login // empty' "$work/viewer" 2>/dev/null
}

# own_comments prints the IDs of comments that an earlier run of the same user wrote for this mode and cluster. Anyone
# can write a comment with the marker, and could change it again after this run.
own_comments() {
  if ! login=$(author); then
    echo "warning: the user of the token cannot be read: comments of earlier runs are not updated" >&2
    return 0
  fi
  page=1
  while true; do
    status=$(api GET "$comments_url?per_page=100&page=$page" "$work/page") || return 1
    if [ "$status" != 200 ]; then
      echo "the comments cannot be listed: HTTP status $status" >&2
      return 1
    fi
    jq -r --arg marker "$marker" --arg login "$login" \
      '.[] | select((.user.login // .author.username) == $login and ((.body // "") | startswith($marker))) | .id' "$work/page"
    if [ "$(jq length "$work/page")" -lt 100 ]; then return 0; fi
    page=$((page + 1))
  done
}

# comment updates the comment of an earlier run, or creates one if there is none that may be changed.
comment() {
  own_comments >"$work/ids" || return 1
  while read -r id; do
    status=$(api $changing "$comment_url/$id" "$work/answer" --data-binary "@$work/body.json") || return 1
    case $status in
    200) return 0 ;;
    403 | 404) ;; # not to be changed any more, or deleted since
    *)
      echo "the comment cannot be updated: HTTP status $status" >&2
      return 1
      ;;
    esac
  done <"$work/ids"
  status=$(api POST "$comments_url" "$work/answer" --data-binary "@$work/body.json") || return 1
  if [ "$status" != 201 ]; then
    echo "the comment cannot be created: HTTP status $status" >&2
    return 1
  fi
}

# body writes the comment: at most 60,000 characters of the text, of 65,536 that GitHub accepts. GitLab executes lines
# that begin with a slash.
body() {
  jq -n -c --rawfile text "$work/text" --arg marker "$marker" --arg mode "$mode" --arg cluster "$cluster" --arg title "$title" \
    --arg url "${RUN_URL:-}" --arg sum "$sum" '
    def max: 60000;
    def cut: if length <= max then . else .[:max] | split("\n") | if length > 1 then .[:-1] else . end | join("\n") end;
    (if $url == "" then "the log of the job" else "[the log of the job](\($url))" end) as $log
    | ($text | split($ENV.TOKEN) | join("***") | sub("\n+\\z"; "") | if $mode == "check" then gsub("(?<before>^|\n)(?<blanks>[ \t]*)/"; "\(.before)\(.blanks)\\/") else gsub("`{4,}"; "```") end) as $all
    | ($all | cut) as $shown
    | {body: ([
        $marker,
        "### kubectl fdb \($mode) \($cluster): \($title)",
        if $shown == "" then empty elif $mode == "check" then $shown else "````text\n\($shown)\n````" end,
        if ($shown | length) < ($all | length)
          then "**Cut after \($shown | split("\n") | length) of \($all | split("\n") | length) lines.** The whole text is in \($log)." else "See \($log)." end,
        if $sum == "" then empty else "SHA-256 of the plan: `\($sum)`" end
      ] | join("\n\n"))}' >"$work/body.json"
}

# plan_text prints the actions of the plan, of the next pass and as forecast for all passes, and what these do in all.
plan_text() {
  jq -r '
    def size: if . >= 1073741824 then "\(. / 107374182.4 | round / 10) GiB" elif . >= 1048576 then "\(. / 104857.6 | round / 10) MiB" else "\(. / 1024 | round) KiB" end;
    (.changes // [] | .[] | "\(.setting): \(.from // "-"), desired \(.to // "-")"),
    (.items[] | "\(.number). \(.stage): \(.summary)"),
    (.forecast // empty
      | "forecast: \(.end) after \(.seconds | round) s, in \(.passes) passes with \(.totals.actions) actions",
        (.totals | "in all: recoveries \(.recoveries) (commits pause for \(.pausedSeconds | round) s), processes restarted \(.processesRestarted) (\(.mostAtOnce) at once), process groups removed \(.groupsRemoved), pods \(.podsNow), at most \(.podsAtPeak), data to move \(.movedBytes | size)"),
        (.phases // [] | map(.fewestCopies | values) | min | values
          | if . > 1 then "if a node is lost meanwhile: all data stays available" else "if a node is lost meanwhile: some data is unavailable until it or another copy is back" end),
        (.phases // [] | .[] | "- \(.stage): \(.summary)"))
  ' "$plan"
}

set -f # ARGUMENTS are split at blanks and not expanded
# shellcheck disable=SC2086
set -- ${namespace:+-n "$namespace"} ${ARGUMENTS:-}
sum=
: >"$work/text"
case $mode in
check)
  run "$work/text" kubectl-fdb check "$cluster" -o markdown "$@"
  case $code in 0) title=passed ;; 1) title="has findings" ;; 8) title=unknown ;; *) title="failed with exit code $code" ;; esac
  ;;
plan)
  code=0
  kubectl-fdb reconcile "$cluster" --wait --dry-run -o json "$@" >"$plan" || code=$?
  if [ "$code" -le 1 ]; then
    plan_text | tee "$work/text"
    sum=$(digest "$plan")
  fi
  case $code in 0) title="nothing to do" ;; 1) title="$(jq '.items | length' "$plan") actions" ;; *) title="failed with exit code $code" ;; esac
  ;;
apply)
  if [ ! -f "$plan" ]; then fail "the plan \"$plan\" is not found"; fi
  sum=$(digest "$plan")
  if [ -n "${PLAN_SHA256:-}" ] && [ "$PLAN_SHA256" != "$sum" ]; then
    echo "error: the plan has the SHA-256 $sum, and $PLAN_SHA256 was approved: nothing was changed" >&2
    code=6
  else
    run "$work/text" kubectl-fdb reconcile "$cluster" --plan "$plan" --yes --wait --timeout "${TIMEOUT:-1h}" --reason "${REASON:-pipeline ${RUN_URL:-}}" "$@"
  fi
  case $code in 0) title=done ;; *) title="ended with exit code $code" ;; esac
  ;;
esac

result exit-code "$code"
result plan-sha256 "$sum"
# The exit code is that of the command: a comment that fails is a warning.
if [ -n "$pull_request" ] && ! { body && comment; }; then
  echo "warning: pull request $pull_request has no comment of this run" >&2
fi
if [ "$mode" = plan ] && [ "$code" = 1 ] && [ "${CHANGES:-fail}" = succeed ]; then exit 0; fi
exit "$code"
