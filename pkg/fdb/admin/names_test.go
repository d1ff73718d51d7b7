package admin_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
)

// containerHere runs the command line of a container on this machine, with its programs or
// only those of a directory.
type containerHere struct {
	t    *testing.T
	path string
	runs int
}

func (c *containerHere) Run(ctx context.Context, command admin.Command) (admin.Result, error) {
	c.runs++
	argv := admin.Wrapped(command)
	program, err := exec.LookPath(argv[0])
	if err != nil {
		c.t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, program, argv[1:]...)
	cmd.Env = os.Environ()
	if c.path != "" {
		cmd.Env = []string{"PATH=" + c.path}
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	if exit, ended := errors.AsType[*exec.ExitError](err); err != nil && (!ended || !exit.Exited()) {
		return admin.Result{}, err
	}
	return admin.Result{Stdout: stdout.Bytes(), Stderr: stderr.Bytes(), ExitCode: cmd.ProcessState.ExitCode()}, nil
}

func (c *containerHere) Open(context.Context, admin.Command) (*admin.Session, error) {
	return nil, errors.New("names are resolved by a program that runs to its end")
}

// programs is a directory with the named programs of this machine and with scripts.
func programs(t *testing.T, names []string, scripts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		from, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(from, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, script := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestNameResolutionUsesTheResolverOfTheContainer(t *testing.T) {
	c := &containerHere{t: t}
	got, err := admin.ResolveNames(t.Context(), c, []string{"localhost"})
	if err != nil || c.runs != 1 {
		t.Fatalf("%d runs: %v", c.runs, err)
	}
	n, found := got.Of("localhost")
	if !found || n.Lookups != 20 || n.Failed != 0 || n.Unanswered != 0 || n.Slowest < 0 || got.Overhead < 0 || got.Total() != 20 {
		t.Errorf("got %+v", got)
	}
}

func TestNamesAreResolvedByToolsOfTheContainer(t *testing.T) {
	needed := []string{"sh", "timeout", "sleep"}
	tests := map[string]struct {
		names   []string
		scripts map[string]string
		kind    admin.Kind
		says    string
		want    func(fdb.NameLookups) bool
	}{
		"a name that is not found": {
			needed,
			map[string]string{"getent": `[ "$2" = gone.fdb.svc ] && exit 2; exit 0`},
			"", "",
			func(l fdb.NameLookups) bool { return l.Names[0].Failed == 13 && l.Names[1].Failed == 0 },
		},
		"addresses": {
			needed,
			map[string]string{"getent": `[ "$2" = gone.fdb.svc ] && exit 2
[ "$2" = here.fdb.svc ] && printf '2001:db8::1     STREAM here.fdb.svc\n2001:db8::1     DGRAM  \n'
printf '10.1.0.7        STREAM *\n10.1.0.7        DGRAM\n10.1.0.7        RAW\n'`},
			"", "",
			func(l fdb.NameLookups) bool {
				return l.Names[0].Addresses == nil && slices.Equal(l.Names[1].Addresses, []netip.Addr{netip.MustParseAddr("10.1.0.7"), netip.MustParseAddr("2001:db8::1")})
			},
		},
		"a getent that prints something else": {needed, map[string]string{"getent": "echo 10.1.0"}, admin.KindUnparsed, "10.1.0", nil},
		"one lookup in the way of others": {
			needed,
			map[string]string{"getent": `[ "$2" = gone.fdb.svc ] && sleep 3; exit 0`},
			"", "",
			func(l fdb.NameLookups) bool {
				return l.Names[0].Slowest >= 3*time.Second && l.Names[1].Slowest < l.Names[0].Slowest && l.Overhead < l.Names[0].Slowest
			},
		},
		"no getent":                   {needed, nil, admin.KindBinaryMissing, "the container has no getent", nil},
		"no timeout":                  {[]string{"sh"}, map[string]string{"getent": "exit 0"}, admin.KindBinaryMissing, "exit code 127", nil},
		"a getent without ahosts":     {needed, map[string]string{"getent": "exit 1"}, admin.KindUnparsed, "lookup", nil},
		"a getent that finds nothing": {needed, map[string]string{"getent": "exit 2"}, admin.KindUnparsed, "IP address", nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := &containerHere{t: t, path: programs(t, tc.names, tc.scripts)}
			got, err := admin.ResolveNames(t.Context(), c, []string{"gone.fdb.svc", "here.fdb.svc"})
			switch {
			case tc.want != nil && (err != nil || !tc.want(got)):
				t.Errorf("got %+v, %v", got, err)
			case tc.want == nil && (admin.KindOf(err) != tc.kind || !strings.Contains(err.Error(), tc.says)):
				t.Errorf("got %+v, %v, want %s: %s", got, err, tc.kind, tc.says)
			}
		})
	}
}

// A resolver that never answers does not keep the script.
func TestAHostNameResolutionEndsAtItsTimeLimit(t *testing.T) {
	path := programs(t, []string{"sh", "timeout", "sleep"}, map[string]string{"getent": `[ "$2" = a ] && exec sleep 30; exit 0`})
	c := &containerHere{t: t, path: path}
	r, err := c.Run(t.Context(), admin.Command{Argv: []string{"sh", "-c", admin.LookupScript, "sh", "2", "1", "127.0.0.1", "a"}, Limit: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	got, err := admin.ParseLookups(string(r.Stdout), []string{"127.0.0.1", "a"}, 2)
	if n, _ := got.Of("a"); err != nil || n.Unanswered != 2 || n.Slowest < time.Second {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestInvalidHostNamesAreNotResolved(t *testing.T) {
	var many []string
	for i := range 40 {
		many = append(many, fmt.Sprintf("n%d", i))
	}
	for name, names := range map[string][]string{
		"none": nil, "too many": many, "an option": {"-x"}, "a command": {"a;reboot"}, "a substitution": {"$(reboot)"}, "empty": {""},
		"a blank": {"a b"}, "a line": {"a\nb"}, "an underscore": {"a_b"}, "beside a name": {"localhost", "a'b"}, "too long": {strings.Repeat("a", 254)},
	} {
		t.Run(name, func(t *testing.T) {
			c := &containerHere{t: t}
			if _, err := admin.ResolveNames(t.Context(), c, names); admin.KindOf(err) != admin.KindBadInput || c.runs > 0 {
				t.Errorf("%d runs: %v", c.runs, err)
			}
		})
	}
}

func TestNameResolutionOutputIsParsedStrictly(t *testing.T) {
	const (
		control = "lookup 0 5000.10 5000.12 0 127.0.0.1,\n"
		fast    = "lookup 1 5000.10 5000.13 0 10.1.0.9,::ffff:10.1.0.7,10.1.0.9,\n"
		slow    = "lookup 1 5000.10 5005.10 2 \n"
	)
	hosts := []string{"127.0.0.1", "a"}
	got, err := admin.ParseLookups(control+slow+fast+control+"end\n", hosts, 2)
	want := fdb.NameLookups{Overhead: 20 * time.Millisecond, Names: []fdb.NameLookup{{Name: "a", Lookups: 2, Failed: 1, Slowest: 5 * time.Second, Addresses: []netip.Addr{netip.MustParseAddr("10.1.0.7"), netip.MustParseAddr("10.1.0.9")}}}}
	if diff := cmp.Diff(want, got, cmpopts.EquateComparable(netip.Addr{})); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	for name, text := range map[string]string{
		"nothing":              "",
		"no end":               control + fast + control + fast,
		"a cut end":            control + fast + control + fast + "end",
		"another end":          control + fast + control + fast + "else\n",
		"a lookup too few":     control + fast + control + "end\n",
		"a lookup too many":    control + fast + control + fast + fast + "end\n",
		"one name twice":       control + fast + fast + fast + "end\n",
		"a name too many":      control + fast + control + "lookup 2 5000.10 5000.13 0 \nend\n",
		"an earlier end":       control + fast + control + "lookup 1 5000.10 4000.13 0 \nend\n",
		"a day":                control + fast + control + "lookup 1 5000.10 91400.10 0 \nend\n",
		"another exit code":    control + fast + control + "lookup 1 5000.10 5000.13 3 \nend\n",
		"no address":           control + fast + control + "lookup 1 5000.10 5000.13 0 10.1.0,\nend\n",
		"an address not ended": control + fast + control + "lookup 1 5000.10 5000.13 0 10.1.0.9\nend\n",
		"a remark":             "warning\n" + control + fast + control + fast + "end\n",
		"another missing":      "missing ls\n",
		"missing, and more":    "missing getent\n" + control + fast + control + fast + "end\n",
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := admin.ParseLookups(text, hosts, 2); admin.KindOf(err) != admin.KindUnparsed {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}
