package fdb

import (
	"strings"
	"testing"
)

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

func TestValuesAreJudgedAsFdbserverReadsThem(t *testing.T) {
	for option, starts := range map[string]bool{
		"memory=8GiB": true, "memory=8192": true, "memory=8000MB": true, "cache-memory=1TiB": true, "storage_memory=2GB": true,
		"memory=8Gb": false, "memory=8Gi": false, "memory=8G": false, "memory=GiB": false, "memory=": false, "memory=much": false,
		"memory=8 GiB": false, "memory=1.5GiB": false, "memory=-1GiB": false,
		"logsize=10MiB": true, "logsize=10000000": false, "maxlogssize=1GB": true, "maxlogssize=1": false,
		"maxlogs=10": true, "maxlogs=ten": false, "seed=0x1F": true, "seed=1F": false,
		"io_trust_seconds=20.5": true, "io_trust_seconds=long": false, "num_testers=2": true, "num_testers=two": false,
		"buggify=on": true, "buggify=true": false, "fault-injection=off": true, "traceclock=now": true, "traceclock=utc": false,
		"network=net2": true, "network=net3": false, "role=fdbd": true, "role=test": false, "rsssize=1": true, "rsssize=1GiB": false,
		"knob_x=anything": true, "trace_format=anything": true, "locality_x=": true,
	} {
		name, value, _ := strings.Cut(option, "=")
		if needs := ServerOptionNeeds(name, value); (needs == "") != starts {
			t.Errorf("%s: starts %t, want %t (%q)", option, needs == "", starts, needs)
		}
	}
}
