package e2e

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// seeCommand is how a command that looks is called.
type seeCommand struct {
	args []string
	// codes are the exit codes that are an answer; 0 where there are none here.
	codes []int
}

// seeCommands are all commands that only look, by the name under which `auth role` knows
// them. STORAGE stands for a process group, NODE for its node.
var seeCommands = map[string]seeCommand{
	"status":                  {args: []string{"status", "c"}},
	"get clients":             {args: []string{"get", "clients", "c"}},
	"get clusters":            {args: []string{"get", "clusters"}},
	"get configuration":       {args: []string{"get", "configuration", "c"}},
	"get coordinators":        {args: []string{"get", "coordinators", "c"}},
	"get exclusions":          {args: []string{"get", "exclusions", "c"}},
	"get locks":               {args: []string{"get", "locks", "c"}},
	"get nodes":               {args: []string{"get", "nodes", "c"}},
	"get process-groups":      {args: []string{"get", "process-groups", "c"}},
	"get processes":           {args: []string{"get", "processes", "c"}},
	"describe":                {args: []string{"describe", "c"}},
	"describe process-group":  {args: []string{"describe", "process-group", "c", "STORAGE"}},
	"describe --tree":         {args: []string{"describe", "--tree", "c"}},
	"history":                 {args: []string{"history", "c"}},
	"why":                     {args: []string{"why", "c"}},
	"top":                     {args: []string{"top", "c"}},
	"top processes":           {args: []string{"top", "processes", "c"}},
	"metrics":                 {args: []string{"metrics", "c"}},
	"check":                   {args: []string{"check", "c"}, codes: []int{0, notKnown}}, // names are not checked if programs start too slowly in pods
	"events":                  {args: []string{"events", "c"}},
	"can delete":              {args: []string{"can", "delete", "c", "STORAGE"}, codes: []int{0, 1}},
	"can drain":               {args: []string{"can", "drain", "NODE", "-c", "c"}, codes: []int{0, 1}},
	"can reconcile":           {args: []string{"can", "reconcile", "c"}, codes: []int{0, 1}},
	"can replace":             {args: []string{"can", "replace", "c", "STORAGE"}, codes: []int{0, 1}},
	"can restart":             {args: []string{"can", "restart", "c", "--class", "storage"}, codes: []int{0, 1}},
	"can upgrade":             {args: []string{"can", "upgrade", "c", "--to", "7.3.80"}, codes: []int{0, 1}},
	"exclusion status":        {args: []string{"exclusion", "status", "c"}, codes: []int{0, 1}},
	"connection-string drift": {args: []string{"connection-string", "drift", "c"}},
	"connection-string show":  {args: []string{"connection-string", "show", "c"}},
	"logs":                    {args: []string{"logs", "c", "--tail", "5"}},
	"maintenance status":      {args: []string{"maintenance", "status", "c"}, codes: []int{0, 1}},
	"plan":                    {args: []string{"plan", "c"}},
	"wait":                    {args: []string{"wait", "c", "--for", "reconciled", "--timeout", "4m"}},
	"version":                 {args: []string{"version"}},
}

// A Role that `auth role` prints for a command is all that the command needs. Whoever may
// only get and list gets the data of Kubernetes, and which verb is missing for the rest;
// whoever may do nothing at all gets the missing verb immediately.
func TestReadOnlyUsersCanRunEveryReadCommand(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	apply(t, ns, cluster("c", counts))
	want(t, fdb(t, "reconcile", "c", "-n", ns, "--wait", "--yes"), 0)
	here := inCluster(t, ns)
	giveRole(t, ns, ns, "carol", sortedSeeCommands())
	giveRole(t, ns, ns+"-least", "dave", sortedSeeCommands(), "--required-only")

	for name, c := range seeCommands {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := append(c.in(here), "-n", ns)
			r := run(t, "kubectl-fdb", append(args, "--as", "carol")...)
			if !slices.Contains(append(c.codes, zeroIfNone(c.codes)...), r.code) {
				t.Errorf("exit code %d with the Role of the command:\n%s%s", r.code, r.stdout, r.stderr)
			}
			if hidden := forbidden.FindString(r.stdout + r.stderr); hidden != "" {
				t.Errorf("the Role of the command does not allow all of it: %s\n%s%s", hidden, r.stdout, r.stderr)
			}
			r = run(t, "kubectl-fdb", append(args, "--as", "dave")...)
			if r.code > 1 && !strings.Contains(r.stdout+r.stderr, keptFrom(name)) && name != "version" {
				t.Errorf("exit code %d without optional rights, and they are not named:\n%s%s", r.code, r.stdout, r.stderr)
			}
			r = run(t, "kubectl-fdb", append(args, "--as", "reader-without-role")...)
			want(t, r, 5)
			if !missingVerb.MatchString(r.stderr) {
				t.Errorf("does not name the missing verb:\n%s", r.stderr)
			}
		})
	}
}

var (
	forbidden   = regexp.MustCompile(`(?i)[^\n]*(forbidden|may not (get|list|create))[^\n]*`)
	missingVerb = regexp.MustCompile(`\b(get|list|create)\b`)
)

// keptFrom is the right whose lack keeps most from a command.
func keptFrom(command string) string {
	switch command {
	case "check":
		return `cannot list resource "foundationdbbackups"` // whether there is a backup comes before what its agents say
	case "can replace":
		return `cannot create resource "pods"` // which a successor is tried with
	case "logs":
		return "pods/log"
	default:
		return "pods/exec"
	}
}

func zeroIfNone(codes []int) []int {
	if len(codes) == 0 {
		return []int{0}
	}
	return nil
}

func sortedSeeCommands() []string {
	var names []string
	for name := range seeCommands {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// inCluster replaces the words that stand for something of this very cluster.
func inCluster(t *testing.T, ns string) *strings.Replacer {
	t.Helper()
	const first = "foundationdb.org/fdb-process-class=storage"
	id := kubectl(t, "get", "pods", "-n", ns, "-l", first, "-o", `jsonpath={.items[0].metadata.labels.foundationdb\.org/fdb-process-group-id}`)
	node := kubectl(t, "get", "pods", "-n", ns, "-l", first, "-o", "jsonpath={.items[0].spec.nodeName}")
	return strings.NewReplacer("STORAGE", id, "NODE", node)
}

func (c seeCommand) in(here *strings.Replacer) []string {
	args := slices.Clone(c.args)
	for i := range args {
		args[i] = here.Replace(args[i])
	}
	return args
}

// giveRole applies the output of `auth role`, and binds the role.
func giveRole(t *testing.T, ns, name, user string, commands []string, more ...string) {
	t.Helper()
	r := fdb(t, append([]string{"auth", "role", "-n", ns, "--name", name, "--for", strings.Join(commands, ",")}, more...)...)
	want(t, r, 0)
	apply(t, ns, r.stdout)
	hints := 0
	for line := range strings.Lines(r.stderr) {
		if command, is := strings.CutPrefix(strings.TrimSpace(line), "hint: kubectl "); is {
			kubectl(t, strings.Fields(strings.ReplaceAll(command, "USER", user))...)
			hints++
		}
	}
	if hints == 0 {
		t.Fatalf("does not print how to bind the Role:\n%s", r.stderr)
	}
}

// notTried are commands of the help's first section that no reader tries here, and why.
var notTried = map[string]string{
	"watch":                  "has no end",
	"connection-string sync": "changes something, and has to be allowed more",
}

// A command that looks and is in the help is one that users with a read-only Role will try.
func TestEveryReadCommandIsTestedWithTheReadOnlyRole(t *testing.T) {
	for _, name := range seeCommandsOf(t) {
		if _, tried := seeCommands[name]; !tried && notTried[name] == "" {
			t.Errorf("%s is in the help, and no reader tries it", name)
		}
	}
}

var commandLine = regexp.MustCompile(`(?m)^  ([a-z][a-z-]*) `)

// seeCommandsOf are the commands of the help's first section; of those that have commands of
// their own, these.
func seeCommandsOf(t *testing.T) []string {
	t.Helper()
	help := run(t, "kubectl-fdb", "--help")
	want(t, help, 0)
	_, see, _ := strings.Cut(help.stdout, "Inspection Commands:\n")
	see, _, _ = strings.Cut(see, "\n\n")
	var names []string
	for _, m := range commandLine.FindAllStringSubmatch(see, -1) {
		_, own, _ := strings.Cut(run(t, "kubectl-fdb", m[1], "--help").stdout, "Available Commands:\n")
		own, _, _ = strings.Cut(own, "\n\n")
		under := commandLine.FindAllStringSubmatch(own, -1)
		if len(under) == 0 {
			names = append(names, m[1])
		}
		for _, sub := range under {
			names = append(names, m[1]+" "+sub[1])
		}
	}
	if len(names) == 0 {
		t.Fatalf("no commands in the help:\n%s", help.stdout)
	}
	return names
}
