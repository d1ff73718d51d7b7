package realdb

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/test/realdb/programs"
)

var (
	binDir = "../../bin"
	// given are the FoundationDB programs, oldest first as FDB_BIN lists them.
	given []programs.Given
	// chosen are the names of the journeys to run.
	chosen []string
	// jobs is how many journeys run at the same time, each in a sandbox of its own.
	jobs int
)

func TestMain(m *testing.M) {
	code, err := runAll(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "test-real:", err)
		code = 1
	}
	os.Exit(code)
}

func runAll(m *testing.M) (code int, err error) {
	if os.Getenv("FDB_BIN") == "" && calibrating() {
		given = modeled // programs of the model, which a sandbox runs without any of its own
	} else if given, err = programs.Parse(os.Getenv("FDB_BIN")); err != nil {
		return 1, err
	}
	if chosen, err = programs.Choose(os.Getenv("RUN"), names()); err != nil {
		return 1, err
	}
	if jobs, err = programs.Jobs(os.Getenv("JOBS")); err != nil {
		return 1, err
	}
	if binDir, err = filepath.Abs(binDir); err != nil {
		return 1, err
	}
	for _, program := range []string{"kubectl-fdb", "fdb-sandbox", "fdb-sandbox-tool", "kubectl"} {
		if _, err := os.Stat(filepath.Join(binDir, program)); err != nil {
			return 1, fmt.Errorf("%w: build it first with `make build build-sandbox`", err)
		}
	}
	code = m.Run()
	if !calibrating() {
		report()
	}
	return code, nil
}
