package fdbsim

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
)

// recordingsDir is where recordings of real programs are, if there are any.
func recordingsDir(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("FDB_RECORDINGS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "recordings")
	}
	dir = filepath.Join(dir, "7.3.79")
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("SKIPPED: the model is NOT compared with FoundationDB: no recordings (%v); set FDB_RECORDINGS to their directory", err)
	}
	return dir
}

// step is one recorded step.
type step struct {
	Argv         []string
	Env          map[string]string
	Stdin        string
	Stdout       string
	StdoutFile   string `json:"stdout_file"`
	Stderr       string
	StdoutBase64 string `json:"stdout_base64"`
	StderrBase64 string `json:"stderr_base64"`
	Exit         *int
	Session      bool
	Events       []event
	Note, Before string
	Observation  any
	Action       string
	At           time.Time
	KilledAfter  float64 `json:"killed_by_recorder_after_s"`
	StoppedAfter float64 `json:"stopped_by_recorder_after_seconds"`
	ElapsedS     float64 `json:"elapsed_s"`
	Elapsed      float64
}

// event is one moment of a recorded session.
type event struct {
	T    float64
	Kind string
	Data string
}

func readScenario(t *testing.T, dir, name string) []step {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var recorded struct{ Steps []step }
	if err := json.Unmarshal(content, &recorded); err != nil {
		t.Fatal(err)
	}
	return recorded.Steps
}

// want is what the recorded program printed.
func (s step) want(t *testing.T, dir string) result {
	t.Helper()
	r := result{stdout: s.Stdout + decoded(t, s.StdoutBase64), stderr: s.Stderr + decoded(t, s.StderrBase64)}
	if s.StdoutFile != "" {
		content, err := os.ReadFile(filepath.Join(dir, s.StdoutFile))
		if err != nil {
			t.Fatal(err)
		}
		r.stdout = string(content)
	}
	if s.Exit != nil {
		r.exit = *s.Exit
	}
	if s.StoppedAfter > 0 {
		r.exit = model.ExitKilled
	}
	if r.exit < 0 {
		r.exit = 128 - r.exit
	}
	return r
}

func decoded(t *testing.T, text string) string {
	t.Helper()
	content, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// script feeds a session line by line, letting as much of the model's time pass
// as passed when it was recorded.
type script struct {
	w      *Simulation
	events []event
	at     float64
	during map[int]func() // by the number of the event it comes before
	n      int
}

func (s *script) Read(p []byte) (int, error) {
	for s.n < len(s.events) {
		e := s.events[s.n]
		if e.Kind != "stdin" {
			s.n++
			continue
		}
		if f := s.during[s.n]; f != nil {
			f()
		}
		if e.T > s.at {
			s.w.Advance(time.Duration((e.T - s.at) * float64(time.Second)))
			s.at = e.T
		}
		n := copy(p, e.Data)
		if n < len(e.Data) {
			s.events[s.n].Data = e.Data[n:]
		} else {
			s.n++
		}
		return n, nil
	}
	return 0, io.EOF
}

// replay is a scenario as the model runs it.
type replay struct {
	// setup makes the cluster as it was before the first step.
	setup func(t *testing.T) *cluster
	// before does what was done to the cluster before a step.
	before map[int]func(c *cluster)
	// skip are steps that do not run fdbcli, with the reason.
	skip map[int]string
	// nested runs another step while a session is in the middle: session step,
	// then the event before which it happens, then the step that runs.
	nested map[int][2]int
	// noStatus omits the process's status: the recorded cluster was used for
	// something else.
	noStatus bool
}

func (c *cluster) replayStep(s step, in io.Reader) result {
	c.t.Helper()
	var stdout, stderr bytes.Buffer
	argv := c.translated(s.Argv)
	if len(argv) == 3 && argv[0] == "sh" && argv[1] == "-c" {
		argv = []string{"fdbcli", "-C", liveFile, "--timeout", "20", "--exec", s.Stdin}
	}
	limit := max(s.KilledAfter, s.StoppedAfter)
	if limit > 0 {
		argv = append([]string{"timeout", fmt.Sprint(limit)}, argv...)
	}
	exit := c.RunCommand(context.Background(), argv, Tool{
		Version: "7.3.79", Env: s.Env, Files: c.files, Stdin: in, Stdout: &stdout, Stderr: &stderr,
	})
	if limit > 0 && exit == ExitTimeout {
		exit = model.ExitKilled
	}
	return result{stdout.String(), stderr.String(), exit}
}

// canonical replaces what differs from run to run.
func canonical(s string) string {
	for _, r := range canonicalRules {
		s = r.pattern.ReplaceAllString(s, r.with)
	}
	return s
}

var canonicalRules = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`Committed \(\d+\)`), "Committed (V)"},
	{regexp.MustCompile(`(?m)^\d{6,}$`), "V"},
	{regexp.MustCompile(`(sample_cluster|renamed):[A-Za-z0-9]+@`), "$1:ID@"},
	{regexp.MustCompile(`\b[0-9a-f]{32}\b`), "UID"},
	{regexp.MustCompile(`"timestamp" : \d+`), `"timestamp" : T`},
	{regexp.MustCompile(`(?s)available to be set using the .option' command:\n.*?USE_PROVISIONAL_PROXIES - [^\n]*(\n[^\n]+)*\n\n`), "OPTIONS\n"},
	{regexp.MustCompile(`(rate|started|committed) +- \d+ Hz`), "$1 - N Hz"},
	{regexp.MustCompile(`(Moving data|Sum of key-value sizes|Disk space used) +- [\d.]+ [GM]B`), "$1 - N"},
	{regexp.MustCompile(`- [\d.]+ GB (free|per process)`), "- N GB $1"},
	{regexp.MustCompile(`(Server time +-|Client time:) \S+ \S+`), "$1 T"},
	{regexp.MustCompile(`\( +\d+% cpu; .*\)`), "(FIGURES)"},
	{regexp.MustCompile(`Old log epoch: .*`), "Old log epoch"},
	{regexp.MustCompile("Trace: addr2line.*\n"), ""},
	{regexp.MustCompile(`(dangerous operation\.\n)[A-Za-z0-9]{10}\n`), "${1}PHRASE\n"},
	{regexp.MustCompile(`zone-4(\\x[0-9a-f]{2}|.)+'`), "zone-4VERSION'"},
	{regexp.MustCompile(`continue for \d+ seconds`), "continue for N seconds"},
	{regexp.MustCompile(`zone-4' is .\d+'`), "zone-4' is N"},
}

// isStatus reports whether an output is a status document.
func isStatus(s step) bool { return strings.HasSuffix(s.StdoutFile, ".json") && len(s.Stdout) == 0 }

// fields are the paths of a document: names of processes, machines and elements
// of lists left out, roles kept apart.
func fields(text string) map[string]bool {
	found := map[string]bool{}
	start := strings.Index(text, "{")
	if start < 0 {
		return found
	}
	var v any
	if err := json.NewDecoder(strings.NewReader(text[start:])).Decode(&v); err != nil {
		found["NOT JSON: "+err.Error()] = true
		return found
	}
	walk("", v, found)
	return found
}

func walk(path string, v any, found map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if path == ".cluster.processes" || path == ".cluster.machines" {
				key = "*"
			}
			found[path+"."+key] = true
			walk(path+"."+key, value, found)
		}
	case []any:
		for _, element := range v {
			inner := path + "[]"
			if o, ok := element.(map[string]any); ok && o["role"] != nil {
				inner = fmt.Sprintf("%s[%v]", path, o["role"])
			}
			walk(inner, element, found)
		}
	}
}

// verdict is how a run of the model differs from the recording; "" for not at
// all.
func verdict(s step, want, got result) string {
	var diffs []string
	if want.exit != got.exit {
		diffs = append(diffs, fmt.Sprintf("exit %d, recorded %d", got.exit, want.exit))
	}
	canonical := canonical
	if isBackupTool(s) {
		canonical = canonicalBackup
	}
	if canonical(want.stderr) != canonical(got.stderr) {
		diffs = append(diffs, fmt.Sprintf("stderr %q, recorded %q", canonical(got.stderr), canonical(want.stderr)))
	}
	if !isStatus(s) && canonical(want.stdout) != canonical(got.stdout) {
		diffs = append(diffs, fmt.Sprintf("stdout %q, recorded %q", canonical(got.stdout), canonical(want.stdout)))
	}
	return strings.Join(diffs, "; ")
}

// fieldDifferences are the paths that only one of the documents has.
func fieldDifferences(want, got result) []string {
	recorded, modeled := fields(want.stdout), fields(got.stdout)
	var diffs []string
	for path := range recorded {
		if !modeled[path] && !parentMissing(path, modeled, recorded) {
			diffs = append(diffs, "lacks "+path)
		}
	}
	for path := range modeled {
		if !recorded[path] && !parentMissing(path, recorded, modeled) {
			diffs = append(diffs, "has "+path)
		}
	}
	slices.Sort(diffs)
	return diffs
}

// facts are what decisions are made on in a document.
func facts(text string) map[string]string {
	start := strings.Index(text, "{")
	if start < 0 {
		return nil
	}
	var d document
	if err := json.NewDecoder(strings.NewReader(text[start:])).Decode(&d); err != nil {
		return map[string]string{"not JSON": err.Error()}
	}
	var messages, processes []string
	for _, m := range append(d.Client.Messages, d.Cluster.Messages...) {
		messages = append(messages, m.Name)
	}
	for _, p := range d.Cluster.Processes {
		excluded := ""
		if p.Excluded != nil && *p.Excluded {
			excluded = " excluded"
		}
		processes = append(processes, p.Address+" "+p.ClassType+excluded)
	}
	slices.Sort(messages)
	slices.Sort(processes)
	return map[string]string{
		"database":        fmt.Sprint(d.Client.DatabaseStatus),
		"quorum":          fmt.Sprint(d.Client.Coordinators.QuorumReachable),
		"recovery":        d.Cluster.RecoveryState.Name,
		"layers":          fmt.Sprint(d.Cluster.Layers),
		"messages":        fmt.Sprint(messages),
		"data":            d.Cluster.Data.State.Name,
		"replicas":        fmt.Sprint(d.Cluster.Data.State.Least),
		"fault tolerance": fmt.Sprint(d.Cluster.FaultTolerance.Data),
		"log generations": fmt.Sprint(len(d.Cluster.Logs)),
		"processes":       strings.Join(processes, ", "),
		"lock":            fmt.Sprint(d.Cluster.Lock.Locked),
		"maintenance":     d.Cluster.MaintenanceZone,
	}
}

// factDifferences are the facts on which the documents disagree.
func factDifferences(want, got result) []string {
	recorded, modeled := facts(want.stdout), facts(got.stdout)
	var diffs []string
	for _, name := range slices.Sorted(maps.Keys(recorded)) {
		if recorded[name] != modeled[name] {
			diffs = append(diffs, fmt.Sprintf("%s %s, recorded %s", name, modeled[name], recorded[name]))
		}
	}
	return diffs
}

// parentMissing reports whether the other document lacks a part that contains
// the path, so that it is one difference and not many.
func parentMissing(path string, other, own map[string]bool) bool {
	for parent := range own {
		if len(parent) < len(path) && strings.HasPrefix(path, parent) && (path[len(parent)] == '.' || path[len(parent)] == '[') && !other[parent] {
			return true
		}
	}
	return false
}

func TestTheSimulationMatchesRecordings(t *testing.T) {
	dir := recordingsDir(t)
	for _, name := range slices.Sorted(maps.Keys(replays)) {
		t.Run(name, func(t *testing.T) {
			replays[name].run(t, name, dir)
		})
	}
}

// TestTheSimulationMatchesRecordingExcerpts replays the beginnings of some recordings, which are
// part of the repository.
func TestTheSimulationMatchesRecordingExcerpts(t *testing.T) {
	dir := filepath.Join("testdata", "excerpts")
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no excerpts: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) {
			replays[name].run(t, name, dir)
		})
	}
}

func (r replay) run(t *testing.T, name, dir string) {
	t.Helper()
	steps := readScenario(t, dir, name)
	c := r.setup(t)
	compared, begun := 0, c.Now()
	for i, s := range steps {
		n := i + 1
		if r.isNested(n) {
			continue
		}
		if !s.At.IsZero() {
			c.Advance(s.At.Sub(steps[0].At) - c.Now().Sub(begun))
		}
		if f := r.before[n]; f != nil {
			f(c)
		}
		if r.skip[n] != "" {
			t.Logf("step %d is not compared: %s", n, r.skip[n])
			continue
		}
		if len(s.Argv) == 0 {
			if waited.MatchString(s.Note) && r.before[n] == nil {
				c.Advance(observationTime)
			}
			continue
		}
		if r.noStatus && (isStatus(s) || s.Argv[len(s.Argv)-1] == "status") {
			continue
		}
		if s.Argv[0] == "cat" {
			c.judge(name, n, s, s.want(t, dir), result{stdout: c.files.files[s.Argv[1]]})
			continue
		}
		c.judge(name, n, s, s.want(t, dir), c.replayStep(s, r.input(c, n, s, steps, name, dir)))
		compared++
	}
	if compared == 0 {
		t.Error("nothing was compared")
	}
}

// waited are the notes of observations for which the recorder waited.
var waited = regexp.MustCompile("^(healthy|recovered)|until data.state|state before the second round")

// observationTime is how long the recorder may have waited for a state.
const observationTime = time.Minute

func (r replay) isNested(n int) bool {
	for _, other := range r.nested {
		if other[1] == n {
			return true
		}
	}
	return false
}

func (r replay) input(c *cluster, n int, s step, steps []step, name, dir string) io.Reader {
	if !s.Session {
		return strings.NewReader(s.Stdin)
	}
	in := &script{w: c.Simulation, events: s.Events, during: map[int]func(){}}
	if other, ok := r.nested[n]; ok {
		in.during[other[0]] = func() {
			inner := steps[other[1]-1]
			delete(in.during, other[0])
			c.judge(name, other[1], inner, inner.want(c.t, dir), c.replayStep(inner, &script{w: c.Simulation, events: inner.Events}))
		}
	}
	return in
}

// judge compares one step with the list of known differences.
func (c *cluster) judge(name string, n int, s step, want, got result) {
	c.t.Helper()
	c.learnNames(want.stdout, got.stdout)
	key := fmt.Sprintf("%s/%d", name, n)
	c.judgeOne(key, verdict(s, want, got))
	if !isStatus(s) {
		return
	}
	known := differentDocuments[key]
	var fresh []string
	found := map[string]bool{}
	for _, d := range append(fieldDifferences(want, got), factDifferences(want, got)...) {
		found[d] = true
		if !slices.Contains(known.fields, d) && !generallyDifferent(d) {
			fresh = append(fresh, d)
		}
	}
	if len(fresh) > 0 {
		c.t.Errorf("%s: status %s", key, strings.Join(fresh, "; "))
	}
	for _, l := range known.fields {
		if !found[l] {
			c.t.Errorf("%s: listed (%s), but no longer different: status %s", key, known.why, l)
		}
	}
}

func (c *cluster) judgeOne(key, diff string) {
	c.t.Helper()
	reason, listed := knownDifferences[key]
	switch {
	case diff != "" && !listed:
		c.t.Errorf("%s: %.1500s", key, diff)
	case diff == "" && listed:
		c.t.Errorf("%s: listed, but no longer different: %s", key, reason)
	}
}
