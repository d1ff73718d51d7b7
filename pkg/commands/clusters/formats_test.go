package clusters_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func TestListsAreSortedByAFieldOrAColumn(t *testing.T) {
	g := commandstest.Up(t)
	for name, tc := range map[string]struct{ args, by, field string }{
		"process groups by a field":          {args: "get pg sample", by: ".zone", field: "zone"},
		"a path in braces":                   {args: "get pg sample", by: "{.zone}", field: "zone"},
		"a path without a dot":               {args: "get pg sample", by: "zone", field: "zone"},
		"process groups by a column":         {args: "get pg sample", by: "ZONE", field: "zone"},
		"an element of a list":               {args: "get pg sample", by: ".addresses[0]", field: "addresses[0]"},
		"processes by a field":               {args: "get processes sample", by: ".class", field: "class"},
		"events by their number":             {args: "events sample", by: "COUNT", field: "count"},
		"clusters by a field of the cluster": {args: "get clusters", by: ".metadata.cluster", field: "metadata.cluster"},
	} {
		t.Run(name, func(t *testing.T) {
			code := g.Run(append(strings.Fields(tc.args), "--sort-by", tc.by, "-o", "jsonpath={.items[*]."+tc.field+"}")...)
			if got := strings.Fields(g.Out.String()); code != exit.ExitDone || !slices.IsSorted(got) {
				t.Errorf("exit code %d: %s%s", code, got, &g.Err)
			}
		})
	}
}

// By default lists have the worst items first, and then follow their IDs.
func TestEveryFormatHasTheOrderOfSortBy(t *testing.T) {
	g := commandstest.Up(t)
	g.Run("get", "pg", "sample", "-o", "jsonpath={.items[*].id}")
	usual := strings.Fields(g.Out.String())
	g.Run("get", "pg", "sample", "--sort-by", ".zone", "-o", "jsonpath={.items[*].id}")
	sorted := strings.Fields(g.Out.String())
	if slices.Equal(usual, sorted) || len(sorted) != len(usual) {
		t.Fatalf("%s without --sort-by, %s with it", usual, sorted)
	}
	for name, format := range map[string]string{"names": "name", "columns": "custom-columns=ID", "columns by path": "custom-columns=X:.id", "a table": "table"} {
		t.Run(name, func(t *testing.T) {
			g.Run("get", "pg", "sample", "--sort-by", ".zone", "--no-headers", "-o", format)
			var got []string
			for line := range strings.Lines(g.Out.String()) {
				got = append(got, strings.TrimPrefix(strings.Fields(line)[0], "processgroup/"))
			}
			if diff := cmp.Diff(sorted, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAnUnknownFieldOfSortByIsAnErrorThatListsAllFields(t *testing.T) {
	g := commandstest.Up(t)
	for name, tc := range map[string]struct{ by, want string }{
		"a misspelled field":   {by: ".zoen", want: `unknown field of --sort-by "zoen": must be one of SITE, CLUSTER, ID, `},
		"a misspelled column":  {by: "ZOEN", want: `unknown field of --sort-by "ZOEN"`},
		"a field of no item":   {by: ".items[0].id", want: `unknown field of --sort-by "items"`},
		"a path without a end": {by: ".conditions[", want: "invalid path of --sort-by: "},
	} {
		t.Run(name, func(t *testing.T) {
			if code := g.Run("get", "pg", "sample", "--sort-by", tc.by); code != exit.ExitUsage || !strings.Contains(g.Err.String(), tc.want) {
				t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
			}
		})
	}
}

func TestShellCompletionOffersColumnsAndFieldsForSortBy(t *testing.T) {
	g := commandstest.Up(t)
	g.Run("__complete", "get", "pg", "sample", "--sort-by", "")
	for _, want := range []string{"CONDITIONS\n", "zone\n", "podPhase\n"} {
		if !strings.Contains(g.Out.String(), want) {
			t.Errorf("no %s in %s", want, &g.Out)
		}
	}
}

func TestTemplatesOfFilesPrintWhatTheSameOnesOnTheCommandLinePrint(t *testing.T) {
	g := commandstest.Up(t)
	file := filepath.Join(t.TempDir(), "template")
	for name, tc := range map[string]struct{ args, text, kind, inline string }{
		"columns of a list":      {args: "get pg sample", text: "CLASS   ROLE\n.class  {.roles[0]}\n", kind: "custom-columns", inline: "CLASS:.class,ROLE:{.roles[0]}"},
		"columns of a document":  {args: "status sample", text: "STATE\nstate", kind: "custom-columns", inline: "STATE:state"},
		"columns of a result":    {args: "pause sample --yes", text: "CODE\n.exitCode", kind: "custom-columns", inline: "CODE:.exitCode"},
		"JSONPath of a list":     {args: "get pg sample", text: "{.items[*].id}", kind: "jsonpath", inline: "{.items[*].id}"},
		"JSONPath of a document": {args: "status sample", text: "{.state}", kind: "jsonpath", inline: "{.state}"},
		"a Go template":          {args: "get clusters", text: "{{range .items}}{{.state}}{{end}}", kind: "go-template", inline: "{{range .items}}{{.state}}{{end}}"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(file, []byte(tc.text), 0o600); err != nil {
				t.Fatal(err)
			}
			g.Run(append(strings.Fields(tc.args), "-o", tc.kind+"="+tc.inline)...)
			want := g.Out.String()
			if code := g.Run(append(strings.Fields(tc.args), "-o", tc.kind+"-file="+file)...); code != exit.ExitDone || want == "" {
				t.Errorf("exit code %d: %s%s", code, want, &g.Err)
			}
			if diff := cmp.Diff(want, g.Out.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestInvalidFilesOfTemplatesAreUsageErrors(t *testing.T) {
	g := commandstest.Up(t)
	file := filepath.Join(t.TempDir(), "template")
	for name, tc := range map[string]struct{ format, text, want string }{
		"no file":                    {format: "jsonpath-file", want: "-o jsonpath-file requires a file: -o jsonpath-file=FILE"},
		"a file that does not exist": {format: "go-template-file=" + file + "-2", want: "read the file of -o go-template-file: "},
		"fewer paths than headers":   {format: "custom-columns-file=" + file, text: "A B\n.a", want: "not 2 headers and 1 path"},
		"an empty file of columns":   {format: "custom-columns-file=" + file, want: "not 0 headers and 0 paths"},
		"a template with an error":   {format: "jsonpath-file=" + file, text: "{.a", want: "invalid -o jsonpath-file="},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(file, []byte(tc.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if code := g.Run("get", "pg", "sample", "-o", tc.format); code != exit.ExitUsage || !strings.Contains(g.Err.String(), tc.want) {
				t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
			}
		})
	}
}

func TestKYAMLHasTheFieldsOfYAML(t *testing.T) {
	g := commandstest.Up(t)
	for _, args := range []string{"get pg sample", "status sample", "pause sample --yes"} {
		t.Run(args, func(t *testing.T) {
			var want, got map[string]any
			g.Run(append(strings.Fields(args), "-o", "yaml")...)
			if err := yaml.Unmarshal(g.Out.Bytes(), &want); err != nil {
				t.Fatal(err)
			}
			g.Run(append(strings.Fields(args), "-o", "kyaml")...)
			if err := yaml.Unmarshal(g.Out.Bytes(), &got); err != nil || !strings.HasPrefix(g.Out.String(), "---\n{\n") {
				t.Fatalf("%v: %s", err, &g.Out)
			}
			fields := slices.Sorted(maps.Keys(want)) // times differ
			if diff := cmp.Diff(fields, slices.Sorted(maps.Keys(got))); diff != "" || want["kind"] != got["kind"] {
				t.Errorf("%s, not %s: %s", got["kind"], want["kind"], diff)
			}
		})
	}
}

// An item is in a list if its fields have the values, in all formats.
func TestFieldSelectorsSelectTheItemsOfAList(t *testing.T) {
	g := commandstest.Up(t)
	for name, tc := range map[string]struct {
		args, where, print string
		want               func(value string) bool
	}{
		"equal":                 {args: "get pg sample", where: "class=storage", print: "class", want: func(v string) bool { return v == "storage" }},
		"equal, with two signs": {args: "get pg sample", where: ".class==log", print: "class", want: func(v string) bool { return v == "log" }},
		"unequal":               {args: "get pg sample", where: "class!=storage", print: "class", want: func(v string) bool { return v != "storage" }},
		"both of two":           {args: "get pg sample", where: "class!=storage,class!=log", print: "class", want: func(v string) bool { return v != "storage" && v != "log" }},
		"one of several values": {args: "get pg sample", where: "roles[*]=log", print: "class", want: func(v string) bool { return v == "log" }},
		"a label":               {args: "get pg sample", where: `labels.foundationdb\.org/fdb-process-class=log`, print: "class", want: func(v string) bool { return v == "log" }},
		"processes":             {args: "get processes sample", where: "class=log", print: "class", want: func(v string) bool { return v == "log" }},
		"an unset field":        {args: "get pg sample", where: "kept!=true,class=log", print: "class", want: func(v string) bool { return v == "log" }},
	} {
		t.Run(name, func(t *testing.T) {
			code := g.Run(append(strings.Fields(tc.args), "--field-selector", tc.where, "-o", "jsonpath={.items[*]."+tc.print+"}")...)
			got := strings.Fields(g.Out.String())
			if code != exit.ExitDone || len(got) == 0 || slices.ContainsFunc(got, func(v string) bool { return !tc.want(v) }) {
				t.Errorf("exit code %d: %s%s", code, got, &g.Err)
			}
		})
	}
}

func TestNamesFollowTheFieldSelectorAndTheOrder(t *testing.T) {
	g := commandstest.Up(t)
	g.Run("get", "pg", "sample", "--field-selector", "class=storage", "--sort-by", "id", "-o", "name")
	got := strings.Fields(g.Out.String())
	if len(got) == 0 || !slices.IsSorted(got) || slices.ContainsFunc(got, func(n string) bool { return !strings.HasPrefix(n, "processgroup/storage-") }) {
		t.Errorf("%s%s", got, &g.Err)
	}
}

func TestWrongFieldSelectorsAreUsageErrors(t *testing.T) {
	g := commandstest.Up(t)
	for where, want := range map[string]string{
		"klass=storage": `unknown field of --field-selector "klass": must be one of site, `,
		"class":         "invalid --field-selector: ",
		"roles[=log":    "invalid path of --field-selector: ",
	} {
		t.Run(where, func(t *testing.T) {
			if code := g.Run("get", "pg", "sample", "--field-selector", where); code != exit.ExitUsage || !strings.Contains(g.Err.String(), want) {
				t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
			}
		})
	}
}

func TestAListWithoutMatchingItemsIsNoEmptyTable(t *testing.T) {
	g := commandstest.Up(t)
	if code := g.Run("get", "pg", "sample", "--field-selector", "class=none"); code != exit.ExitDone || g.Out.Len() > 0 || !strings.Contains(g.Err.String(), "no item has the fields class=none") {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
}

// A label that an object does not have is "-".
func TestLabelsAreColumnsAfterThoseOfTheList(t *testing.T) {
	g := commandstest.Up(t)
	const class, id = "foundationdb.org/fdb-process-class", "foundationdb.org/fdb-process-group-id"
	for name, tc := range map[string]struct {
		args string
		want func(header, row []string) bool
	}{
		"one label of pods": {args: "get pg sample -L " + class, want: func(header, row []string) bool {
			return header[len(header)-1] == "FDB-PROCESS-CLASS" && strings.HasPrefix(row[0], row[len(row)-1])
		}},
		"two labels, in their order": {args: "get pg sample -L " + class + "," + id, want: func(header, row []string) bool {
			return header[len(header)-1] == "FDB-PROCESS-GROUP-ID" && row[len(row)-1] == row[0]
		}},
		"all labels": {args: "get pg sample --show-labels", want: func(header, row []string) bool {
			return header[len(header)-1] == "LABELS" && strings.Contains(row[len(row)-1], id+"="+row[0])
		}},
		"all labels, sorted": {args: "get pg sample --show-labels --sort-by zone", want: func(_, row []string) bool {
			return strings.Contains(row[len(row)-1], id+"="+row[0])
		}},
		"a label that no pod has":   {args: "get pg sample -L team", want: func(_, row []string) bool { return row[len(row)-1] == "-" }},
		"nodes":                     {args: "get nodes sample -L kubernetes.io/hostname", want: func(header, _ []string) bool { return header[len(header)-1] == "HOSTNAME" }},
		"a cluster without a label": {args: "get clusters --show-labels", want: func(header, row []string) bool { return header[len(header)-1] == "LABELS" && row[len(row)-1] == "-" }},
	} {
		t.Run(name, func(t *testing.T) {
			code := g.Run(strings.Fields(tc.args)...)
			lines := strings.Split(strings.TrimSpace(g.Out.String()), "\n")
			if code != exit.ExitDone || len(lines) < 2 {
				t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
			}
			for _, line := range lines[1:] {
				if !tc.want(strings.Fields(lines[0]), strings.Fields(line)) {
					t.Errorf("%s\n%s", lines[0], line)
				}
			}
		})
	}
}

func TestOnlyListsOfObjectsHaveLabels(t *testing.T) {
	g := commandstest.Up(t)
	for args, code := range map[string]int{
		"get pg sample -L a b=c":             exit.ExitUsage,
		"get processes sample --show-labels": exit.ExitUsage,
		"get coordinators sample -L team":    exit.ExitUsage,
		"get pg sample -L a,,b":              exit.ExitUsage,
	} {
		t.Run(args, func(t *testing.T) {
			if got := g.Run(strings.Fields(args)...); got != code {
				t.Errorf("exit code %d: %s%s", got, &g.Out, &g.Err)
			}
		})
	}
}
