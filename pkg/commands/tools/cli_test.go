package tools_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

var _ admin.Transport = (*commandstest.Tool)(nil)

func firstPod(g *commandstest.Given) string {
	var names []string
	for name := range g.Cluster.Pods {
		names = append(names, name)
	}
	return slices.Min(names)
}

func TestExec(t *testing.T) {
	lost := &admin.TransportError{Where: "pod x", Err: errors.New("connection refused")}
	tests := map[string]struct {
		result admin.Result
		err    error
		input  string
		denied string
		args   func(g *commandstest.Given) []string
		want   int
		ran    string // in every pod that it ran in
		out    string
		says   string
		read   string
	}{
		"in the best pod": {
			result: admin.Result{Stdout: []byte("out\n"), Stderr: []byte("err\n")}, args: toolLine("sample", "--", "ls", "-l"),
			want: exit.ExitDone, ran: ": ls -l", out: "out\n", says: "err\n",
		},
		"its exit code is ours": {result: admin.Result{ExitCode: 42}, args: toolLine("sample", "--", "false"), want: 42, ran: ": false"},
		"in a pod that is named": {
			args: func(g *commandstest.Given) []string { return []string{"--pod", firstPod(g), "--", "ls"} }, want: exit.ExitDone, ran: "sample-log-",
		},
		"in the pod of a process group": {
			args: func(g *commandstest.Given) []string {
				return []string{"--process-group", string(g.Cluster.Resource.Status.ProcessGroups[0].ProcessGroupID), "--", "ls"}
			}, want: exit.ExitDone, ran: ": ls",
		},
		"in the pod at an address": {
			args: func(g *commandstest.Given) []string {
				return []string{"--process-group", g.Cluster.Resource.Status.ProcessGroups[0].Addresses[0], "--", "ls"}
			}, want: exit.ExitDone, ran: ": ls",
		},
		"stdin is passed on when asked for":     {input: "words", args: toolLine("-i", "--", "cat"), want: exit.ExitDone, ran: ": cat", read: "words"},
		"stdin ends at once otherwise":          {input: "words", args: toolLine("--", "cat"), want: exit.ExitDone, ran: ": cat"},
		"a pod that is lost":                    {err: lost, args: toolLine("--", "ls"), want: exit.ExitUnreachable, ran: ": ls", says: "connection refused"},
		"an unknown pod":                        {args: toolLine("--pod", "x", "--", "ls"), want: exit.ExitUsage, says: `pod "x" not found`},
		"an unknown group":                      {args: toolLine("--process-group", "storage-1", "--", "ls"), want: exit.ExitUsage, says: "not found: storage-1"},
		"both":                                  {args: toolLine("--pod", "x", "--process-group", "y", "--", "ls"), want: exit.ExitUsage},
		"nothing to run":                        {args: toolLine("sample"), want: exit.ExitUsage, says: "is required after --"},
		"two clusters":                          {args: toolLine("sample", "other", "--", "ls"), want: exit.ExitUsage},
		"what is not allowed is named at once":  {denied: "create pods/exec", args: toolLine("--", "ls"), want: exit.ExitForbidden, says: "create pods/exec"},
		"a limit from before the program began": {args: toolLine("--timeout", "-1s", "--", "ls"), want: exit.ExitUsage},
	}
	healthy := commandstest.Up(t)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := &commandstest.Given{T: t, Cluster: healthy.Cluster, Env: map[string]string{}, Clock: &commandstest.ClusterClock{Cluster: healthy.Cluster}}
			g.Answers(tc.result, tc.err)
			if tc.input != "" {
				g.Input = &tc.input
			}
			if tc.denied != "" {
				g.Denied = []string{tc.denied}
			}
			code := g.Run(append([]string{"exec"}, tc.args(g)...)...)
			if code != tc.want || g.Out.String() != tc.out || !strings.Contains(g.Err.String(), tc.says) || g.Read != tc.read {
				t.Errorf("exit code %d, want %d; read %q\nstdout: %s\nstderr: %s", code, tc.want, g.Read, &g.Out, &g.Err)
			}
			if ran := strings.Join(g.Ran, "\n"); (tc.ran == "") != (ran == "") || !strings.Contains(ran, tc.ran) {
				t.Errorf("ran %q, want %q", ran, tc.ran)
			}
		})
	}
}

func toolLine(words ...string) func(*commandstest.Given) []string {
	return func(*commandstest.Given) []string { return words }
}

func TestExecRequiresARunningPod(t *testing.T) {
	g := commandstest.Up(t)
	g.Answers(admin.Result{}, nil)
	name := firstPod(g)
	g.Cluster.Pods[name].Status.Phase = corev1.PodPending
	if code := g.Run("exec", "--pod", name, "--", "ls"); code != exit.ExitUnreachable || len(g.Ran) > 0 {
		t.Errorf("exit code %d, ran %q: %s", code, g.Ran, &g.Err)
	}
}

func TestCLIRunsFdbcliInAPod(t *testing.T) {
	output := admin.Result{Stdout: []byte("The database is available.\n")}
	tests := map[string]struct {
		result admin.Result
		err    error
		input  string // typed on a terminal
		args   []string
		want   int
		script string // empty: nothing was run
		says   string
	}{
		"a question":                             {result: output, args: []string{"sample", "--", "status", "minimal"}, want: exit.ExitDone, script: "--exec status minimal", says: "The database is available.\n"},
		"with another limit":                     {result: output, args: []string{"--timeout", "7s", "--", "status"}, want: exit.ExitDone, script: "--timeout 7 --exec status"},
		"its exit code is ours":                  {result: admin.Result{ExitCode: 1, Stderr: []byte("ERROR: unknown")}, args: []string{"--", "help", "x"}, want: 1, script: "help x", says: "ERROR: unknown"},
		"a mistake is fdbcli's to tell":          {result: admin.Result{ExitCode: 1, Stderr: []byte("ERROR: Unknown command `statuss'. Try `help'?\n")}, args: []string{"--", "help", "statuss"}, want: 1, script: "help statuss", says: "ERROR: Unknown command `statuss'. Try `help'?\n"},
		"a usage is fdbcli's to tell":            {result: admin.Result{ExitCode: 1, Stdout: []byte("Usage: status [minimal|details|json]\n")}, args: []string{"--", "status", "x"}, want: 1, script: "status x", says: "Usage: status [minimal|details|json]\n"},
		"too much for one command line":          {args: []string{"--", "status " + strings.Repeat("x", 200_000)}, want: exit.ExitUsage, says: "too many or too long arguments"},
		"a change, and no terminal to ask on":    {args: []string{"sample", "--", "writemode on; clear x"}, want: exit.ExitUnconfirmed, says: "may change the database: writemode on; clear x"},
		"a change that is agreed to":             {result: output, args: []string{"sample", "--yes", "--", "configure", "double"}, want: exit.ExitDone, script: "configure double", says: "warning: commands that may change the database of sample, without safety gates: configure double"},
		"a change without a terminal or cluster": {args: []string{"--yes", "--", "configure", "double"}, want: exit.ExitUsage, says: "stdin is not a terminal"},
		"a yes on the terminal":                  {result: output, input: "y\n", args: []string{"sample", "--", "include", "all"}, want: exit.ExitDone, script: "include all", says: "Run them? [y/N]"},
		"a no on the terminal":                   {input: "n\n", args: []string{"sample", "--", "include", "all"}, want: exit.ExitUnconfirmed, says: "(nothing was changed)"},
		"no pod can be reached": {
			err:  &admin.TransportError{Where: "pod x", Err: errors.New("connection refused")},
			args: []string{"--", "status"}, want: exit.ExitUnreachable, script: "status", says: "connection refused",
		},
		"without a pod": {
			args: []string{"--cluster-file", "f", "--", "status"}, want: exit.ExitUsage,
		},
		"nothing to run":         {args: []string{"sample", "--"}, want: exit.ExitUsage},
		"no time to run it in":   {args: []string{"--timeout", "0s", "--", "status"}, want: exit.ExitUsage},
		"an unknown cluster":     {args: []string{"absent", "--", "status"}, want: exit.ExitUsage},
		"a cluster too many":     {args: []string{"sample", "two", "--", "status"}, want: exit.ExitUsage},
		"no dashes at all":       {args: []string{"sample", "status"}, want: exit.ExitUsage},
		"a list of coordinators": {result: output, args: []string{"--", "coordinators"}, want: exit.ExitDone, script: "coordinators"},
	}
	healthy := commandstest.Up(t)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := &commandstest.Given{T: t, Cluster: healthy.Cluster, Env: map[string]string{}, Clock: &commandstest.ClusterClock{Cluster: healthy.Cluster}}
			g.Answers(tc.result, tc.err)
			if tc.input != "" {
				g.Input = &tc.input
			}
			code := g.Run(append([]string{"cli"}, tc.args...)...)
			if text := g.Out.String() + g.Err.String(); code != tc.want || !strings.Contains(text, tc.says) {
				t.Errorf("exit code %d, want %d, and %q\n%s", code, tc.want, tc.says, text)
			}
			if ran := strings.Join(g.Ran, "\n"); (tc.script == "") != (ran == "") || !strings.Contains(ran, tc.script) {
				t.Errorf("ran %q, want %q", ran, tc.script)
			}
		})
	}
}

// exclude failed corrupts data in some versions: the warning names the version.
func TestExcludeFailedPrintsAVersionSpecificWarning(t *testing.T) {
	for name, tc := range map[string]struct {
		running string
		command []string
		warns   string
	}{
		"a version with the defect":    {"7.3.63", []string{"exclude", "failed", "10.1.0.3:4501"}, "FoundationDB 7.3.63: exclude failed can assign shards to the wrong storage servers"},
		"one without":                  {"7.3.79", []string{"exclude", "failed", "10.1.0.3:4501"}, ""},
		"an unknown version":           {"unknown", []string{"exclude", "failed", "10.1.0.3:4501"}, "corrupts data in some"},
		"another exclusion":            {"7.3.63", []string{"exclude", "10.1.0.3:4501"}, ""},
		"among other commands":         {"7.3.63", []string{"status; exclude failed 10.1.0.3:4501"}, "FoundationDB 7.3.63: exclude failed"},
		"another command of that word": {"7.3.63", []string{"include", "failed"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := commandstest.Up(t)
			g.Cluster.Resource.Status.RunningVersion = tc.running
			g.Answers(admin.Result{}, nil)
			g.Run(append([]string{"cli", "sample", "--yes", "--"}, tc.command...)...)
			output := g.Err.String()
			if warned := strings.Contains(output, "exclude failed c"); warned != (tc.warns != "") || !strings.Contains(output, tc.warns) {
				t.Errorf("want %q: %s%s", tc.warns, &g.Out, output)
			}
		})
	}
}
