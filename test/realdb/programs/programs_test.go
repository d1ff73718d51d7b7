package programs

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// directory returns a directory with programs of these names.
func directory(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestProgramDirectoriesAreParsedByVersion(t *testing.T) {
	one, two := directory(t, Needed...), directory(t, Needed...)
	got, err := Parse("7.3.78=" + one + ",7.3.79=" + two)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Given{{"7.3.78", one}, {"7.3.79", two}}, got); diff != "" {
		t.Error(diff)
	}
}

func TestInvalidFoundationDBProgramDirectoriesAreRejected(t *testing.T) {
	complete, without := directory(t, Needed...), directory(t, "fdbserver")
	data := directory(t, Needed...)
	if err := os.Chmod(filepath.Join(data, "fdbcli"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"nothing":               "",
		"no version":            complete,
		"no directory":          "7.3.79=",
		"no patch version":      "7.3=" + complete,
		"an empty entry":        "7.3.79=" + complete + ",",
		"a version twice":       "7.3.79=" + complete + ",7.3.79=" + complete,
		"a missing directory":   "7.3.79=" + filepath.Join(complete, "missing"),
		"a missing fdbcli":      "7.3.79=" + without,
		"not executable fdbcli": "7.3.79=" + data,
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := Parse(text); err == nil {
				t.Errorf("accepted as %v", got)
			}
		})
	}
}

func TestJourneysAreChosenByName(t *testing.T) {
	all := []string{"create", "grow", "replace"}
	for text, want := range map[string][]string{"": all, "grow": {"grow"}, "replace,create": {"create", "replace"}} {
		got, err := Choose(text, all)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q: %v %s", text, err, diff)
		}
	}
	for _, text := range []string{"growth", "grow,", "grow,shrink"} {
		if got, err := Choose(text, all); err == nil {
			t.Errorf("%q was accepted as %v", text, got)
		}
	}
}

func TestJobsAreAPositiveNumber(t *testing.T) {
	for text, want := range map[string]int{"": DefaultJobs, "1": 1, "7": 7} {
		if got, err := Jobs(text); got != want || err != nil {
			t.Errorf("%q: %d %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"0", "-1", "two", "2.5"} {
		if got, err := Jobs(text); err == nil {
			t.Errorf("%q was accepted as %d", text, got)
		}
	}
}

func TestTheOutcomeNamesJourneysThatDidNotPass(t *testing.T) {
	for name, tc := range map[string]struct {
		failed, notRun []string
		want           string
	}{
		"all passed":    {nil, nil, "35 of 35 chosen journeys passed"},
		"one version":   {nil, []string{"upgrade"}, "34 of 35 chosen journeys passed; NOT RUN: upgrade"},
		"some failed":   {[]string{"tls", "grow"}, nil, "33 of 35 chosen journeys passed; failed: tls, grow"},
		"of both kinds": {[]string{"tls"}, []string{"upgrade", "backup"}, "32 of 35 chosen journeys passed; failed: tls; NOT RUN: upgrade, backup"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Outcome(35, tc.failed, tc.notRun); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}
