rounds=$1
limit=$2
shift 2
set -f
for program in getent timeout; do
  command -v "$program" >/dev/null 2>&1 || { echo "missing $program"; exit 0; }
done
read -r now idle 2>/dev/null </proc/uptime || { echo "missing /proc/uptime"; exit 0; }
lookup() {
  read -r begin idle </proc/uptime
  found=$(timeout "$limit" getent ahosts "$2" </dev/null 2>/dev/null)
  code=$?
  read -r end idle </proc/uptime
  all=
  IFS='
'
  for line in $found; do
    address=${line%%[!0-9A-Fa-f.:]*}
    case ",$all" in *",$address,"*) ;; *) all="$all$address,";; esac
  done
  echo "lookup $1 $begin $end $code $all"
}
while [ "$rounds" -gt 0 ]; do
  at=0
  for name in "$@"; do
    lookup "$at" "$name" &
    at=$((at + 1))
  done
  rounds=$((rounds - 1))
done
wait
echo end
