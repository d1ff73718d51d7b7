package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// pagesAtOnce is how many pages are followed at the same time, beside the other tests.
var pagesAtOnce = 3 * runtime.NumCPU()

// Whoever follows a page of the documentation word for word gets where it leads. The pages have places of their own:
// as parallel subtests they would follow all other tests, in any order, and the longest ones would run alone at the end.
func TestTheDocumentationPagesCanBeFollowedStepByStep(t *testing.T) {
	t.Parallel()
	places := make(chan struct{}, pagesAtOnce)
	var pages sync.WaitGroup
	for _, round := range rounds() {
		places <- struct{}{}
		pages.Go(func() {
			defer func() { <-places }()
			followAll(t, round)
		})
	}
	pages.Wait()
}

// followAll follows pages one after another. Those that share a cluster have it from the first of them that runs.
func followAll(t *testing.T, names []string) {
	t.Helper()
	all, ns := t, ""
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".md"), func(t *testing.T) {
			j := journeys[name]
			switch {
			case ns != "":
				j.prepare = nil
			case len(names) > 1:
				ns = namespace(all) // it has to outlast the first page
			default:
				ns = namespace(t)
			}
			open(t, ns, name, j).follow(t)
		})
	}
}

// walk is a page of the documentation as a user follows it: in a shell of their own, in a
// directory of their own, and with a kubeconfig whose context names their namespace.
type walk struct {
	journey

	name, ns   string
	dir        string
	kubeconfig string
	// ids are the process groups that stand for those which the page names.
	ids map[string]string
	// env is what the shell has in its environment besides what all have.
	env []string
	// seen counts how often a command was run.
	seen map[string]int
	// outputs are the lines that the page shows below each command, for each time that it has it.
	outputs map[string][][]string
}

// open prepares what a page takes for granted.
func open(t *testing.T, ns, name string, j journey) *walk {
	t.Helper()
	p := &walk{journey: j, name: name, ns: ns, dir: t.TempDir(), ids: map[string]string{}, seen: map[string]int{}}
	manifests, err := filepath.Abs("../../manifests")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(manifests, filepath.Join(p.dir, "manifests")); err != nil {
		t.Fatal(err)
	}
	p.kubeconfig = filepath.Join(p.dir, "kubeconfig")
	text, err := os.ReadFile(kubeconfigOf(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.kubeconfig, text, 0o600); err != nil {
		t.Fatal(err)
	}
	p.must(t, "kubectl config set-context --current --namespace="+p.ns)
	if j.prepare != nil {
		j.prepare(t, p)
	}
	return p
}

// shell runs a line as a user types it.
func (p *walk) shell(t *testing.T, line string) result {
	t.Helper()
	return runWith(t, func(c *exec.Cmd) {
		c.Dir, c.Env = p.dir, append(append(c.Env, "KUBECONFIG="+p.kubeconfig), p.env...)
	}, "/bin/sh", "-c", line)
}

// must runs a line that has to succeed, and returns what it prints.
func (p *walk) must(t *testing.T, line string) string {
	t.Helper()
	r := p.shell(t, line)
	if r.code != 0 {
		t.Fatalf("%s: exit code %d\n%s%s", line, r.code, r.stdout, r.stderr)
	}
	return r.stdout
}

// follow runs every command of the page in its order. A command that fails leaves
// nothing for the next ones to rely on, so the page ends there.
func (p *walk) follow(t *testing.T) {
	t.Helper()
	commands := commandsOf(p.text(t))
	if len(commands) == 0 {
		t.Errorf("%s has no command", p.name)
	}
	if p.prints {
		p.outputs = outputsOf(p.text(t))
	}
	for _, command := range commands {
		if p.assign(t, command) {
			continue
		}
		if p.leaveOut[command] != "" {
			p.seen[command]++
			continue
		}
		p.rest(t, command)
		p.waitForRecovery(t, command)
		line, runs := pageLimit.ReplaceAllString(p.here(t, command), "--timeout "+patience), p.shell
		if p.prints {
			runs = p.at80
		}
		r := runs(t, line)
		also, tolerated := p.alsoCodes[command]
		if want := p.desiredCode(command); r.code != want && (!tolerated || r.code != also) {
			t.Fatalf("%s: %s\nexit code %d, want %d\nstdout:\n%s%s\nstderr:\n%s", p.name, command, r.code, want,
				r.stdout, p.redirected(command), r.stderr)
		}
		t.Logf("$ %s\n%s%s", command, r.stdout, r.stderr)
		p.mustPrint(t, command, r)
	}
	p.complainAboutOthers(t)
}

// pageLimit is a time limit on a page. Readers do not have this machine, which other tests share; no page has
// a command that is meant to reach its limit.
var pageLimit = regexp.MustCompile(`--timeout [0-9]+[smh]\b`)

// redirected returns what a command that ends in "> FILE" wrote there: a failure is not
// understood without it.
func (p *walk) redirected(command string) string {
	_, file, found := strings.Cut(command, " > ")
	if !found {
		return ""
	}
	text, err := os.ReadFile(filepath.Join(p.dir, strings.TrimSpace(file)))
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// rest waits before a command as documented on the page.
func (p *walk) rest(t *testing.T, command string) {
	t.Helper()
	select {
	case <-time.After(p.rests[command]):
	case <-t.Context().Done():
		t.Fatal(t.Context().Err())
	}
}

// waitForRecovery waits until the last recovery is as long ago as a command requires it. Recoveries happen at
// any time, and a simulated database on a busy machine is slower than its speed, so a fixed wait is not enough.
func (p *walk) waitForRecovery(t *testing.T, command string) {
	t.Helper()
	required := p.recovered[command]
	if required == 0 {
		return
	}
	const limit = 2 * stall
	for begin := time.Now(); ; {
		r := p.shell(t, "kubectl fdb status sample-cluster -o json")
		var status struct {
			Database struct {
				RecoveryAge *float64 `json:"recoveryAgeSeconds"`
			} `json:"database"`
		}
		err := json.Unmarshal([]byte(r.stdout), &status)
		if age := status.Database.RecoveryAge; err == nil && age != nil && *age >= required.Seconds() {
			return
		}
		if time.Since(begin) > limit {
			t.Fatalf("before %q: no %s without a recovery within %s; exit code %d, %v\n%s%s",
				command, required, limit, r.code, err, r.stdout, r.stderr)
		}
		select {
		case <-time.After(time.Second):
		case <-t.Context().Done():
			t.Fatal(t.Context().Err())
		}
	}
}

// desiredCode is the exit code of this run of a command. One that the table does not
// mention succeeds.
func (p *walk) desiredCode(command string) int {
	n := p.seen[command]
	p.seen[command]++
	if codes := p.codes[command]; n < len(codes) {
		return codes[n]
	}
	return 0
}

// complainAboutOthers fails the test for entries of the table for commands that the
// page does not have: it would go unnoticed when a command changes.
func (p *walk) complainAboutOthers(t *testing.T) {
	t.Helper()
	for command, codes := range p.codes {
		if p.seen[command] < len(codes) {
			t.Errorf("%s has %q %d times, and the table knows %d exit codes", p.name, command, p.seen[command], len(codes))
		}
	}
	for command := range p.alsoCodes {
		if p.seen[command] == 0 {
			t.Errorf("%s does not have %q, for which the table knows another exit code", p.name, command)
		}
	}
	for command := range p.rests {
		if p.seen[command] == 0 {
			t.Errorf("%s does not have %q, before which the table rests", p.name, command)
		}
	}
	for command := range p.recovered {
		if p.seen[command] == 0 {
			t.Errorf("%s does not have %q, before which the table waits for a recovery to be over", p.name, command)
		}
	}
	for command := range p.leaveOut {
		if p.seen[command] == 0 {
			t.Errorf("%s does not have %q, which the table leaves out", p.name, command)
		}
	}
}

var groupID = regexp.MustCompile(`\b(storage|log|stateless)-\d{4,5}\b`)

// here is a command as it reads in this very cluster: IDs of process groups are random,
// so each one on the page stands for the next one of its class.
func (p *walk) here(t *testing.T, command string) string {
	t.Helper()
	command = strings.NewReplacer(p.instead...).Replace(command)
	return groupID.ReplaceAllStringFunc(command, func(id string) string {
		if p.ids[id] == "" {
			p.ids[id] = p.nextOf(t, groupID.FindStringSubmatch(id)[1])
		}
		return p.ids[id]
	})
}

// nextOf is a process group of a class that stands for no other one yet.
func (p *walk) nextOf(t *testing.T, class string) string {
	t.Helper()
	taken := map[string]bool{}
	for _, id := range p.ids {
		taken[id] = true
	}
	all := p.must(t, `kubectl get fdb sample-cluster -o 'jsonpath={range .status.processGroups[?(@.processClass=="`+class+`")]}{.processGroupID}{"\n"}{end}'`)
	for id := range strings.FieldsSeq(all) {
		if !taken[id] {
			return id
		}
	}
	t.Fatalf("the page names more process groups of class %s than there are: %s", class, all)
	return ""
}

var (
	fence   = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$")
	comment = regexp.MustCompile(`\s+# .*$`)
)

// commandsOf are the commands of a page: all lines of fences for the shell, and in those
// that show a session what follows the prompt. Comments are not part of them.
func commandsOf(text string) []string {
	var commands []string
	for _, m := range fence.FindAllStringSubmatch(text, -1) {
		for line := range strings.Lines(strings.ReplaceAll(m[2], "\\\n", "")) {
			command, typed := strings.TrimSpace(line), m[1] == "sh"
			if m[1] == "console" {
				command, typed = strings.CutPrefix(command, "$ ")
			}
			if typed && command != "" && !strings.HasPrefix(command, "#") {
				commands = append(commands, comment.ReplaceAllString(command, ""))
			}
		}
	}
	return commands
}

// writeFile writes a file that the page shows: a fence whose first line is its name.
func (p *walk) writeFile(t *testing.T, name string) {
	t.Helper()
	for _, m := range fence.FindAllStringSubmatch(p.text(t), -1) {
		if strings.HasPrefix(m[2], "# "+name+"\n") {
			p.write(t, name, m[2])
			return
		}
	}
	t.Fatalf("%s does not show a file %s", p.name, name)
}

func (p *walk) text(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", p.name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
