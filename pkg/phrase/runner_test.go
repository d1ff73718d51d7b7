package phrase

import (
	"strings"
	"testing"
)

func escape(r rune) string { return `\` + string(r) }

func TestATextHasNoCommandForTheRunnerOfAPipeline(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"at the beginning":                         {"::error::x", `:\:error::x`},
		"on a later line":                          {"a\n::set-output name=a::b\n", "a\n:\\:set-output name=a::b\n"},
		"after blanks of any kind":                 {" \t\u00a0\u3000::error::x", " \t\u00a0\u3000:\\:error::x"},
		"with a joiner, which a comparison skips":  {":\u200d:error::x #\u0301#[x]", ":\u200d\\:error::x #\u0301#\\[x]"},
		"GitHub's first form, anywhere":            {"why: ##[set-env name=A]b", `why: ##\[set-env name=A]b`},
		"Azure's, anywhere":                        {"pod ###vso[task.setvariable variable=A]b", `pod ###vso\[task.setvariable variable=A]b`},
		"TeamCity's":                               {"##teamcity[buildStop]", `##teamcity\[buildStop]`},
		"two on a line":                            {"##[a]##vso[b]", `##\[a]##vso\[b]`},
		"colons within a line are none":            {"std::string [::1]:4501", "std::string [::1]:4501"},
		"one colon":                                {":a\n: :", ":a\n: :"},
		"a heading of Markdown, and a lone number": {"## [a](b) #1[2] ##1[3]", "## [a](b) #1[2] ##1[3]"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := new(RunnerLine).Text(tc.text, escape); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// Streams are written in pieces, and a command may be spread over several fields of an object.
func TestACommandForARunnerIsFoundInPieces(t *testing.T) {
	const text = " ::error::x\nplain\n  \n: :\n a #\u0301#v\u200dso[x] ##\n[y]\n::stop-commands::z"
	want := new(RunnerLine).Text(text, escape)
	for size := 1; size < 12; size++ {
		var line RunnerLine
		var got strings.Builder
		for rest := []rune(text); len(rest) > 0; {
			n := min(size, len(rest))
			got.WriteString(line.Text(string(rest[:n]), escape))
			rest = rest[n:]
		}
		if got.String() != want {
			t.Errorf("in pieces of %d: %q, want %q", size, got.String(), want)
		}
	}
}
