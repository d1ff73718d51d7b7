package fdb

import "testing"

func TestOptionsOfFdbserverAreKnownInBothSpellings(t *testing.T) {
	for name, want := range map[string]bool{
		"memory": true, "storage-memory": true, "trace_format": true, "tls_ca-file": true, "knob_x": true, "knob-x": true,
		"locality_data-hall": true, "trusted-subnet-a": true,
		"memroy": false, "knbo_x": false, "knob": false, "Memory": false, "KNOB_x": false, "": false, "memory ": false,
		"no_config_db": false, "version": false, "C": false,
	} {
		if got := IsServerOption(name); got != want {
			t.Errorf("%q: known %t, want %t", name, got, want)
		}
	}
}
