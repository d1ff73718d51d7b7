package fdbtools

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/sandbox/fdbtools/wire"
	"github.com/kubectl-fdb/kubectl-fdb/sandbox/node"
)

// runFor runs a program of the backup tools to its end, or until the test is over.
func (c container) runFor(t *testing.T, env map[string]string, argv ...string) (out string, code int) {
	t.Helper()
	conn := c.dial(t)
	t.Cleanup(func() { _ = conn.Close() })
	var o strings.Builder
	code, err := wire.RunOver(conn, wire.Run{Version: "7.3.79", Argv: argv, Env: env}, wire.Streams{In: strings.NewReader(""), Out: &o, Err: &o})
	if err != nil {
		t.Fatal(err)
	}
	return o.String(), code
}

func TestABackupToTheSandboxBlobStoreIsRestorable(t *testing.T) {
	dir := t.TempDir()
	c := newContainer(t, node.Container{Namespace: "ns", Pod: "p"})
	file, credentials := filepath.Join(dir, "fdb.cluster"), filepath.Join(dir, "credentials")
	for name, content := range map[string]string{
		file: "test:one@127.0.1.1:4501", credentials: fmt.Sprintf(`{"accounts":{"%s@store.sandbox":{"secret":"%s"}}}`, StoreKey, StoreSecret),
	} {
		if answer := wireWrite(name, content); answer != "" {
			t.Fatal(answer)
		}
	}
	c.server(t, "fdbserver", "--cluster_file="+file, "--public_address=127.0.1.1:4501", "--class=storage", "--datadir="+dir+"/1")
	for len(c.bridge.Servers()) == 0 {
		time.Sleep(10 * time.Millisecond)
	}
	env := map[string]string{"FDB_CLUSTER_FILE": file, "FDB_BLOB_CREDENTIALS": credentials}
	if out, code := c.runFor(t, env, "fdbcli", "-C", file, "--exec", "configure new single ssd; writemode on; set greeting hello"); code != 0 {
		t.Fatalf("exit %d, printed %q", code, out)
	}
	c.agent(t, env)
	url := "blobstore://" + StoreKey + "@" + StoreHost + "/nightly?bucket=" + StoreBucket + "&region=sandbox"
	if out, code := c.runFor(t, env, "fdbbackup", "start", "-d", url, "-w"); code != 0 {
		t.Fatalf("exit %d, printed %q", code, out)
	}
	out, code := c.runFor(t, env, "fdbbackup", "describe", "-d", url)
	if code != 0 || !strings.Contains(out, "Restorable: true") {
		t.Errorf("exit %d, printed %q", code, out)
	}
}

// agent runs a backup_agent until the test is over.
func (c container) agent(t *testing.T, env map[string]string) {
	t.Helper()
	conn := c.dial(t)
	ended := make(chan struct{})
	in, hold := io.Pipe()
	go func() {
		defer close(ended)
		_, _ = wire.RunOver(conn, wire.Run{Version: "7.3.79", Argv: []string{"backup_agent"}, Env: env}, wire.Streams{In: in, Out: io.Discard, Err: io.Discard})
	}()
	t.Cleanup(func() { _, _ = conn.Close(), hold.Close(); <-ended })
}
