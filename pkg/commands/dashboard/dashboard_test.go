package dashboard_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/dashboard"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/monitor"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui"
)

func TestWatchRejectsInvalidFlagsAndMissingTerminals(t *testing.T) {
	recording := filepath.Join(t.TempDir(), "there")
	if err := os.WriteFile(recording, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		args  []string
		given func(g *commandstest.Given)
		code  int
		says  []string
	}{
		"no terminal": {
			args: []string{"watch", "sample"}, code: exit.ExitUsage,
			says: []string{"requires a terminal", "kubectl fdb watch sample --plain -n fdb --context test", "kubectl fdb get pg sample -w -n fdb --context test"},
		},
		"no terminal, and the cluster in the flag": {
			args: []string{"watch", "-c", "sample"}, code: exit.ExitUsage, says: []string{"kubectl fdb watch sample --plain"},
		},
		"an interval that is too short":   {args: []string{"watch", "--plain", "--interval", "10ms"}, code: exit.ExitUsage, says: []string{"--interval must be at least 1s"}},
		"actions without a screen":        {args: []string{"watch", "--plain", "--allow-actions"}, code: exit.ExitUsage, says: []string{"--allow-actions conflicts with --plain"}},
		"passes without a screen":         {args: []string{"watch", "--plain", "--reconcile"}, code: exit.ExitUsage, says: []string{"kubectl fdb reconcile --watch"}},
		"all namespaces, and one cluster": {args: []string{"watch", "-A", "sample", "--plain"}, code: exit.ExitUsage, says: []string{"--all-namespaces conflicts with CLUSTER"}},
		"passes over all namespaces":      {args: []string{"watch", "-A", "--reconcile"}, code: exit.ExitUsage, says: []string{"--all-namespaces conflicts with --reconcile"}},
		"one of several that is missing":  {args: []string{"watch", "sample", "simple", "--plain"}, code: exit.ExitUsage, says: []string{"which has sample"}},
		"a replay that acts":              {args: []string{"watch", "--replay", "x", "--allow-actions"}, code: exit.ExitUsage, says: []string{"--replay conflicts with all other flags"}},
		"an export of nothing recorded":   {args: []string{"watch", "sample", "--export", "svg"}, code: exit.ExitUsage, says: []string{"--export requires --replay"}},
		"an export in no format":          {args: []string{"watch", "--replay", "x", "--export", "png"}, code: exit.ExitUsage, says: []string{"--export must be one of svg, html, cast"}},
		"an export as plain text":         {args: []string{"watch", "--replay", "x", "--export", "svg", "--plain"}, code: exit.ExitUsage, says: []string{"--export conflicts with --plain"}},
		"an export of no size":            {args: []string{"watch", "--replay", "x", "--export", "svg", "--size", "80"}, code: exit.ExitUsage, says: []string{"invalid --size"}},
		"an export of an endless size":    {args: []string{"watch", "--replay", "x", "--export", "svg", "--size", "80x9999"}, code: exit.ExitUsage, says: []string{"invalid --size"}},
		"a background without an export":  {args: []string{"watch", "sample", "--light"}, code: exit.ExitUsage, says: []string{"--light requires --export"}},
		"a background of a cast":          {args: []string{"watch", "--replay", "x", "--export", "cast", "--light"}, code: exit.ExitUsage, says: []string{"--light requires --export=svg or html"}},
		"keys without an export":          {args: []string{"watch", "sample", "--keys", "2"}, code: exit.ExitUsage, says: []string{"--keys requires --export"}},
		"a replay of one cluster":         {args: []string{"watch", "sample", "--replay", "x"}, code: exit.ExitUsage, says: []string{"--replay conflicts with CLUSTER"}},
		"a replay of nothing":             {args: []string{"watch", "--plain", "--replay", "/nowhere/x"}, code: exit.ExitUsage, says: []string{"no such file"}},
		"a recording over another file": {
			args: []string{"watch", "sample", "--plain", "--record", recording}, code: exit.ExitUsage, says: []string{"already exists", "not overwritten"},
		},
		"a cluster that does not exist": {args: []string{"watch", "simple", "--plain"}, code: exit.ExitUsage, says: []string{"which has sample"}},
		"a terminal that cannot draw, to act": {
			args: []string{"watch", "sample", "--reconcile"}, code: exit.ExitUsage, says: []string{"requires a terminal"},
		},
		"a role that may not list pods": {
			args: []string{"watch", "sample", "--plain"}, code: exit.ExitForbidden, says: []string{"list pods", "namespace fdb"},
			given: func(g *commandstest.Given) { g.Denied = []string{"list pods"} },
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := commandstest.NewGiven(t)
			if tc.given != nil {
				tc.given(g)
			}
			if code := g.Run(tc.args...); code != tc.code {
				t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
			}
			for _, words := range tc.says {
				if !strings.Contains(g.Err.String(), words) {
					t.Errorf("does not say %q: %s", words, &g.Err)
				}
			}
		})
	}
	if text, _ := os.ReadFile(recording); string(text) != "mine" {
		t.Errorf("the file was changed: %s", text)
	}
}

func TestWatchPlainPrintsChangesAsText(t *testing.T) {
	commandstest.Gaze(t, func(g *commandstest.Gazed) {
		t := g.T
		id := string(g.Cluster.Resource.Status.ProcessGroups[0].ProcessGroupID)
		code := g.WatchPlain([]func(){
			func() { g.Cluster.Resource.Status.ProcessGroups[0].MarkForRemoval(g.Cluster.Now()) },
		}, "watch", "--plain")
		if code != exit.ExitInterrupted {
			t.Errorf("exit code %d: %s", code, &g.Err)
		}
		lines := strings.Split(strings.TrimSpace(g.Out.String()), "\n")
		if !strings.Contains(lines[0], " sample: Available: ") {
			t.Errorf("the first line: %s", lines[0])
		}
		for _, words := range []string{" sample: " + id + ": marked for removal", "the next pass would"} {
			if !strings.Contains(g.Out.String(), words) {
				t.Errorf("does not say %q: %s", words, &g.Out)
			}
		}
		if len(lines) > 12 {
			t.Errorf("%d lines for one change: %s", len(lines), &g.Out)
		}
	})
}

func TestWatchOnADumbTerminalPrintsPlainLines(t *testing.T) {
	commandstest.Gaze(t, func(g *commandstest.Gazed) {
		t := g.T
		g.Env["TERM"] = "dumb"
		g.Terminal = true
		if code := g.WatchPlain(nil, "watch", "sample"); code != exit.ExitInterrupted || !strings.Contains(g.Out.String(), "sample: Available: ") {
			t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
		}
		if !strings.Contains(g.Err.String(), "TERM=dumb does not support the dashboard") {
			t.Errorf("stderr: %s", &g.Err)
		}
	})
}

func TestARecordingIsReplayedWithoutACluster(t *testing.T) {
	path := filepath.Join(t.TempDir(), "night.ndjson")
	var seen string
	commandstest.Gaze(t, func(g *commandstest.Gazed) {
		t := g.T
		code := g.WatchPlain([]func(){
			func() { g.Cluster.Resource.Status.ProcessGroups[0].MarkForRemoval(g.Cluster.Now()) },
		}, "watch", "sample", "--plain", "--record", path)
		if code != exit.ExitInterrupted {
			t.Errorf("exit code %d: %s", code, &g.Err)
		}
		seen = g.Out.String()
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(g.Cluster.Resource.Status.ConnectionString, ":")
		secret, _, _ := strings.Cut(rest, "@")
		if secret == "" || bytes.Contains(text, []byte(secret+"@")) {
			t.Errorf("the secret %q of the connection string is in the recording", secret)
		}
		for line := range bytes.Lines(text) {
			var e struct{ Frame json.RawMessage }
			if err := json.Unmarshal(line, &e); err != nil {
				t.Fatal(err)
			}
			commandstest.Valid(t, "a recorded frame", e.Frame)
		}
	})
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	g := commandstest.NewGiven(t)
	env := g.Environment()
	env.Client, env.Connect, env.Follow = nil, nil, nil // nothing is queried
	*env.Kube.KubeConfig = "/nowhere/kubeconfig"
	if code := commands.Run(t.Context(), env, []string{"watch", "--replay", path, "--plain"}); code != exit.ExitDone {
		t.Errorf("exit code %d: %s", code, &g.Err)
	}
	if g.Out.String() != seen {
		t.Errorf("replayed\n%s\nbut shown was\n%s", &g.Out, seen)
	}
	for format, want := range map[string][]string{
		"svg":  {"<svg ", "fdb/sample"},
		"html": {"<!DOCTYPE html>", "<title>sample</title>", "fdb/sample"},
		"cast": {`"version":2`, `"width":100}`, "fdb/sample"},

		"svg --light":  {"<svg ", `fill="#ffffff"`, "fdb/sample"},
		"html --light": {"background: #ffffff; color: #2e3436", "fdb/sample"},
	} {
		t.Run(format, func(t *testing.T) {
			g.Out.Reset()
			code := commands.Run(t.Context(), env, append([]string{"watch", "--replay", path, "--size", "100x30", "--keys", "2", "--export"}, strings.Fields(format)...))
			for _, part := range append(want, "2 nodes") {
				if code != exit.ExitDone || !strings.Contains(g.Out.String(), part) {
					t.Errorf("exit code %d, no %q: %s", code, part, &g.Err)
				}
			}
		})
	}
}

func TestInvalidRecordingLinesAreReportedByNumber(t *testing.T) {
	frame, err := json.Marshal(tui.Entry{At: time.Unix(1, 0), Cluster: "c", Frame: &frame.Frame{Document: inspect.NewDocument("Frame", inspect.Metadata{}, time.Unix(1, 0), inspect.SourceLive)}})
	if err != nil {
		t.Fatal(err)
	}
	good := string(frame)
	tests := map[string]struct {
		text, want string
		cut        bool
	}{
		"good lines":              {text: good + "\n" + good + "\n"},
		"a last line cut short":   {text: good + "\n" + good[:40], cut: true},
		"a last line unended":     {text: good + "\n" + good},
		"no line":                 {want: "the recording has no frame"},
		"only the start of one":   {text: good[:40], want: "line 1: invalid entry"},
		"a line that is no JSON":  {text: good + "\nhello\n" + good + "\n", want: "line 2: invalid entry"},
		"another document":        {text: `{"apiVersion":"v1","kind":"Pod"}` + "\n", want: "line 1: invalid entry: time or cluster is missing"},
		"a frame of later times":  {text: strings.Replace(good, "kubectl-fdb/v2", "kubectl-fdb/v9", 1) + "\n", want: `line 1: invalid entry: unsupported "Frame" of "cli.kubectl-fdb/v9"`},
		"an entry without a word": {text: `{"at":"2026-01-01T00:00:00Z","cluster":"c"}` + "\n", want: "line 1: invalid entry: entry is empty"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, cut, err := dashboard.ReadRecording(strings.NewReader(tc.text))
			if cut != tc.cut {
				t.Errorf("cut %t", cut)
			}
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
}

func TestDashboardRendersPassEventsAsText(t *testing.T) {
	tests := map[string]string{
		`{"event":"acted","stage":"AddPods","action":{"summary":"create pod p"}}`:                 "AddPods: did create pod p",
		`{"event":"acted","stage":"AddPods","action":{"summary":"create pod p"},"error":"quota"}`: "AddPods: failed to create pod p: quota",
		`{"event":"stage","stage":"RemovePods","outcome":"waiting","reason":"not drained"}`:       "RemovePods: waiting: not drained",
		`{"event":"stage","stage":"RemovePods","outcome":"done"}`:                                 "",
		`{"event":"observing","stage":"x"}`:                                                       "",
		`{"kind":"ChangeResult","outcome":"waiting","reason":"the database moves data"}`:          "the database moves data",
		`{"event":"pass","outcome":"changed"}`:                                                    "the pass ended: changed",
		`nonsense`:                                                                                "",
	}
	for line, want := range tests {
		if got := frame.LineWords(json.RawMessage(line)); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// A flag that goes with no replay is no hint to who looks at one.
func TestAReplayRefusesAllowActionsAndDoesNotHintAtIt(t *testing.T) {
	env := commandstest.NewGiven(t).Environment()
	if s := dashboard.Screen(env, nil); s.AllowFlag != "" {
		t.Errorf("%s allows actions", s.AllowFlag)
	}
	if err := (dashboard.ScreenOptions{Interval: dashboard.ScreenInterval, Replay: "night.ndjson", Allow: true}).Check(env, nil); err == nil {
		t.Error("a replay takes --allow-actions, and should name it")
	}
}

// A compressed recording has everything of a plain one, also if the program was killed: then it has no end.
func TestACompressedRecordingIsReplayedAsAPlainOne(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	document := inspect.NewDocument("Frame", inspect.Metadata{Cluster: "c"}, at, inspect.SourceLive)
	folder := t.TempDir()
	recorded := func(name string, ended bool) []byte {
		path := filepath.Join(folder, name)
		keep, done, err := monitor.NewRecorder(path)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 20 {
			keep(tui.Entry{At: at.Add(time.Duration(i) * time.Minute), Cluster: "c", Frame: &frame.Frame{Document: document}})
		}
		if ended {
			err = done()
		} else {
			defer done() // what comes after the read is not of this test
		}
		text, readErr := os.ReadFile(path)
		if err := errors.Join(err, readErr); err != nil {
			t.Fatal(err)
		}
		return text
	}
	plain := recorded("plain.ndjson", true)
	want, _, err := dashboard.ReadRecording(bytes.NewReader(plain))
	if err != nil || len(want) != 20 {
		t.Fatalf("%d entries, %v", len(want), err)
	}
	packed := recorded("packed.ndjson.zst", true)
	for name, text := range map[string][]byte{"closed": packed, "of a program that was killed": recorded("killed.ndjson.zst", false)} {
		t.Run(name, func(t *testing.T) {
			got, cut, err := dashboard.ReadRecording(bytes.NewReader(text))
			if err != nil || cut {
				t.Fatalf("cut %t, %v", cut, err)
			}
			if !reflect.DeepEqual(want, got) {
				t.Errorf("%+v, want %+v", got, want)
			}
			if len(text)*5 > len(plain) {
				t.Errorf("%d bytes, and %d without compression", len(text), len(plain))
			}
		})
	}
	t.Run("cut short anywhere", func(t *testing.T) {
		for n := range packed {
			got, _, err := dashboard.ReadRecording(bytes.NewReader(packed[:n]))
			if err == nil && !reflect.DeepEqual(want[:len(got)], got) {
				t.Fatalf("%d bytes: other entries", n)
			}
		}
	})
	t.Run("damaged", func(t *testing.T) {
		damaged := bytes.Clone(packed)
		damaged[len(damaged)/2] ^= 0xff
		if got, cut, err := dashboard.ReadRecording(bytes.NewReader(damaged)); err == nil && !cut {
			t.Errorf("%d entries without an error", len(got))
		}
	})
}
