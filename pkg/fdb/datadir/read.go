package datadir

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// Mount is where the volume of a pod is mounted.
const Mount = "/var/fdb/data"

// script prints the cluster file, the coordination files, the files of storage and log servers, and the fdbserver
// processes of a container with their arguments, a record per line, and a last line that proves that the output is complete. Its
// arguments are the data directory and the generation that is searched for in coordination files: as
// a key, so neither before the @ of a connection string nor as the beginning of a longer ID.
//
// A coordinator whose state is read, and that has none, stores the generation of the reader: a value of 57
// bytes, the protocol version, two generations and a flag that no state follows. Its length is in the four
// bytes before the key. If most coordinators are without state, a recovery begins and stores one without logs,
// as before a database is created: a short value, in which the numbers of sets of logs, of tags of log routers and of
// old generations of logs are zero, 81 bytes after the key (DBCoreState.h). The state of a database has logs. So a file in which all records of the
// key are such is of a process that was never a coordinator of the database, and got the address of one; or
// no database was ever created there.
// Anything else counts as state. What cannot be read ends the script, and is unknown where the image has no od.
const script = `export LC_ALL=C
unreadable() { echo "$1 cannot be read" >&2; exit 1; }
[ -r "$1" ] && [ -x "$1" ] || unreadable "$1"
for d in "$1"/*/; do
[ ! -d "$d" ] || [ "${d##*/lost+found/}" = "" ] || { [ -r "$d" ] && [ -x "$d" ]; } || unreadable "$d"
done
if [ -f "$1/fdb.cluster" ]; then
while IFS= read -r l || [ -n "$l" ]; do printf 'cluster %s\n' "$l"; done <"$1/fdb.cluster" || unreadable "$1/fdb.cluster"
fi
for f in "$1"/coordination-*.fdq "$1"/*/coordination-*.fdq; do
[ -f "$f" ] || continue
current=no
found=1
if [ -n "$2" ]; then
grep -q -a -E "$2([^@0-9A-Za-z]|\$)" "$f"
found=$?
[ "$found" -le 1 ] || unreadable "$f"
fi
if [ "$found" = 0 ]; then
offsets=$(grep -a -b -o -E "$2([^@0-9A-Za-z]|\$)" "$f" | cut -d: -f1)
current=blank
if [ -z "$offsets" ] || ! command -v od >/dev/null; then
current=unknown
offsets=
fi
for o in $offsets; do
length=$(od -A n -t u4 -j "$((o - 4))" -N 4 "$f" | tr -d ' ')
[ "$length" = 57 ] && continue
[ "${length:-256}" -lt 256 ] && [ "$(od -A n -t u4 -j "$((o + ${#2} + 81))" -N 12 "$f" | tr -d ' ')" = 000 ] && continue
current=yes
break
done
fi
stat -c "coordination %s %Y $current %n" "$f" || exit 1
done
for f in "$1"/* "$1"/*/*; do
case "${f##*/}" in
coordination-*) ;;
clusterId|*storage-*|log-*|log2-*|logqueue-*|bw-*|*.sqlite*|*.redwood*|*.rocksdb*) printf 'data %s\n' "$f" ;;
esac
done
for p in /proc/[0-9]*; do
read -r comm 2>/dev/null <"$p/comm" && [ "$comm" = fdbserver ] || continue
echo "process ${p#/proc/}"
tr '\000' '\n' <"$p/cmdline" | sed "s|^|argument ${p#/proc/} |"
done
echo end`

// Argv is the command line that reads the data directories of a container, and the generation that it searches
// for. [Parse] parses its output.
func Argv(generation string) []string { return argv(Mount, generation) }

func argv(dir, generation string) []string {
	return []string{"sh", "-c", script, "sh", dir, generation}
}

// Parse parses what the command line of [Argv] printed. Incomplete output is an error.
func Parse(text string) (*Files, error) {
	f := &Files{Coordination: []File{}, Processes: []int{}}
	var clusterFile []string
	arguments := map[int][]string{}
	complete := false
	for line := range strings.Lines(text) {
		kind, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		var err error
		switch kind {
		case "cluster":
			clusterFile = append(clusterFile, rest)
		case "coordination":
			err = addCoordination(f, rest)
		case "data":
			f.Data = append(f.Data, rest)
		case "process":
			var pid int
			pid, err = strconv.Atoi(rest)
			f.Processes = append(f.Processes, pid)
		case "argument":
			err = addArgument(arguments, rest)
		case "end":
			complete = true
		default:
			err = errors.New("unknown record")
		}
		if err != nil {
			return nil, fmt.Errorf("invalid line %q: %w", line, err)
		}
	}
	if !complete {
		return nil, errors.New("the output is incomplete")
	}
	f.Servers = serversOf(f.Processes, arguments)
	if len(clusterFile) > 0 {
		s, err := fdb.ParseClusterFile(strings.Join(clusterFile, "\n"))
		if err != nil {
			return nil, err
		}
		f.ClusterFile, f.Generation = s.String(), s.Description+":"+s.ID
	}
	return f, nil
}

// addCoordination adds a file: size, time, what it has of the generation, path.
func addCoordination(f *Files, record string) error {
	const fields = 4
	parts := strings.SplitN(record, " ", fields)
	if len(parts) != fields {
		return fmt.Errorf("%s, %d required", phrase.Count(len(parts), "field"), fields)
	}
	size, err := strconv.ParseInt(parts[0], 10, 64)
	if err != nil {
		return err
	}
	modified, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil {
		return err
	}
	f.Coordination = append(f.Coordination, File{Path: parts[3], Bytes: size, Modified: time.Unix(modified, 0).UTC(), Current: parts[2] == "yes" || parts[2] == "unknown", Blank: parts[2] == "blank", Unknown: parts[2] == "unknown"})
	return nil
}

// addArgument adds an argument of the command line of a process: process ID, argument.
func addArgument(arguments map[int][]string, record string) error {
	id, argument, _ := strings.Cut(record, " ")
	pid, err := strconv.Atoi(id)
	if err != nil {
		return err
	}
	arguments[pid] = append(arguments[pid], argument)
	return nil
}

// serversOf returns what command lines of fdbserver show. A process whose addresses cannot be parsed
// has none.
func serversOf(pids []int, arguments map[int][]string) []Server {
	servers := []Server{}
	for _, pid := range pids {
		servers = append(servers, ServerOf(pid, arguments[pid]))
	}
	return servers
}

// ServerOf returns how a process with these arguments was started.
func ServerOf(pid int, arguments []string) Server {
	server := Server{PID: pid, Addresses: []string{}, Directory: flagOf(arguments, "--datadir", "-d"), Class: flagOf(arguments, "--class", "-c"), Localities: localitiesOf(arguments)}
	addresses, err := fdb.ParseAddresses(flagOf(arguments, "--public_address", "-p"))
	for _, a := range addresses {
		if err == nil {
			server.Addresses = append(server.Addresses, a.Coordinator())
		}
	}
	return server
}

// localitiesOf returns the localities that flags set; nil for none.
func localitiesOf(arguments []string) map[string]string {
	var all map[string]string
	for _, argument := range arguments {
		name, _, _ := strings.Cut(argument, "=")
		name = strings.ReplaceAll(name, "-", "_")
		if key, is := strings.CutPrefix(name, "__locality_"); is {
			if all == nil {
				all = map[string]string{}
			}
			all[key] = flagOf(arguments, "--locality_"+key)
		}
	}
	return all
}

// flagOf returns the value of a flag, as one argument or two, with dashes or underscores as fdbserver
// reads both; empty if it is not set.
func flagOf(arguments []string, names ...string) string {
	for i, argument := range arguments {
		name, value, hasValue := strings.Cut(argument, "=")
		if strings.HasPrefix(name, "--") {
			name = "--" + strings.ReplaceAll(name[2:], "-", "_")
		}
		switch {
		case !slices.Contains(names, name):
		case hasValue:
			return value
		case i+1 < len(arguments):
			return arguments[i+1]
		}
	}
	return ""
}
