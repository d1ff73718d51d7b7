package fdb

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const monitorJSON = `{"version":"7.3.79","runServers":false,"arguments":[` +
	`{"value":"--cluster_file=/var/fdb/data/fdb.cluster"},` +
	`{"type":"Concatenate","values":[{"value":"--public_address=["},{"type":"Environment","source":"FDB_PUBLIC_IP"},` +
	`{"value":"]:"},{"type":"ProcessNumber","multiplier":2,"offset":4499}]},` +
	`{"type":"IPList","source":"IPS","ipFamily":6}]}`

func TestMonitorConfigurationJSONRoundTrip(t *testing.T) {
	m, err := ParseMonitorConfiguration([]byte(monitorJSON))
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(monitorJSON, string(got)); diff != "" {
		t.Error(diff)
	}
	if m.ServersRun() || !(MonitorConfiguration{}).ServersRun() {
		t.Error("runServers false stops servers, absent runs them")
	}
}

func TestMonitorCommandLine(t *testing.T) {
	m, err := ParseMonitorConfiguration([]byte(monitorJSON))
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"FDB_PUBLIC_IP": "10.1.2.3", "IPS": "10.1.2.3, fd00::1"}
	got, err := m.CommandLine("/usr/bin/fdbserver", 2, env)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"/usr/bin/fdbserver", "--cluster_file=/var/fdb/data/fdb.cluster", "--public_address=[10.1.2.3]:4503", "fd00::1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestInvalidMonitorArgumentsAreErrors(t *testing.T) {
	env := map[string]string{"IPS": "10.1.2.3"}
	for name, a := range map[string]Argument{
		"unknown type":              {Type: "Sum"},
		"unknown variable":          {Type: ArgumentEnvironment, Source: "UNSET"},
		"unknown variable inside":   {Type: ArgumentConcatenate, Values: []Argument{{Type: ArgumentEnvironment, Source: "UNSET"}}},
		"no address of the family":  {Type: ArgumentIPList, Source: "IPS", IPFamily: 6},
		"no such family":            {Type: ArgumentIPList, Source: "IPS"},
		"list in unknown variable":  {Type: ArgumentIPList, Source: "UNSET", IPFamily: 4},
		"family of another century": {Type: ArgumentIPList, Source: "IPS", IPFamily: 5},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := a.Generate(1, env); err == nil {
				t.Errorf("got %q, want an error", got)
			}
		})
	}
}

func TestUnknownMonitorFieldsAreRefused(t *testing.T) {
	for _, text := range []string{`{"version":"7.3.79","argument":[]}`, `{"version":1}`, `{} {}`, ``} {
		if got, err := ParseMonitorConfiguration([]byte(text)); err == nil {
			t.Errorf("%s: got %+v, want an error", text, got)
		}
	}
}

func FuzzParseMonitorConfiguration(f *testing.F) {
	f.Add([]byte(monitorJSON))
	f.Add([]byte(`{"version":"7.1.67","arguments":[{"type":"ProcessNumber"}]}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		m, err := ParseMonitorConfiguration(content)
		if err != nil {
			return
		}
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParseMonitorConfiguration(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		first, err1 := m.CommandLine("fdbserver", 1, nil)
		second, err2 := again.CommandLine("fdbserver", 1, nil)
		if !cmp.Equal(first, second) || (err1 == nil) != (err2 == nil) {
			t.Errorf("%s generates %v (%v), then %v (%v)", content, first, err1, second, err2)
		}
	})
}
