package datadir

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAddressesAndDataDirectoriesAreParsedFromCommandLines(t *testing.T) {
	tests := map[string]struct {
		arguments []string
		want      Server
	}{
		"as one argument":       {arguments: []string{"fdbserver", "--datadir=/var/fdb/data/1", "--public_address=10.0.0.1:4501:tls,10.0.0.1:4500"}, want: Server{PID: 7, Addresses: []string{"10.0.0.1:4501:tls", "10.0.0.1:4500"}, Directory: "/var/fdb/data/1"}},
		"as two, with dashes":   {arguments: []string{"fdbserver", "--datadir", "/var/fdb/data", "--public-address", "10.0.0.1:4501"}, want: Server{PID: 7, Addresses: []string{"10.0.0.1:4501"}, Directory: "/var/fdb/data"}},
		"with short flags":      {arguments: []string{"fdbserver", "-d", "/var/fdb/data", "-p", "10.0.0.1:4501"}, want: Server{PID: 7, Addresses: []string{"10.0.0.1:4501"}, Directory: "/var/fdb/data"}},
		"without what they say": {arguments: []string{"fdbserver", "--datadir"}, want: Server{PID: 7, Addresses: []string{}}},
		"with localities": {
			arguments: []string{"fdbserver", "--class", "log", "--locality_zoneid=z1", "--locality-data_hall", "h1", "-p", "10.0.0.1:4501"},
			want:      Server{PID: 7, Addresses: []string{"10.0.0.1:4501"}, Class: "log", Localities: map[string]string{"zoneid": "z1", "data_hall": "h1"}},
		},
		"an unknown address": {arguments: []string{"fdbserver", "-p", "4501"}, want: Server{PID: 7, Addresses: []string{}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			output := "process 7\n"
			for _, argument := range tc.arguments {
				output += "argument 7 " + argument + "\n"
			}
			f, err := Parse(output + "end\n")
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff([]Server{tc.want}, f.Servers); d != "" {
				t.Error(d)
			}
		})
	}
}
