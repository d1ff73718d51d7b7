package admin_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
)

var (
	wholeDatabase = [][2]string{{`""`, `\xff`}}
	twoRanges     = [][2]string{{"a", "b"}, {"c", "d"}}
)

// The answers are in the form that 7.3.79 prints.
func TestOccupiedRanges(t *testing.T) {
	const option, first, second = ">>> option on ACCESS_SYSTEM_KEYS\nOption enabled for all transactions\n",
		">>> getrangekeys a b 1\n\nRange limited to 1 keys\n", ">>> getrangekeys c d 1\n\nRange limited to 1 keys\n"
	tests := map[string]struct {
		ranges [][2]string
		stdout string
		stderr string
		exit   int
		want   [][2]string
		fails  admin.Kind
	}{
		"a database without keys":     {stdout: "\nRange limited to 1 keys\n\n"},
		"a database with keys":        {stdout: "\nRange limited to 1 keys\n`key000000'\n\n", want: wholeDatabase},
		"an empty key":                {stdout: "\nRange limited to 1 keys\n`'\n\n", want: wholeDatabase},
		"one of two ranges":           {ranges: twoRanges, stdout: option + first + "\n" + second + "`c'\n\n", want: twoRanges[1:]},
		"both ranges":                 {ranges: twoRanges, stdout: option + first + "`a'\n\n" + second + "`c'\n\n", want: twoRanges},
		"neither range":               {ranges: twoRanges, stdout: option + first + "\n" + second + "\n"},
		"cut short after the header":  {stdout: "\nRange limited to 1 keys\n", fails: admin.KindUnparsed},
		"cut short before a range":    {ranges: twoRanges, stdout: option + first + "\n", fails: admin.KindUnparsed},
		"another limit":               {stdout: "\nRange limited to 25 keys\n\n", fails: admin.KindUnparsed},
		"an unknown line":             {stdout: "\nRange limited to 1 keys\nkey\n\n", fails: admin.KindUnparsed},
		"nothing":                     {fails: admin.KindUnparsed},
		"a locked database":           {stderr: "ERROR: Database is locked (1038)\n", exit: 1, fails: admin.KindLocked},
		"no answer in time":           {stderr: "Specified timeout reached -- exiting...\n", exit: 1, fails: admin.KindTimeout},
		"a key that ends the command": {ranges: [][2]string{{"a", "b;"}}, fails: admin.KindBadInput},
		"a key of more than one word": {ranges: [][2]string{{"a b", "c"}}, fails: admin.KindBadInput},
		"a key that is empty":         {ranges: [][2]string{{"", "c"}}, fails: admin.KindBadInput},
		"a range that ends too early": {ranges: twoRanges[:1], stderr: "ERROR: Range begin key larger than end key (2005)\n", exit: 1, fails: admin.KindBadInput},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			answer := admin.Result{Stdout: []byte(tt.stdout), Stderr: []byte(tt.stderr), ExitCode: tt.exit}
			got, err := admin.NewBackups(&scripted{[]admin.Result{answer}}, nil).Occupied(t.Context(), tt.ranges)
			if admin.KindOf(err) != tt.fails {
				t.Fatalf("error %v, want kind %q", err, tt.fails)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOccupiedRangesOfASimulatedDatabase(t *testing.T) {
	s := newSite(t)
	occupied := func(want [][2]string, ranges ...[2]string) {
		t.Helper()
		got, err := s.backups.Occupied(t.Context(), ranges)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%v: %v %s", ranges, err, diff)
		}
	}
	occupied(nil)
	occupied(nil, twoRanges...)
	occupied([][2]string{{`\xff/conf/`, `\xff/conf0`}}, [2]string{`\xff/conf/`, `\xff/conf0`})
	s.fill(t, "writemode on; set ca x")
	occupied(wholeDatabase)
	occupied(twoRanges[1:], twoRanges...)
	occupied(nil, twoRanges[0])
	occupied(twoRanges[1:], [2]string{"c", "d"})
}
