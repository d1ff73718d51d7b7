package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"kubectl-fdb": main})
}

// The scripts run the whole program and need no cluster.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script", Setup: func(env *testscript.Env) error {
		env.Setenv("KUBECONFIG", env.WorkDir+"/none")
		return nil
	}})
}
