package opcases

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"testing"
)

// Outcome is what one side decided, by the name of each part. A part that a side does not
// have is absent.
type Outcome map[string]string

// Comparison returns the operator's outcome and this program's for one case. It returns an
// error when the case cannot be asked of this program, which fails the test.
type Comparison func(Case) (operator, ours Outcome, err error)

// Suite is the comparisons of one package.
type Suite struct {
	// Package is the value in Readers of the files that the suite compares.
	Package string
	// Comparisons by the path of the file.
	Comparisons map[string]Comparison
}

// Run compares every case, of the excerpt and of the folder of all cases. The only
// differences that it accepts are the listed ones.
func (s Suite) Run(t *testing.T) {
	t.Helper()
	s.compareNames(t)
	t.Run("excerpt", func(t *testing.T) { s.compareFolder(t, Excerpt()) })
	t.Run("recorded", func(t *testing.T) {
		folder, err := Recorded()
		if err != nil {
			t.Skipf("NOT RUN: only the excerpt was compared with the operator's release: %v", err)
		}
		s.compareFolder(t, folder)
	})
}

// compareNames asks whether the suite compares what it should, no less and no more.
func (s Suite) compareNames(t *testing.T) {
	t.Helper()
	for file, reader := range Readers {
		if _, compared := s.Comparisons[file]; (reader == s.Package) != compared {
			t.Errorf("%s: compared in %s: %t; Readers names %s", file, s.Package, compared, reader)
		}
	}
	for file := range s.Comparisons {
		if Readers[file] == "" {
			t.Errorf("%s: not in Readers", file)
		}
	}
}

func (s Suite) compareFolder(t *testing.T, folder fs.FS) {
	t.Helper()
	unread, err := unreadFiles(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range unread {
		t.Errorf("%s: no comparison reads it; add one, and its package to opcases.Readers", file)
	}
	for _, file := range slices.Sorted(maps.Keys(s.Comparisons)) {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			s.compareFile(t, folder, file)
		})
	}
}

// unreadFiles are the files of a folder that no comparison reads.
func unreadFiles(folder fs.FS) ([]string, error) {
	files, err := Files(folder)
	return slices.DeleteFunc(files, func(file string) bool { return Readers[file] != "" || Unread[file] != "" }), err
}

func (s Suite) compareFile(t *testing.T, folder fs.FS, file string) {
	t.Helper()
	cases, err := ReadCases(folder, file)
	if err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 {
		t.Fatalf("%s: no cases", file)
	}
	listed, err := listedFor(file)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, c := range cases {
		found[c.Key] = true
		operator, ours, err := s.Comparisons[file](c)
		if err != nil {
			t.Errorf("%s, case %s: comparing: %v", file, c.Key, err)
			continue
		}
		for _, problem := range judge(c, operator, ours, listed[c.Key]) {
			t.Error(problem)
		}
	}
	for key := range listed {
		if found[key] {
			continue
		}
		t.Errorf("%s, case %s: listed as a difference, and there is no such case", file, key)
	}
}

// judge compares one case with what is listed of it.
func judge(c Case, operator, ours Outcome, listed []Difference) []string {
	var problems []string
	expected, problems := expectedOf(listed)
	parts := maps.Clone(operator)
	maps.Copy(parts, ours)
	differs := map[string]string{}
	for _, part := range slices.Sorted(maps.Keys(parts)) {
		want, desired := operator[part]
		got, found := ours[part]
		if want == got && desired == found {
			continue
		}
		differs[part] = Short(got, found)
		switch listedValue, isListed := expected[part]; {
		case !isListed:
			problems = append(problems, fmt.Sprintf("%s, case %s, %s: the operator has %s, this program %s",
				c.File, c.Key, part, orAbsent(want, desired), orAbsent(got, found)))
		case listedValue != differs[part]:
			problems = append(problems, fmt.Sprintf("%s, case %s, %s: listed as a difference with %s, and now %s (%s)",
				c.File, c.Key, part, listedValue, differs[part], orAbsent(got, found)))
		}
	}
	for part := range expected {
		if _, occurs := differs[part]; !occurs {
			problems = append(problems, fmt.Sprintf("%s, case %s, %s: listed as a difference, and equal to the operator's; remove the entry", c.File, c.Key, part))
		}
	}
	if len(problems) > 0 && len(differs) > 0 {
		problems = append(problems, "all that differs, for internal/opcases/testdata/differences.jsonl: "+Difference{File: c.File, Case: c.Key, Ours: differs}.line())
	}
	return problems
}

func orAbsent(value string, found bool) string {
	if !found {
		return "nothing"
	}
	return fmt.Sprintf("%q", value)
}
