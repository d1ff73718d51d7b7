package opcases

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func TestOnlyListedDifferencesAreAccepted(t *testing.T) {
	const reason = "unknown-is-no"
	c := Case{File: "some/file.jsonl.gz", Key: "0123456789ab"}
	long := strings.Repeat("x", longest+1)
	listed := func(reason string, ours map[string]string) []Difference {
		return []Difference{{File: c.File, Case: c.Key, Reason: reason, Ours: ours}}
	}
	for name, test := range map[string]struct {
		operator, ours Outcome
		listed         []Difference
		want           string // part of the first problem; empty for none
	}{
		"equal, nothing listed":                          {Outcome{"a": "1"}, Outcome{"a": "1"}, nil, ""},
		"different and listed":                           {Outcome{"a": "1"}, Outcome{"a": "2"}, listed(reason, map[string]string{"a": "2"}), ""},
		"different and listed by digest":                 {Outcome{"a": "1"}, Outcome{"a": long}, listed(reason, map[string]string{"a": Short(long, true)}), ""},
		"different and not listed":                       {Outcome{"a": "1"}, Outcome{"a": "2"}, nil, "this program"},
		"a part that only the operator has":              {Outcome{"a": "1"}, Outcome{}, nil, "this program nothing"},
		"a part that only this program has":              {Outcome{}, Outcome{"a": "1"}, nil, "the operator has nothing"},
		"an empty part is not an absent one":             {Outcome{"a": ""}, Outcome{}, nil, "this program nothing"},
		"a listed part does not cover another one":       {Outcome{"a": "1", "b": "1"}, Outcome{"a": "2", "b": "2"}, listed(reason, map[string]string{"a": "2"}), ", b:"},
		"listed with another value than now":             {Outcome{"a": "1"}, Outcome{"a": "3"}, listed(reason, map[string]string{"a": "2"}), "and now 3"},
		"listed by the digest of another long value":     {Outcome{"a": "1"}, Outcome{"a": long}, listed(reason, map[string]string{"a": Short(long+"x", true)}), "and now sha256:"},
		"listed and equal now":                           {Outcome{"a": "1"}, Outcome{"a": "1"}, listed(reason, map[string]string{"a": "2"}), "remove the entry"},
		"listed, of a part that neither side has":        {Outcome{}, Outcome{}, listed(reason, map[string]string{"a": "2"}), "remove the entry"},
		"listed without a reason":                        {Outcome{"a": "1"}, Outcome{"a": "2"}, listed("", map[string]string{"a": "2"}), "not in opcases.Reasons"},
		"listed with a reason that is explained nowhere": {Outcome{"a": "1"}, Outcome{"a": "2"}, listed("because", map[string]string{"a": "2"}), "not in opcases.Reasons"},
		"listed twice":                                   {Outcome{"a": "1"}, Outcome{"a": "2"}, append(listed(reason, map[string]string{"a": "2"}), listed(reason, map[string]string{"a": "2"})...), "listed twice"},
	} {
		t.Run(name, func(t *testing.T) {
			problems := judge(c, test.operator, test.ours, test.listed)
			if (len(problems) > 0) != (test.want != "") || (test.want != "" && !strings.Contains(problems[0], test.want)) {
				t.Errorf("got %q, want %q", problems, test.want)
			}
		})
	}
}

func TestUnreadOperatorCaseFilesAreListed(t *testing.T) {
	folder := fstest.MapFS{
		"operator-hashes.jsonl.gz":         &fstest.MapFile{},
		"internal_new/new.Decide.jsonl.gz": &fstest.MapFile{},
	}
	unread, err := unreadFiles(folder)
	if err != nil || !slices.Equal(unread, []string{"internal_new/new.Decide.jsonl.gz"}) {
		t.Errorf("got %v, %v", unread, err)
	}
}

func TestUnreadOperatorCaseFilesHaveAReason(t *testing.T) {
	for file, reason := range Unread {
		if reason == "" || Readers[file] != "" {
			t.Errorf("%s: reason %q, read by %q", file, reason, Readers[file])
		}
	}
}

func TestListedOperatorDifferencesReferToComparedFiles(t *testing.T) {
	all, err := Differences()
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, d := range all {
		used[d.Reason] = true
		if Readers[d.File] == "" {
			t.Errorf("%s, case %s: listed as a difference, and no comparison reads the file", d.File, d.Case)
		}
		if len(d.Ours) == 0 {
			t.Errorf("%s, case %s: listed without a part that differs", d.File, d.Case)
		}
	}
	for reason := range Reasons {
		if !used[reason] {
			t.Errorf("%s: no listed difference has this reason", reason)
		}
	}
}

func TestTheCaseKeyIsDerivedFromTheInputOnly(t *testing.T) {
	key := func(line string) string {
		c, err := parseCase("file", []byte(line))
		if err != nil {
			t.Fatal(err)
		}
		return c.Key
	}
	plain := key(`{"in":{"a":1},"out":{"b":1}}`)
	if key(`{"out":{"b":2},"in":{ "a": 1 }}`) != plain || key(`{"in":{"a":2},"out":{"b":1}}`) == plain {
		t.Error("the key follows something else than the input")
	}
	if _, err := parseCase("file", []byte(`{"out":{}}`)); err == nil {
		t.Error("a case without input has a key")
	}
}
