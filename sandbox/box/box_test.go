package box

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestMain lets the test binary serve as the helper program.
func TestMain(m *testing.M) {
	if os.Args[0] == HelperName {
		if err := Main(); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// newBox starts a box whose /usr/bin is the machine's and whose data
// directory appears at /var/fdb/data.
func newBox(t *testing.T, change func(*Spec)) (*Box, string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"root", "run", "data"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	spec := Spec{
		Root: filepath.Join(dir, "root"), RunDir: filepath.Join(dir, "run"), Hostname: "storage-1",
		ProgramsDir: "/usr/bin",
		Mounts:      []Mount{{Source: filepath.Join(dir, "data"), Target: "/var/fdb/data"}},
		Files:       map[string]string{"/var/fdb/version": "7.3.79"},
	}
	if change != nil {
		change(&spec)
	}
	b, err := NewLauncher("/proc/self/exe", os.Stderr).Start(spec)
	if err != nil {
		t.Fatalf("starting a box (are unprivileged user namespaces allowed here?): %v", err)
	}
	t.Cleanup(b.Kill)
	return b, filepath.Join(dir, "data")
}

// output runs a command in the box and returns what it printed and how it ended.
func output(t *testing.T, b *Box, stdin string, argv ...string) (string, Exit) {
	t.Helper()
	in, inWriter := pipe(t)
	out, outWriter := pipe(t)
	p, err := b.Run(Command{Argv: argv, Env: []string{"PATH=/usr/bin:/bin"}, Dir: "/", Stdin: in, Stdout: outWriter, Stderr: outWriter})
	if err != nil {
		t.Fatal(err)
	}
	in.Close()
	outWriter.Close()
	io.WriteString(inWriter, stdin)
	inWriter.Close()
	printed, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	return string(printed), p.Exit()
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

func TestSandboxCommandsRunWithTheFilesOfTheContainer(t *testing.T) {
	b, data := newBox(t, nil)
	if err := os.WriteFile(filepath.Join(data, "fdb.cluster"), []byte("a:b@127.0.1.1:4501"), 0o644); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		script, stdin string
		want          string
		exit          Exit
	}{
		"a volume is at its mount path":            {script: "cat /var/fdb/data/fdb.cluster", want: "a:b@127.0.1.1:4501"},
		"the image's files are there":              {script: "cat /var/fdb/version", want: "7.3.79"},
		"the hostname is the pod's":                {script: "echo $(cat /etc/hostname), too: $(uname -n)", want: "storage-1, too: storage-1\n"},
		"the end of standard input arrives":        {script: "cat", stdin: "hello", want: "hello"},
		"an exit code arrives":                     {script: "exit 7", exit: Exit{Code: 7}},
		"a signal differs from an exit code":       {script: "kill -9 $$", exit: Exit{Code: 137, Signal: syscall.SIGKILL}},
		"the machine's own directories are hidden": {script: "ls /var/fdb /home", want: "/home:\n\n/var/fdb:\ndata\nversion\n"},
		"the machine's programs cannot be changed": {script: "touch /usr/lib/x 2>/dev/null || echo refused", want: "refused\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, exit := output(t, b, test.stdin, "sh", "-c", test.script)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.exit, exit); diff != "" {
				t.Errorf("exit (-want +got):\n%s", diff)
			}
		})
	}
}

// A name that no pod has fails at once, without a question to the machine's resolver: real
// fdbserver processes look coordinators up continuously.
func TestNamesAreResolvedFromTheHostsFileOnly(t *testing.T) {
	b, _ := newBox(t, nil)
	sources, _ := output(t, b, "", "cat", "/etc/nsswitch.conf")
	if !strings.Contains(sources, "\nhosts: files\n") {
		t.Errorf("nsswitch.conf: %q", sources)
	}
	servers, exit := output(t, b, "", "cat", "/etc/resolv.conf")
	if exit.Code != 0 || strings.Contains(servers, "nameserver") {
		t.Errorf("resolv.conf: %q, %+v", servers, exit)
	}
	found, exit := output(t, b, "", "getent", "hosts", "vanished.sample.default.svc.cluster.local")
	if exit.Code == 0 || found != "" {
		t.Errorf("found %q, %+v", found, exit)
	}
}

func TestReadOnlyRootStillHasWritableVolumes(t *testing.T) {
	b, _ := newBox(t, func(s *Spec) { s.ReadOnlyRoot = true })
	got, _ := output(t, b, "", "sh", "-c", "touch /x 2>/dev/null || echo refused; touch /var/fdb/data/x && echo written")
	if diff := cmp.Diff("refused\nwritten\n", got); diff != "" {
		t.Error(diff)
	}
}

func TestUnknownProgramCannotStart(t *testing.T) {
	b, _ := newBox(t, nil)
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	_, err = b.Run(Command{Argv: []string{"crash-loop"}, Env: []string{"PATH=/usr/bin"}, Stdin: null, Stdout: null, Stderr: null})
	var got CannotStartError
	if !errors.As(err, &got) {
		t.Fatalf("got %v, want a CannotStartError", err)
	}
	if diff := cmp.Diff(`exec: "crash-loop": executable file not found in $PATH`, got.Reason); diff != "" {
		t.Error(diff)
	}
}

func TestKillingASandboxContainerEndsItsProcesses(t *testing.T) {
	b, _ := newBox(t, nil)
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	p, err := b.Run(Command{Argv: []string{"sleep", "1000"}, Env: []string{"PATH=/usr/bin"}, Stdin: null, Stdout: null, Stderr: null})
	if err != nil {
		t.Fatal(err)
	}
	b.Kill()
	select {
	case <-p.Ended():
	case <-time.After(10 * time.Minute):
		t.Fatal("the process is still counted as running")
	}
	if got := p.Exit().Signal; got != syscall.SIGKILL {
		t.Errorf("ended by %v, want SIGKILL", got)
	}
}

func TestSignalReachesTheProcess(t *testing.T) {
	b, _ := newBox(t, nil)
	out, outWriter := pipe(t)
	p, err := b.Run(Command{
		Argv: []string{"sh", "-c", `trap 'exit 3' TERM; echo ready; while :; do sleep 0.05; done`}, Env: []string{"PATH=/usr/bin"},
		Stdin: out, Stdout: outWriter, Stderr: outWriter,
	})
	if err != nil {
		t.Fatal(err)
	}
	outWriter.Close()
	if _, err := out.Read(make([]byte, 16)); err != nil {
		t.Fatal(err)
	}
	if err := p.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Exit{Code: 3}, p.Exit()); diff != "" {
		t.Error(diff)
	}
}

func TestSandboxStartErrorsNameTheFailedStep(t *testing.T) {
	dir := t.TempDir()
	_, err := NewLauncher("/proc/self/exe", os.Stderr).Start(Spec{Root: dir, RunDir: dir, ProgramsDir: "/does/not/exist"})
	if err == nil || !strings.Contains(err.Error(), "showing the machine's programs") {
		t.Errorf("got %v, want an error that names the step", err)
	}
}
