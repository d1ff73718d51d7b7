package commands_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/tools"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func TestEveryPrintedKindHasASchema(t *testing.T) {
	var known []string
	for _, kind := range tools.AllKinds() {
		known = append(known, kind.Name)
		for _, e := range kind.Events {
			known = append(known, "event "+e.Name)
		}
	}
	found := 0
	named := map[string]*regexp.Regexp{
		"":       regexp.MustCompile(`NewDocument\("(\w+)"`),
		"event ": regexp.MustCompile(`(?:head\(|line\{)"(\w+)"`),
	}
	for _, dir := range []string{".", "../ui", "../inspect", "../inspect/*"} {
		for name, text := range sources(t, dir) {
			for prefix, pattern := range named {
				for _, m := range pattern.FindAllStringSubmatch(text, -1) {
					found++
					if !slices.Contains(known, prefix+m[1]) {
						t.Errorf("%s prints %s%s, which pkg/ui/kinds.go does not list", name, prefix, m[1])
					}
				}
			}
		}
	}
	if found < len(known)/2 {
		t.Errorf("the sources name %d kinds and events, the table %d: are the patterns still those of the code?", found, len(known))
	}
}

func sources(t *testing.T, dir string) map[string]string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(text)
	}
	return texts
}

func TestGoldenFilesMatchTheirSchemas(t *testing.T) {
	found := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.Contains(path, "testdata") {
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil && bytes.HasPrefix(text, []byte("{")) && bytes.Contains(text, []byte(`"`+inspect.APIVersion+`"`)) {
			found += len(commandstest.Valid(t, path, text))
		}
		return err
	})
	if err != nil || found == 0 {
		t.Errorf("found %d documents: %v", found, err)
	}
}

var jsonFence = regexp.MustCompile("(?ms)^```json\n(.*?)^```$")

func TestJSONExamplesInTheDocsMatchTheirSchemas(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range jsonFence.FindAllSubmatch(text, -1) {
			if bytes.Contains(m[1], []byte(inspect.APIVersion)) || bytes.Contains(m[1], []byte(`"event"`)) {
				found += len(commandstest.Valid(t, page, m[1]))
			}
		}
	}
	if found == 0 {
		t.Error("no page shows a document")
	}
}

func TestSchemaRejectsInvalidDocuments(t *testing.T) {
	const whole = `{"apiVersion":"cli.kubectl-fdb/v2","kind":"KindList","metadata":{"tool":"t","runId":"r"},"asOf":null,"source":"live","warnings":[],"items":[]}`
	tests := map[string]struct {
		from, to string
		fits     bool
	}{
		"a whole one":             {fits: true},
		"another kind":            {`"KindList"`, `"KindLust"`, false},
		"another version":         {"/v2", "/v1", false},
		"a field is missing":      {`"warnings":[],`, ``, false},
		"a list that is null":     {`"items":[]`, `"items":null`, false},
		"a time that is none":     {`"asOf":null`, `"asOf":"noon"`, false},
		"a time":                  {`"asOf":null`, `"asOf":"2026-11-20T12:00:00Z"`, true},
		"an unknown source":       {`"live"`, `"hearsay"`, false},
		"a field of another kind": {`"items":[]`, `"items":[],"more":1`, false},
		"a part that lacks one":   {`"items":[]`, `"items":[{"name":"Plan"}]`, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			document, err := jsonschema.UnmarshalJSON(strings.NewReader(strings.Replace(whole, tc.from, tc.to, 1)))
			if err != nil {
				t.Fatal(err)
			}
			if err := commandstest.Validators()["KindList"].Validate(document); (err == nil) != tc.fits {
				t.Errorf("fits: %v (%v), want %v", err == nil, err, tc.fits)
			}
		})
	}
}

func TestSchemaCommand(t *testing.T) {
	tests := map[string]struct {
		args []string
		want int
		says string
	}{
		"all kinds":         {want: exit.ExitDone, says: " status\n"},
		"their names":       {args: []string{"-o", "name"}, want: exit.ExitDone, says: "WaitResult\n"},
		"as a document":     {args: []string{"-o", "json"}, want: exit.ExitDone, says: `"kind": "KindList"`},
		"one":               {args: []string{"ClusterStatus"}, want: exit.ExitDone, says: `"$schema": "https://json-schema.org/draft/2020-12/schema"`},
		"with descriptions": {args: []string{"ClusterStatus"}, want: exit.ExitDone, says: `"description": "Summary is the state in one sentence."`},
		"events":            {args: []string{"reconcileevent"}, want: exit.ExitDone, says: `"const": "decided"`},
		"one field of it":   {args: []string{"Error", "-o", "jsonpath={.properties.kind.const}"}, want: exit.ExitDone, says: "Error"},
		"as YAML":           {args: []string{"Plan", "-o", "yaml"}, want: exit.ExitDone, says: "title: Plan"},
		"an unknown one":    {args: []string{"Poem"}, want: exit.ExitUsage, says: "must be one of "},
		"an unknown output": {args: []string{"-o", "xml"}, want: exit.ExitUsage},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := commandstest.NewGiven(t)
			g.Env["KUBECONFIG"] = "/nowhere"
			got := g.Run(append([]string{"schema"}, tc.args...)...)
			if output := g.Out.String() + g.Err.String(); got != tc.want || !strings.Contains(output, tc.says) {
				t.Errorf("exit code %d, want %d, and %q\n%s", got, tc.want, tc.says, output)
			}
		})
	}
}

// Most fields come from the database, so without one most are null.
func TestJSONOutputMatchesItsSchemasWithoutADatabase(t *testing.T) {
	g := commandstest.Up(t)
	for _, args := range [][]string{{"status"}, {"status", "-A"}, {"get", "pg"}, {"plan"}} {
		commandstest.UnresponsiveSession(g)
		if g.Run(append(args, "-o", "json")...); g.Out.Len() == 0 {
			t.Errorf("%q prints nothing: %s", args, &g.Err)
		}
	}
}
