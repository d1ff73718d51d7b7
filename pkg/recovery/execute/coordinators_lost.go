package execute

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/recovery"
)

// coordinationLimit bounds the copy of coordination files in or from one pod.
const coordinationLimit = 2 * time.Minute

// freeze is the beginning of scripts that stop the fdbserver processes in "$@", and continue them at the
// end: the files of a stopped process are those that it would find after it was killed.
const freeze = `frozen=
trap 'for p in $frozen; do kill -CONT "$p"; done' EXIT
trap 'exit 1' HUP INT TERM
sum() { sha256sum <"$1" | cut -d ' ' -f 1; }
freeze() {
for p in "$@"; do
if [ "$(cat "/proc/$p/comm" 2>/dev/null)" = fdbserver ]; then kill -STOP "$p"; frozen="$frozen $p"; fi
done
}
`

// keepScript keeps a copy of the pair of coordination files, once, and prints the checksum of each one
// that exists. Its arguments are the data directory, the suffix of copies, and process IDs.
const keepScript = `set -e
d=$1 s=$2
shift 2
` + freeze + `if ! [ -e "$d/coordination.$s" ]; then
mkdir -p "$d"
freeze "$@"
for f in coordination-0.fdq coordination-1.fdq; do
[ -e "$d/$f" ] || continue
cp "$d/$f" "$d/$f.$s"
[ "$(sum "$d/$f")" = "$(sum "$d/$f.$s")" ]
done
sync
: >"$d/coordination.$s"
fi
for f in coordination-0.fdq coordination-1.fdq; do
if [ -e "$d/$f.$s" ]; then echo "$f $(sum "$d/$f.$s")"; fi
done`

// fetchScript prints a file.
const fetchScript = `cat "$1"`

// stageScript writes its input to a file, unless the last step was taken already, and prints the
// checksum. Its arguments are the file and the proof of the last step.
const stageScript = `set -e
if [ -e "$2" ]; then cat >/dev/null; echo installed; exit; fi
cat >"$1"
sync "$1"
sha256sum <"$1" | cut -d ' ' -f 1`

// installScript replaces the pair of coordination files with those that were staged, once. A process
// that had other files open is killed: it would continue to use them. Its arguments are the data directory, the
// suffix of staged files, the checksums, and process IDs.
const installScript = `set -e
d=$1 s=$2 a=$3 b=$4
shift 4
` + freeze + `if ! [ -e "$d/coordination.$s" ]; then
[ "$(sum "$d/coordination-0.fdq.$s")" = "$a" ]
[ "$(sum "$d/coordination-1.fdq.$s")" = "$b" ]
freeze "$@"
others=
for f in coordination-0.fdq coordination-1.fdq; do
if [ -e "$d/$f" ]; then others=yes; fi
cp "$d/$f.$s" "$d/$f.new"
sync "$d/$f.new"
mv "$d/$f.new" "$d/$f"
done
[ "$(sum "$d/coordination-0.fdq")" = "$a" ]
[ "$(sum "$d/coordination-1.fdq")" = "$b" ]
if [ -n "$others" ]; then for p in $frozen; do kill -KILL "$p"; done; frozen=; fi
sync
: >"$d/coordination.$s"
fi
echo installed`

// installed is what scripts print that have nothing to do anymore.
const installed = "installed"

func keptSuffix(p recovery.Plan) string   { return "before-recovery-" + p.Digest[:digestLength] }
func stagedSuffix(p recovery.Plan) string { return "recovered-" + p.Digest[:digestLength] }

// keepCoordination keeps a copy of the coordination files in the volumes of all survivors and of all new
// coordinators, while their processes are stopped.
func (r Run) keepCoordination(ctx context.Context, p recovery.Plan, f recovery.Facts, s plan.Snapshot) error {
	return r.inPods(ctx, f, func(ctx context.Context, g recovery.Group) error {
		for _, dir := range directories(p, g.ID) {
			if _, err := r.keep(ctx, p, g, s, dir); err != nil {
				return err
			}
		}
		return nil
	})
}

// directories are those of a process group whose coordination files a plan copies or replaces.
func directories(p recovery.Plan, group string) (all []string) {
	for _, one := range p.Copy.Survivors {
		if one.Group == group {
			all = append(all, one.Directory)
		}
	}
	for _, n := range p.Copy.Coordinators {
		if n.Group == group {
			all = append(all, n.Directory)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// keep keeps a copy of the coordination files of a directory and returns their checksums by name. A
// survivor must have both.
func (r Run) keep(ctx context.Context, p recovery.Plan, g recovery.Group, s plan.Snapshot, dir string) (map[string]string, error) {
	text, err := r.script(ctx, s, g, admin.Command{}, keepScript, append([]string{dir, keptSuffix(p)}, processIDs(g, dir)...)...)
	if err != nil {
		return nil, err
	}
	sums := map[string]string{}
	for line := range strings.Lines(text) {
		name, sum, _ := strings.Cut(strings.TrimSpace(line), " ")
		sums[name] = sum
	}
	isSurvivor := slices.ContainsFunc(p.Copy.Survivors, func(o recovery.Survivor) bool { return o.Group == g.ID && o.Directory == dir })
	if pair := len(sums[recovery.CoordinationFile0]) > 0 && len(sums[recovery.CoordinationFile1]) > 0; isSurvivor && !pair {
		return nil, fmt.Errorf("%s of 2 coordination files in %s was kept", phrase.Count(len(sums), "copy"), dir)
	}
	return sums, nil
}

// processIDs are those of the fdbserver processes that use a data directory.
func processIDs(g recovery.Group, dir string) (ids []string) {
	for _, server := range g.Files.Servers {
		if path.Clean(server.Directory) == path.Clean(dir) {
			ids = append(ids, strconv.Itoa(server.PID))
		}
	}
	return ids
}

// copyCoordination copies the kept state of the source to each new coordinator that is no survivor.
func (r Run) copyCoordination(ctx context.Context, p recovery.Plan, f recovery.Facts, s plan.Snapshot) error {
	source := slices.IndexFunc(f.Groups, func(g recovery.Group) bool { return g.ID == p.Copy.Source.Group })
	if source < 0 {
		return fmt.Errorf("process group %s of the source is not in the status", p.Copy.Source.Group)
	}
	state, err := r.fetch(ctx, p, f.Groups[source], s)
	if err != nil {
		return fmt.Errorf("pod %s: %w", p.Copy.Source.Pod, err)
	}
	return r.inPods(ctx, f, func(ctx context.Context, g recovery.Group) error {
		for _, n := range p.Copy.Coordinators {
			if n.Group == g.ID && !n.Keeps {
				return r.install(ctx, p, g, s, n.Directory, state)
			}
		}
		return nil
	})
}

// coordinationFile is a file with coordination state and its checksum.
type coordinationFile struct {
	name, sum string
	content   []byte
}

// fetch reads the kept state of the source, and verifies it.
func (r Run) fetch(ctx context.Context, p recovery.Plan, g recovery.Group, s plan.Snapshot) (state []coordinationFile, err error) {
	dir := p.Copy.Source.Directory
	sums, err := r.keep(ctx, p, g, s, dir)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{recovery.CoordinationFile0, recovery.CoordinationFile1} {
		text, err := r.script(ctx, s, g, admin.Command{Reads: true}, fetchScript, path.Join(dir, name+"."+keptSuffix(p)))
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256([]byte(text))
		if hex.EncodeToString(sum[:]) != sums[name] {
			return nil, fmt.Errorf("%s was read with another checksum than that of the kept copy", name)
		}
		state = append(state, coordinationFile{name: name, sum: sums[name], content: []byte(text)})
	}
	return state, nil
}

// install stages both files in a data directory, and then replaces those there.
func (r Run) install(ctx context.Context, p recovery.Plan, g recovery.Group, s plan.Snapshot, dir string, state []coordinationFile) error {
	proof := path.Join(dir, "coordination."+stagedSuffix(p))
	arguments := []string{dir, stagedSuffix(p)}
	for _, file := range state {
		text, err := r.script(ctx, s, g, admin.Command{Stdin: bytes.NewReader(file.content)}, stageScript, path.Join(dir, file.name+"."+stagedSuffix(p)), proof)
		if err != nil {
			return err
		}
		if got := strings.TrimSpace(text); got != file.sum && got != installed {
			return fmt.Errorf("%s has another checksum after it was written", file.name)
		}
		arguments = append(arguments, file.sum)
	}
	text, err := r.script(ctx, s, g, admin.Command{}, installScript, append(arguments, processIDs(g, dir)...)...)
	if err == nil && strings.TrimSpace(text) != installed {
		err = fmt.Errorf("the coordination files in %s could not be verified after they were replaced", dir)
	}
	return err
}

// script runs a script in the pod of a process group, with the input of a command.
func (r Run) script(ctx context.Context, s plan.Snapshot, g recovery.Group, c admin.Command, script string, args ...string) (string, error) {
	tool, err := r.Tool(s.Pods[g.Pod], v1beta2.ContainerMain)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, coordinationLimit)
	defer cancel()
	c.Argv, c.Limit = append([]string{"sh", "-c", script, "sh"}, args...), coordinationLimit
	result, err := tool.Run(ctx, c)
	switch {
	case err != nil:
		return "", err
	case result.ExitCode != 0:
		return "", fmt.Errorf("exit code %d: %s", result.ExitCode, strings.TrimSpace(string(result.Stderr)))
	}
	return string(result.Stdout), nil
}

// present makes a run read facts without the process groups that a plan has as removed.
func (r Run) present(p recovery.Plan) Run {
	read := r.Read
	r.Read = func(ctx context.Context) (recovery.Facts, plan.Snapshot, error) {
		f, s, err := read(ctx)
		return p.Present(f), s, err
	}
	return r
}
